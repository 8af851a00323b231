"""What is to be remembered though no file changed: one JSON object a line, beside the timeline.

Receives and gives plain values. Holds calls that changed nothing (no-op, failed, denied, contained in
another), marks that people set (kept, landed), links between sessions, moves of HEAD. Lines are only
added, each whole or not at all; a line that a crash cut short is passed over. Never rewrites a line.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chorus.store.lock_file import translate_write_errors, write_all

FORMAT = 1
# How the line of a call begins. In a long history most lines are calls, and few of them are looked at.
CALL = b'{"v":1,"kind":"call",'


class MarkLog:
    def __init__(self, place: Path) -> None:
        self._place = place
        self._read_bytes = 0
        self.lines: list[dict[str, Any]] = []

    def refresh(self) -> list[dict[str, Any]]:
        """Read what was added since the last look, and give it."""
        try:
            if os.stat(self._place).st_size == self._read_bytes:  # noqa: PTH116  hot path
                return []
            with self._place.open("rb") as file:
                file.seek(self._read_bytes)
                data = file.read()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        added = list(parse_lines(whole))
        self.lines += added
        return added

    def append(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Add one line. The caller holds the recording lock and has refreshed."""
        line = {"v": FORMAT, **values}
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with translate_write_errors(os.fspath(self._place)):
            self._place.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._place, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                # What a crash left after the last whole line goes.
                os.ftruncate(descriptor, self._read_bytes)
                os.lseek(descriptor, self._read_bytes, os.SEEK_SET)
                try:
                    write_all(descriptor, data)
                except OSError:
                    os.ftruncate(descriptor, self._read_bytes)
                    raise
            finally:
                os.close(descriptor)
        self._read_bytes += len(data)
        self.lines.append(line)
        return line


def read_apart(place: Path) -> tuple[list[bytes], list[dict[str, Any]]]:
    """The lines of calls as they stand, and all others, parsed. What is not a whole line is passed over."""
    try:
        lines = place.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return [], []
    others = b"\n".join(line for line in lines if not line.startswith(CALL))
    return [line for line in lines if line.startswith(CALL)], list(parse_lines(others))


def parse_lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and value.get("v") == FORMAT:
            yield value
