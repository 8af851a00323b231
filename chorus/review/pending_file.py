"""The file that describes an operation under way, so that the next process can finish or undo it."""

import json
import os
from pathlib import Path
from typing import Any


class PendingFile:
    """JSON on disk, replaced atomically."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, value: object) -> None:
        temporary = self._path.with_suffix(".tmp")
        with temporary.open("w", encoding="ascii") as file:
            json.dump(value, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)

    def read(self) -> Any | None:  # noqa: ANN401  any JSON; the owner of the file parses it
        """What is pending; None if nothing is. Raises ValueError if the file is damaged."""
        try:
            return json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return None

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)
