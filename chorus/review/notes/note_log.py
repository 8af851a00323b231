"""The notes of one work tree: a private file beside the marks, one JSON object a line.

Lines are only appended: a note as it was written, then each change of its state (sent, addressed, dropped). A
line that a crash truncated, or that a newer version wrote, is skipped.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorus.model.api.json_api import NoteState
from chorus.model.json_lines import parse_json_lines
from chorus.store.lock_file import translate_write_errors
from chorus.system.files.private_files import append_line, make_private

FILE_NAME = "review-notes.jsonl"
FORMAT = 1


@dataclass(slots=True)
class Note:
    """A note as it was written, and what happened to it.

    `span`: its lines in the file as the action left it, counted from 0, the end excluded. `written`: what
    those lines were on disk when it was written. `sent_lines`: the same when it was sent, and `sent_after`
    the last action before that.
    """

    n: int
    action: str  # the tool_use_id
    path: str | None
    line: int | None  # as the user named it, counted from 1; None: the whole action
    span: tuple[int, int]
    text: str
    written: list[str]
    created: str
    state: NoteState = "draft"
    sent: str | None = None
    sent_after: int = 0
    sent_lines: list[str] | None = None


class NoteLog:
    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME

    def read(self) -> dict[int, Note]:
        """Read the notes that were not dropped, by number."""
        notes: dict[int, Note] = {}
        for line in self._lines():
            try:
                _apply(line, notes)
            except (KeyError, TypeError, ValueError):
                continue  # of another version
        return notes

    def last_number(self) -> int:
        """The highest number used so far: the number of a dropped note is not used again."""
        return max((line["n"] for line in self._lines() if isinstance(line.get("n"), int)), default=0)

    def add(self, note: Note) -> None:
        self._append({
            "kind": "note", "n": note.n, "action": note.action, "path": note.path, "line": note.line,
            "span": note.span, "text": note.text, "written": note.written, "time": note.created,
        })  # fmt: skip

    def mark_sent(self, n: int, *, time: str, after: int, lines: Iterable[str]) -> None:
        self._append({"kind": "sent", "n": n, "time": time, "after": after, "lines": list(lines)})

    def mark_addressed(self, n: int) -> None:
        self._append({"kind": "addressed", "n": n})

    def drop(self, n: int) -> None:
        self._append({"kind": "dropped", "n": n})

    def _lines(self) -> Iterator[dict[str, Any]]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        yield from (line for line in parse_json_lines(data.splitlines()) if line.get("v") == FORMAT)

    def _append(self, line: dict[str, Any]) -> None:
        data = json.dumps({"v": FORMAT, **line}).encode() + b"\n"
        with translate_write_errors(str(self._path)):
            make_private(self._path.parent)
            append_line(self._path, data)


def _apply(line: dict[str, Any], notes: dict[int, Note]) -> None:
    n = line["n"]
    match line.get("kind"):
        case "note":
            first, last = line["span"]
            notes[n] = Note(
                int(n), str(line["action"]), line["path"], line["line"], (int(first), int(last)),
                str(line["text"]), list(line["written"]), str(line["time"]),
            )  # fmt: skip
        case "sent":
            note = notes[n]
            note.state, note.sent, note.sent_after = "sent", str(line["time"]), int(line["after"])
            note.sent_lines = list(line["lines"])
        case "addressed":
            notes[n].state = "addressed"
        case "dropped":
            notes.pop(n, None)
