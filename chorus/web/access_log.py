"""The web page's log: who was let in or refused, and what was answered, kept and reverted there."""

import json
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chorus.system.files.private_files import append_line, make_private
from chorus.wire.registry import state_directory

log = logging.getLogger("chorus.web")

# Two files of this size last for years.
MAX_BYTES = 2**20


def access_log_path() -> Path:
    return state_directory() / "inbox-web.jsonl"


@dataclass(frozen=True, slots=True)
class AccessLog:
    path: Path

    def write(self, what: str, *, browser: int | None, address: str, **details: object) -> None:
        """Append one line. A write error is logged, not raised."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {"time": time, "what": what, "browser": browser, "address": address, **details}
        try:
            make_private(self.path.parent)
            append_line(self.path, json.dumps(entry).encode() + b"\n")
            if self.path.stat().st_size > MAX_BYTES:
                self.path.replace(self.path.with_suffix(".old.jsonl"))
        except OSError as error:
            log.warning("cannot write %s: %s", self.path, error)
