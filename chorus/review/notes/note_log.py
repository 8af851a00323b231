"""The notes of one work tree: a private file next to the marks, one JSON object per line.

Lines are only appended: a note as it was written, then each change of its state. Lines that are damaged, or
that a newer version wrote, are skipped.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from chorus.model.api.json_api import NoteState
from chorus.model.json_lines import parse_json_lines
from chorus.store.lock_file import translate_write_errors
from chorus.system.files.private_files import append_line, make_private

FILE_NAME = "review-notes.jsonl"
FORMAT = 1


class _Line(TypedDict):
    v: NotRequired[int]
    n: int


class _NoteLine(_Line):
    kind: Literal["note"]
    action: str
    path: str | None
    line: int | None
    span: tuple[int, int]
    text: str
    written: list[str]
    time: str


class _SentLine(_Line):
    kind: Literal["sent"]
    time: str
    after: int
    lines: list[str]


class _StateLine(_Line):
    kind: Literal["addressed", "dropped"]


_AnyLine: TypeAlias = Annotated[_NoteLine | _SentLine | _StateLine, Field(discriminator="kind")]
_LINE: TypeAdapter[_NoteLine | _SentLine | _StateLine] = TypeAdapter(_AnyLine)


@dataclass(slots=True)
class Note:
    """A note as it was written, and its state.

    `span`: the note's lines in the file as the action left it, counted from 0, the end excluded. `written`,
    `sent_lines`: these lines on disk when the note was written, and when it was sent. `sent_after`: the
    number of the last action before the note was sent.
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
        notes: dict[int, Note] = {}
        for value in self._values():
            with suppress(ValidationError, KeyError):  # from another version
                _apply(_LINE.validate_python(value), notes)
        return notes

    def last_number(self) -> int:
        """Return the highest number used so far, even if that note was dropped; 0 if there is none."""
        return max((value["n"] for value in self._values() if isinstance(value.get("n"), int)), default=0)

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

    def _values(self) -> Iterator[dict[str, Any]]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        yield from (value for value in parse_json_lines(data.splitlines()) if value.get("v") == FORMAT)

    def _append(self, line: _NoteLine | _SentLine | _StateLine) -> None:
        data = json.dumps({"v": FORMAT, **line}).encode() + b"\n"
        with translate_write_errors(str(self._path)):
            make_private(self._path.parent)
            append_line(self._path, data)


def _apply(line: _NoteLine | _SentLine | _StateLine, notes: dict[int, Note]) -> None:
    n = line["n"]
    if line["kind"] == "note":
        notes[n] = Note(
            n, line["action"], line["path"], line["line"], line["span"], line["text"], line["written"],
            line["time"],
        )  # fmt: skip
    elif line["kind"] == "sent":
        note = notes[n]
        note.state, note.sent, note.sent_after = "sent", line["time"], line["after"]
        note.sent_lines = line["lines"]
    elif line["kind"] == "addressed":
        notes[n].state = "addressed"
    else:
        notes.pop(n, None)
