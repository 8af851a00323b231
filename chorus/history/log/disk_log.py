"""The log of one work tree read from disk, newest first and only as far as needed.

Gives the same entries as `MemoryLog`. Raises `TimelineUnreadable` if the answer needs the whole history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from chorus.history.log.entry import FindAction, LogEntry, entry_json, entry_of_call, entry_of_record
from chorus.history.log.filter import Locate, LogFilter, filter_entries
from chorus.history.log.json_views import LaneRow, changes_below, count_by_lane, lanes_json, show_json
from chorus.history.log.lookup import find_entry
from chorus.history.marks.landings import find_landed
from chorus.history.marks.mark_log import FILE_NAME, ActionMarks, Mark, parse_marks, read_marks
from chorus.history.records import RecordKind
from chorus.history.timeline.timeline_log import (
    OLD_REF_PREFIX,
    REF_PREFIX,
    LogScanner,
    TimelineCommit,
    TimelineUnreadable,
)
from chorus.model.commits.commit_message import ACTION, CONTAINED, NUMBER, render_trailer
from chorus.model.ids import LaneName, Oid
from chorus.model.lane_name import BRANCHES
from chorus.store.git_paths import GitPaths, read_git_paths
from chorus.store.git_process import Git
from chorus.store.loose_refs import read_loose

if TYPE_CHECKING:
    from chorus.model.api.json_api import ActionJson, LaneJson, LogEntryJson

OID = re.compile(r"[0-9a-f]{40}")


class DiskLog:
    def __init__(self, paths: GitPaths) -> None:
        self._git = Git(Path(paths.work_tree))
        self._own_dir = f"{paths.git_dir}/chorus"
        self.worktree = paths.label
        # Read before the timeline: a mark is written after the records it names.
        calls, others = read_marks(Path(self._own_dir) / FILE_NAME)
        marks = ActionMarks(others)
        marks.off_branches = marks.landings.keys() - find_landed(self._git, marks.landings)
        if marks.calls:
            raise TimelineUnreadable("the marks have a call that can only be read with the whole timeline")
        tip = read_loose(f"{paths.common_dir}/{REF_PREFIX}{paths.name}")
        self.scanner = LogScanner(self._git, tip or OLD_REF_PREFIX + paths.name)
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
        """Yield the entries, newest first. Entries that were read before are not read again."""
        yield from self._seen
        for entry in self._entries:
            self._seen.append(entry)
            yield entry

    def select(self, wanted: LogFilter, locate: Locate) -> list[LogEntryJson]:
        """The entries that match, oldest first."""
        found = filter_entries(self.entries(), wanted, locate, partial(changes_below, self._git))
        return [entry_json(entry, self.worktree) for entry in found]

    def lanes(self) -> list[LaneJson]:
        """Every lane whose branch exists, oldest first. Calls that changed nothing are not counted."""
        entries: list[LogEntry] = []
        rows: dict[LaneName, LaneRow] = {}
        for recorded in self.scanner.on_lanes():
            entries.append(entry_of_record(recorded, self._marks, self.scanner.reverted))
            if lane_commit := recorded.record.lane_commit:
                # The oldest record of a lane defines it and its position in the list.
                rows.pop(lane_commit.lane, None)
                rows[lane_commit.lane] = LaneRow(lane_commit.lane, lane_commit.base, recorded.record.session)
        listed = self._git.text("for-each-ref", "--format=%(objectname) %(refname)", BRANCHES).splitlines()
        tips = {name: Oid(oid) for oid, name in (line.split(" ", 1) for line in listed)}
        return lanes_json(count_by_lane(entries), reversed(rows.values()), tips.get, self.worktree)

    def show(self, name: str, *, user_diff: bool = False) -> ActionJson:
        """Show an action by its number, id or lane commit, or an outside change by its timeline commit."""
        entry = self._find_call(name) or self._find_record(name)
        # A lane commit may be abbreviated: only the whole log shows whether it is unique.
        entry = entry or find_entry(list(self.entries())[::-1], name)
        recorded = self.scanner.find(entry.timeline) if entry.timeline else None
        if recorded is not None and not recorded.record.listed:
            raise TimelineUnreadable(f"timeline commit {recorded.oid} does not list its files")
        edits = recorded.record.edits if recorded else ()
        return show_json(self._git, self._own_dir, entry, edits, self.worktree, user_diff=user_diff)

    def find_action_entry(self, action: str) -> LogEntry | None:
        """Return the entry of the call with that id; None if there is none."""
        found = self.scanner.find(render_trailer(ACTION, action))
        own = entry_of_record(found, self._marks, self.scanner.reverted) if found else None
        return own or self._find_call(action)

    def _records(self) -> Iterator[TimelineCommit]:
        position = 0
        while recorded := self.scanner.record(position):
            yield recorded
            position += 1

    def _find_call(self, name: str) -> LogEntry | None:
        needle = name.encode("utf-8", "surrogateescape")
        for line in self._calls:
            if needle in line:
                for call in parse_marks(line):
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
        """Return the record that holds an action."""
        return self.scanner.find(*(render_trailer(key, name) for key in (ACTION, CONTAINED)))


def newest_entries(
    records: Iterable[TimelineCommit],
    calls: Iterator[Mark],
    marks: ActionMarks,
    reverted: Set[str],
    find_action: FindAction,
) -> Iterator[LogEntry]:
    """Merge records and calls, both newest first, into entries in the same order.

    `reverted` grows while the records are read. A revert is newer than the records it reverts, so it is read
    first.
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


def newest_calls(lines: Sequence[bytes]) -> Iterator[Mark]:
    """Yield the calls in these lines, highest number first. Each line is parsed only when it is reached."""
    last = None
    for line in reversed(lines):
        for call in parse_marks(line):
            if last is not None and call["n"] > last:
                raise TimelineUnreadable(f"the marks have call {call['n']} before call {last}")
            last = call["n"]
            yield call
