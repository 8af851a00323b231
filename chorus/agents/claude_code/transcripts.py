"""Transcripts: the files of JSON lines to which the client appends a session's events.

`TranscriptTail` returns each complete line once, from a position that can be kept across a restart. The lines
are not in order of time. A file that shrank or was replaced is read again from its start.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

# The size of one read. A longer line is joined from several.
CHUNK = 2**20
# No line of a transcript is this long. A file without newlines must not fill the memory.
MAX_LINE_SIZE = 64 * 2**20


@dataclass(slots=True)
class TranscriptTail:
    """Follows one file. `position` is the end of the last line returned; `problem` why none can be read."""

    path: Path
    position: int = 0
    problem: str | None = None
    _identity: tuple[int, int] | None = None

    def read_lines(self) -> Iterator[bytes]:
        """Return each line that was completed since the last call."""
        self.problem = None
        try:
            yield from self._read()
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError) as error:
            self.problem = f"the transcript {self.path} cannot be read: {error}"

    def _read(self) -> Iterator[bytes]:
        with open(self.path, "rb", buffering=0, opener=_open_without_waiting) as file:
            self._rewind_if_replaced(os.fstat(file.fileno()))
            file.seek(self.position)
            rest = b""
            while chunk := file.read(CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self.position += len(line) + 1
                    if line.strip():
                        yield line
                if len(rest) > MAX_LINE_SIZE:
                    self.position += len(rest)
                    rest = b""

    def _rewind_if_replaced(self, status: os.stat_result) -> None:
        identity = (status.st_dev, status.st_ino)
        if status.st_size < self.position or (self._identity is not None and self._identity != identity):
            self.position = 0
        self._identity = identity


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file, but do not wait for the writer if it is a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def began_after(path: Path, moment: float) -> bool:
    """Whether nothing in the transcript is older than the moment. True if there is no transcript yet."""
    try:
        with path.open("rb") as file:
            lines = file.read(CHUNK).splitlines()
    except OSError:
        return True
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, OverflowError):
            return datetime.fromisoformat(json.loads(line)["timestamp"]).timestamp() >= moment
    return not lines


def transcript_of(projects: Path, cwd: str, session: str) -> Path:
    """The path of the transcript of a session that was started in `cwd`."""
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in cwd)
    return projects / slug / f"{session}.jsonl"


def subagent_transcripts(transcript: Path) -> list[Path]:
    """The transcripts of the sub-agents of the session with this transcript."""
    try:
        directory = transcript.with_suffix("") / "subagents"
        return sorted(p for p in directory.iterdir() if p.suffix == ".jsonl")
    except (OSError, ValueError):
        return []
