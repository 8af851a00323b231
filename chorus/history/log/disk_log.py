"""The log read from its newest end, as far as somebody asks: for a process that has to answer once.

Receives a directory inside a work tree. Gives the same entries as the recorder, newest first, at the cost of
those that are taken: what became of an action, only newer records and the notes say. Never writes.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any, Self

from chorus.history.log.entry import (
    ActionMarks,
    FindAction,
    LogEntry,
    entry_of_call,
    entry_of_record,
    fold_marks,
)
from chorus.history.log.filter import LogFilter, list_log
from chorus.history.log.json_views import HEADS, LaneRow, changes_below, lanes_json, show_json
from chorus.history.log.lookup import find_entry
from chorus.history.mark_log import parse_lines, read_apart
from chorus.history.records import RecordKind
from chorus.history.timeline_log import PREFIX, LogScanner, TimelineCommit, TimelineUnreadable
from chorus.model.commit_message import ACTION, CONTAINED, NUMBER, render_trailer
from chorus.model.ids import LaneName, Oid, RepoPath
from chorus.store.git_paths import GitPaths, read_git_paths
from chorus.store.git_process import Git

OID = re.compile(r"[0-9a-f]{40}")


class DiskLog:
    def __init__(self, places: GitPaths) -> None:
        self._git = Git(Path(places.work_tree))
        self._own_dir = f"{places.git_dir}/chorus"
        # Before the chain: what a note names is on the chain by the time it is written.
        calls, others = read_apart(Path(self._own_dir) / "notes.jsonl")
        marks = fold_marks(ActionMarks(), others)
        if marks.calls:
            raise TimelineUnreadable("a call is noted in a form of its own")
        self.scanner = LogScanner(self._git, PREFIX + places.name)
        self._calls, self._marks = calls, marks
        self._seen: list[LogEntry] = []
        self._entries = newest_entries(
            self._records(), newest_calls(calls), marks, self.scanner.reverted, self._find_action
        )

    @classmethod
    def open(cls, path: Path) -> Self:
        return cls(read_git_paths(Git(path)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.scanner.close()

    def entries(self) -> Iterator[LogEntry]:
        """Newest first: what was taken before, then what is read now."""
        yield from self._seen
        for entry in self._entries:
            self._seen.append(entry)
            yield entry

    def log(self, wanted: LogFilter, locate: Callable[[str], RepoPath | None]) -> list[dict[str, Any]]:
        """The entries that match, oldest first."""
        return list_log(self.entries(), wanted, locate, partial(changes_below, self._git))

    def lanes(self) -> list[dict[str, Any]]:
        """Every lane whose branch is there, oldest first. Calls that changed nothing are on none."""
        entries: list[LogEntry] = []
        rows: dict[LaneName, LaneRow] = {}
        for recorded in self.scanner.on_lanes():
            entries.append(entry_of_record(recorded, self._marks, self.scanner.reverted))
            if lane_commit := recorded.record.lane_commit:
                # What the oldest record says of a lane counts, and where that stands.
                rows.pop(lane_commit.lane, None)
                rows[lane_commit.lane] = LaneRow(lane_commit.lane, lane_commit.base, recorded.record.session)
        listed = self._git.text("for-each-ref", "--format=%(objectname) %(refname)", HEADS).splitlines()
        tips = {name: Oid(oid) for oid, name in (line.split(" ", 1) for line in listed)}
        return lanes_json(entries, reversed(rows.values()), tips.get)

    def show(self, name: str) -> dict[str, Any]:
        """The action with that number, id or lane commit, or the outside change with that timeline commit."""
        entry = self._find_call(name) or self._find_record(name)
        # A lane commit may be abbreviated: whether it is one alone, only the whole log can say.
        entry = entry or find_entry(list(self.entries())[::-1], name)
        recorded = self.scanner.find(entry.timeline) if entry.timeline else None
        if recorded is not None and not recorded.record.listed:
            raise TimelineUnreadable(f"{recorded.oid} lists none of its files")
        edits = recorded.record.edits if recorded else ()
        return show_json(self._git, self._own_dir, entry, edits)

    def find_action_entry(self, action: str) -> LogEntry | None:
        """The entry of the call with that id."""
        found = self.scanner.find(render_trailer(ACTION, action))
        own = entry_of_record(found, self._marks, self.scanner.reverted) if found else None
        return own or self._find_call(action)

    def _records(self) -> Iterator[TimelineCommit]:
        place = 0
        while recorded := self.scanner.record(place):
            yield recorded
            place += 1

    def _find_call(self, name: str) -> LogEntry | None:
        said = name.encode("utf-8", "surrogateescape")
        for line in self._calls:
            if said in line:
                for call in parse_lines(line):
                    if name in (str(call["n"]), call["id"]):
                        return entry_of_call(call, self._marks, self.scanner.reverted, self._find_action)
        return None

    def _find_record(self, name: str) -> LogEntry | None:
        if OID.fullmatch(name):
            found = self.scanner.find(name)
            outside = found is not None and found.record.number is None
            return entry_of_record(found, self._marks, self.scanner.reverted) if found and outside else None
        found = self.scanner.find(*(render_trailer(key, name) for key in (NUMBER, ACTION)))
        return entry_of_record(found, self._marks, self.scanner.reverted) if found else None

    def _find_action(self, name: str) -> TimelineCommit | None:
        """The record that holds an action: older than whoever asks for it, and read now if need be."""
        return self.scanner.find(*(render_trailer(key, name) for key in (ACTION, CONTAINED)))


def newest_entries(
    records: Iterable[TimelineCommit],
    calls: Iterator[dict[str, Any]],
    marks: ActionMarks,
    reverted: Set[str],
    find_action: FindAction,
) -> Iterator[LogEntry]:
    """The entries of records and calls that come newest first: in the order of `Ledger`, from its end.

    `reverted` grows with what is read: what is said of a record, newer ones say.
    """
    unnumbered: list[LogEntry] = []
    call = next(calls, None)
    for recorded in records:
        record = recorded.record
        if record.kind is RecordKind.START:
            continue
        entry = entry_of_record(recorded, marks, reverted)
        if record.number is None:
            unnumbered.append(entry)
            continue
        while call is not None and call["n"] >= record.number:
            yield entry_of_call(call, marks, reverted, find_action)
            call = next(calls, None)
        yield from (*unnumbered, entry)
        unnumbered = []
    while call is not None:
        yield entry_of_call(call, marks, reverted, find_action)
        call = next(calls, None)
    yield from unnumbered


def newest_calls(lines: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    """The calls of these lines, by number from the last on: each parsed when it is asked for."""
    last = None
    for line in reversed(lines):
        for call in parse_lines(line):
            if last is not None and call["n"] > last:
                raise TimelineUnreadable(f"call {last} is noted after call {call['n']}")
            last = call["n"]
            yield call
