"""The mark log: events without a file change, in a file next to the timeline.

One JSON object per line. Lines are only appended, each completely or not at all; a line truncated by a crash
is skipped.
"""

import json
import os
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import NamedTuple, TypedDict

from chorus.history.marks.landings import Landing
from chorus.model.action import UndoneBy
from chorus.model.ids import AgentId, Oid, SessionId, TurnId
from chorus.model.json_lines import parse_json_lines
from chorus.store.lock_file import translate_write_errors, write_all
from chorus.system.files.private_files import make_private

FILE_NAME = "notes.jsonl"  # not the user's notes: those are in review-notes.jsonl
FORMAT = 1
# How the line of a call begins. In a long history most lines are calls, and few of them are looked at.
CALL_START = b'{"v":1,"kind":"call",'


class Mark(TypedDict, total=False):
    """One line of the mark log. The `kind` determines which of the other keys it has."""

    v: int
    kind: str  # call, kept, open, landed, undone, moved, status, said, head, dropped
    seconds: int
    id: str  # the call or action it is about
    ids: list[str]  # the actions it is about: kept, open, landed, undone
    by: UndoneBy  # undone
    parts: list[tuple[str, str, int, int]]  # undone: action, path, lines gone, lines changed
    commits: list[str]  # landed: the commits that hold them
    commit: str  # moved: the new lane commit; head: the record after which HEAD moved
    status: str  # call, status
    summary: str  # call, said
    head: str
    lane: str  # dropped
    tip: str  # dropped
    n: int
    within: str | None
    tool: str
    session: SessionId | None
    turn: TurnId | None
    agent: AgentId | None
    paths: list[str]
    command: str  # call: what a shell was given
    message: str | None
    source: str | None
    time: str | None
    skipped: list[str]
    reason: str | None


class UndonePart(NamedTuple):
    """How many of the lines that an action changed in one file are gone."""

    gone: int
    changed: int
    by: UndoneBy


class ActionMarks:
    """What the marks say about actions."""

    __slots__ = ("calls", "kept", "landings", "moved", "off_branches", "statuses", "summaries", "undone")

    def __init__(self, lines: Iterable[Mark] = ()) -> None:
        self.kept: set[str] = set()
        self.landings: dict[str, Landing] = {}
        # Landed actions whose commit is on no branch any more. The owner of this object sets it.
        self.off_branches: Set[str] = frozenset()
        self.undone: dict[str, dict[str, UndonePart]] = {}  # by action and path
        self.moved: dict[str, Oid] = {}  # lane commits that were rewritten, by action
        self.statuses: dict[str, str] = {}
        # The agent's own text, if it arrived after the action was recorded.
        self.summaries: dict[str, str] = {}
        self.calls: list[Mark] = []
        self.add(lines)

    def landed_in(self, name: str) -> tuple[Oid, ...]:
        """The commits in which an action landed; empty if no branch has them any more."""
        landing = self.landings.get(name)
        return landing.commits if landing and name not in self.off_branches else ()

    def add(self, lines: Iterable[Mark]) -> None:
        for line in lines:
            ids = line.get("ids", [])
            match line.get("kind"):
                case "call":
                    self.calls.append(line)
                case "kept":
                    self.kept.update(ids)
                case "open":
                    self.kept.difference_update(ids)
                case "landed":
                    for name in ids:
                        self._add_landing(name, line)
                        self.undone.pop(name, None)
                case "undone":
                    self._add_undone(line)
                case "moved":
                    self.moved[line["id"]] = Oid(line["commit"])
                case "status":
                    self.statuses[line["id"]] = line["status"]
                case "said":
                    self.summaries[line["id"]] = line["summary"]

    def _add_landing(self, name: str, line: Mark) -> None:
        known = self.landings.get(name)
        commits = (*(known.commits if known else ()), *map(Oid, line["commits"]))
        seconds = known.seconds if known else line.get("seconds", 0)
        self.landings[name] = Landing(tuple(dict.fromkeys(commits)), seconds)

    def _add_undone(self, line: Mark) -> None:
        for name, path, gone, changed in line["parts"]:
            paths = self.undone.setdefault(name, {})
            if gone:
                paths[path] = UndonePart(gone, changed, line["by"])
            else:
                paths.pop(path, None)


class MarkLog:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_bytes = 0
        self.lines: list[Mark] = []

    def refresh(self) -> list[Mark]:
        """Read and return what was added since the last call."""
        try:
            if os.stat(self._path).st_size == self._read_bytes:  # noqa: PTH116  hot path
                return []
            with self._path.open("rb") as file:
                file.seek(self._read_bytes)
                data = file.read()
        except FileNotFoundError:
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        added = list(parse_marks(whole))
        self.lines += added
        return added

    def append(self, mark: Mark) -> Mark:
        """Add one line. The caller holds the recording lock and has refreshed."""
        line: Mark = {"v": FORMAT, **mark}
        data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        with translate_write_errors(os.fspath(self._path)):
            make_private(self._path.parent)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                # Remove what a crash left after the last whole line.
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


def read_marks(path: Path) -> tuple[list[bytes], list[Mark]]:
    """Return the unparsed lines of calls, and all other marks, parsed. Incomplete lines are skipped."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return [], []
    others = b"\n".join(line for line in lines if not line.startswith(CALL_START))
    return [line for line in lines if line.startswith(CALL_START)], list(parse_marks(others))


def parse_marks(data: bytes) -> Iterator[Mark]:
    for value in parse_json_lines(data.splitlines()):
        if value.get("v") == FORMAT:
            yield value  # type: ignore[misc]  # written by us
