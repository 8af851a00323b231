"""The audit log: who answered which prompt, when, and with which keys. JSON lines, append-only."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from chorus.model.api.json_api import AuditEntryJson, PromptJson
from chorus.model.json_lines import parse_json_lines
from chorus.system.files.private_files import append_line
from chorus.watcher.sources.pipeline import now
from chorus.wire.home import Home

log = logging.getLogger("chorus.watcher")

# Two files of this size last for months and never fill a disk.
MAX_BYTES = 4 * 2**20
# A prompt's body may hold a whole file.
MAX_BODY_LENGTH = 20_000


def audit_path(home: Home) -> Path:
    return home.root / "prompts.jsonl"


@dataclass(frozen=True, slots=True)
class AuditLog:
    path: Path
    max_bytes: int = MAX_BYTES

    def write(
        self,
        prompt: PromptJson,
        answer: str,
        *,
        by: str,
        how: str,
        keys: list[str],
        screen: str | None = None,
        refused: str | None = None,
    ) -> None:
        """Append one answer, sent or refused. A write error is logged, not raised."""
        about = {name: value for name, value in prompt.items() if name != "input"}
        about["body"] = prompt.get("body", "")[:MAX_BODY_LENGTH]
        entry = {"time": now(), "prompt": about, "answer": answer, "by": by, "how": how, "keys": keys}
        line = json.dumps({**entry, "screen": screen, "refused": refused}).encode() + b"\n"
        try:
            self._append(line)
        except OSError as error:
            log.warning("cannot write the audit log: %s; the entry was: %s", error, line[:2000])

    def read(self) -> list[AuditEntryJson]:
        """Return the entries, oldest first. Incomplete lines are left out."""
        return list(self._lines())

    def _append(self, line: bytes) -> None:
        append_line(self.path, line)
        if self.path.stat().st_size > self.max_bytes:
            self.path.replace(self.path.with_suffix(".old.jsonl"))

    def _lines(self) -> Iterator[AuditEntryJson]:
        for file in (self.path.with_suffix(".old.jsonl"), self.path):
            for entry in parse_json_lines(file.read_bytes().splitlines() if file.exists() else []):
                if "prompt" in entry:
                    yield cast("AuditEntryJson", entry)
