"""Who or what answered which prompt, when, with which keys: one JSON object a line, only ever added to."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorus.agent.intake import now

# Two files of this size: enough for months, never a full disk.
MOST_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Audit:
    path: Path

    def write(self, entry: dict[str, Any]) -> None:
        line = json.dumps({"time": now(), **entry}).encode() + b"\n"
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(line)
        if self.path.stat().st_size > MOST_BYTES:
            self.path.replace(self.path.with_suffix(".old.jsonl"))

    def read(self) -> list[dict[str, Any]]:
        """Every entry, oldest first."""
        entries = []
        for place in (self.path.with_suffix(".old.jsonl"), self.path):
            if place.exists():
                entries += [
                    json.loads(line) for line in place.read_bytes().splitlines() if line.endswith(b"}")
                ]
        return entries
