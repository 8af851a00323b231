"""A file that describes an operation in progress, so that the next process can finish or undo it."""

import json
from pathlib import Path
from typing import Any

from chorus.system.files.atomic_file import replace_file


class PendingFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, value: object) -> None:
        replace_file(self._path, json.dumps(value).encode(), mode=0o600, durable=True)

    def read(self) -> Any | None:  # noqa: ANN401  any JSON; the owner of the file parses it
        """Read the pending operation; None if there is none. Raises ValueError if the file is damaged."""
        try:
            return json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return None

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)
