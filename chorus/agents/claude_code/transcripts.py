"""Transcripts: the files of JSON lines to which the client appends a session's events.

The lines are not always in order of time.
"""

import json
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

# One call reads at most this much: a few milliseconds of work. The watcher answers requests between two
# calls.
MAX_READ_BYTES = 2**20
MAX_READ_LINES = 500
# No line of a transcript is this long. A file without newlines must not fill the memory.
MAX_LINE_BYTES = 32 * 2**20
# No session writes this much. A device or a sparse file would be read for hours.
MAX_UNREAD_BYTES = 2**30
# The directory of a session's sub-agents, inside a directory named after the session.
SUBAGENTS = "subagents"


@dataclass(slots=True)
class TranscriptTail:
    """Follows one transcript, as `TranscriptReader` in `chorus.agents.interface` describes.

    A file that shrank or was replaced is read again from its start.
    """

    path: Path
    position: int = 0
    problem: str | None = None
    has_more: bool = False
    _identity: tuple[int, int] | None = None
    _unfinished: list[bytes] = field(default_factory=list)  # the parts read so far of the next line
    _unfinished_bytes: int = 0

    def read_lines(self) -> Iterator[bytes]:
        self.problem = None
        self.has_more = False
        try:
            yield from self._read()
        except (FileNotFoundError, NotADirectoryError):
            return
        except (OSError, ValueError) as error:
            self.problem = f"the transcript {self.path} cannot be read: {error}"

    def _read(self) -> Iterator[bytes]:
        known = self.path.stat()
        if not stat.S_ISREG(known.st_mode):  # checked first, because opening a device may have an effect
            raise ValueError("it is not a file")
        if self._has_all_of(known):
            return
        with open(self.path, "rb", buffering=0, opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            self._rewind_if_replaced(status)
            start = self.position + self._unfinished_bytes
            if status.st_size - start > MAX_UNREAD_BYTES:
                raise ValueError(
                    f"{status.st_size - start:,} bytes are unread; the limit is {MAX_UNREAD_BYTES:,}"
                )
            file.seek(start)
            chunk = file.read(min(MAX_READ_BYTES, status.st_size - start + 1))
        *lines, rest = chunk.split(b"\n", MAX_READ_LINES)
        is_cut = b"\n" in rest  # the rest is read again
        self.has_more = is_cut or len(chunk) == MAX_READ_BYTES
        if lines:
            lines[0] = b"".join((*self._unfinished, lines[0]))
            self._forget_unfinished()
        for line in lines:
            self.position += len(line) + 1
            if line.strip():
                yield line
        if rest and not is_cut:
            self._unfinished.append(rest)
            self._unfinished_bytes += len(rest)
        if self._unfinished_bytes > MAX_LINE_BYTES:
            self.position += self._unfinished_bytes
            self._forget_unfinished()

    def _has_all_of(self, status: os.stat_result) -> bool:
        is_same = self._identity == (status.st_dev, status.st_ino)
        return is_same and status.st_size == self.position + self._unfinished_bytes

    def _rewind_if_replaced(self, status: os.stat_result) -> None:
        identity = (status.st_dev, status.st_ino)
        if status.st_size < self.position or (self._identity is not None and self._identity != identity):
            self.position = 0
            self._forget_unfinished()
        elif status.st_size < self.position + self._unfinished_bytes:
            self._forget_unfinished()
        self._identity = identity

    def _forget_unfinished(self) -> None:
        self._unfinished = []
        self._unfinished_bytes = 0


def _open_without_waiting(path: str, flags: int) -> int:
    """Open a file without blocking, even if it is a pipe that has no writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def began_after(path: Path, moment: float) -> bool:
    try:
        if not path.is_file():
            return True
        with open(path, "rb", opener=_open_without_waiting) as file:
            lines = file.read(MAX_READ_BYTES).splitlines()
    except OSError:
        return True
    for line in lines:
        with suppress(ValueError, TypeError, KeyError, OverflowError):
            return datetime.fromisoformat(json.loads(line)["timestamp"]).timestamp() >= moment
    return not lines


def transcript_of(projects: Path, cwd: str, session: str) -> Path:
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in cwd)
    return projects / slug / f"{session}.jsonl"


def subagent_transcripts(transcript: Path) -> list[Path]:
    directory = f"{transcript.parent}/{transcript.stem}/{SUBAGENTS}"
    try:
        names = os.listdir(directory)  # noqa: PTH208  often asked for, seldom there
    except (OSError, ValueError):
        return []
    return [Path(directory, name) for name in sorted(names) if name.endswith(".jsonl")]


def transcript_directories(transcript: Path) -> list[Path]:
    return [transcript.parent, transcript.parent / transcript.stem / SUBAGENTS]
