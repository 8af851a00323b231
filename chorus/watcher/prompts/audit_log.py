"""Who or what answered which prompt, when, with which keys: one JSON object a line, only ever added to."""

import json
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorus.watcher.sources.intake import now
from chorus.wire.home import Home

log = logging.getLogger("chorus.watcher")

# Two files of this size: enough for months, never a full disk.
MOST_BYTES = 4 * 2**20
# Of what a prompt is about; a whole file may be in it.
LONGEST_BODY = 20_000


def audit_path(home: Home) -> Path:
    return home.root / "prompts.jsonl"


@dataclass(frozen=True, slots=True)
class Audit:
    path: Path
    most_bytes: int = MOST_BYTES

    def write(
        self,
        prompt: dict[str, Any],
        answer: str,
        *,
        by: str,
        how: str,
        keys: list[str],
        screen: str | None = None,
        refused: str | None = None,
    ) -> None:
        """Add one answer, given or refused. A disk that takes no more is a line in the log, no failure."""
        about = {name: value for name, value in prompt.items() if name != "input"}
        about["body"] = about["body"][:LONGEST_BODY]
        entry = {"time": now(), "prompt": about, "answer": answer, "by": by, "how": how, "keys": keys}
        line = json.dumps({**entry, "screen": screen, "refused": refused}).encode() + b"\n"
        try:
            self._append(line)
        except OSError as error:
            log.warning("the audit cannot be written: %s; it would say: %s", error, line[:2000])

    def read(self) -> list[dict[str, Any]]:
        """Every entry, oldest first. A line that was cut off is left out."""
        return list(self._lines())

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "r+b") as file:
            # After a line that was cut off, a new one begins.
            if file.seek(0, os.SEEK_END) and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n":
                line = b"\n" + line
            file.write(line)
        if self.path.stat().st_size > self.most_bytes:
            self.path.replace(self.path.with_suffix(".old.jsonl"))

    def _lines(self) -> Iterator[dict[str, Any]]:
        for place in (self.path.with_suffix(".old.jsonl"), self.path):
            for line in place.read_bytes().splitlines() if place.exists() else []:
                with suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict) and "prompt" in entry:
                        yield entry
