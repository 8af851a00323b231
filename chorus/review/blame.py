"""Which action wrote a line: the way back from a file as it stands now.

Receives a path. Gives, for each line, the action that wrote it, if one did. Follows the timeline first, so
lines that are in no commit are known too; where it ends, the commit that `git blame` names says in its
trailers which actions it holds. Never changes anything.
"""

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chorus.changes.diff import Hunk, hunks, split_lines
from chorus.errors import NotFound
from chorus.history.log.entry import LogEntry, entry_json
from chorus.history.log.file_history import FileHistory
from chorus.history.records import Edit, RecordKind
from chorus.history.timeline_log import TimelineCommit
from chorus.model import commit_message as message
from chorus.model.commit_message import parse_actions, parse_message
from chorus.model.ids import Oid, RepoPath
from chorus.store.worktree.file_state import Absent, File, FileState

KEYS = ("n", "id", "tool", "message", "session", "turn", "time", "summary", "lane")
NO_ACTION = dict.fromkeys(KEYS)
NO_COMMIT = "0" * 40
# Of a change that moves a whole tree, so many files are compared; the rest counts as new.
MAX_COMPARED_FILES = 200


@dataclass(slots=True)
class Blame:
    """Lines of the file now, counted from 0: the action that wrote each, and the commit each is in."""

    actions: dict[int, str] = field(default_factory=dict)
    commits: dict[int, Oid] = field(default_factory=dict)


def blame(past: FileHistory, name: str, line: int | None = None) -> list[dict[str, Any]]:
    """One answer for each line, or for the one asked for (counted from 1)."""
    path = past.workspace.locate(name)
    state = past.workspace.work_tree.read_file(path) if path is not None else Absent()
    if path is None or not isinstance(state, File):
        raise NotFound(_no_file(name, state))
    lines = split_lines(state.data)
    if line is not None and not 1 <= line <= len(lines):
        raise NotFound(f"there is no line {line} in {name}: it has {len(lines)}")
    wanted = range(len(lines)) if line is None else [line - 1]
    found = Blame()
    _LineTracer(past, path, found).trace_disk(state.data, wanted)
    _find_commits(past, path, lines, wanted, found)
    entries = {action: past.entry_of(action) for action in set(found.actions.values())}
    return [_answer(past, entries, found, index, lines[index]) for index in wanted]


def _no_file(name: str, state: FileState) -> str:
    why = None if isinstance(state, File) else state.why
    return f"{name} {why.value}" if why else f"there is no file {name} in this work tree"


class _LineTracer:
    """Lines followed back through the records of one path, newest first, and of what it was named before."""

    def __init__(self, past: FileHistory, path: RepoPath, found: Blame, below: int | None = None) -> None:
        """`below`: only records older than this place on the timeline."""
        self._past = past
        self._path = path
        self._found = found
        place = past.place
        touching = past.touching(path)
        self._records = [r for r in touching if below is None or place(r) < below]

    def trace_disk(self, data: bytes, wanted: Iterable[int]) -> None:
        newest = self._past.workspace.read(self._past.newest(self._path)) or b""
        kept, _ = trace_lines_back({line: line for line in wanted}, hunks(newest, data))
        self.trace(kept, 0)

    def trace(self, lines: Mapping[int, int], start: int) -> None:
        """`lines`: where each line of the file now stands in what record `start` left."""
        for place in range(start, len(self._records)):
            recorded = self._records[place]
            record = recorded.record
            if not lines or record.kind is RecordKind.START:
                return
            before, after = self._sides(recorded)
            lines, written = trace_lines_back(lines, hunks(before, after))
            if not before and written:
                written = self._pass_rename(written, after, recorded)
            if record.kind is RecordKind.ACTION and record.action:
                written = self._pass_revert(written, after, place)
                self._found.actions |= dict.fromkeys(written, record.action)

    def _pass_rename(self, written: dict[int, int], after: bytes, recorded: TimelineCommit) -> dict[int, int]:
        """Lines of a file that another one became were written there."""
        old = find_renamed(self._past, recorded, after)
        if old is None:
            return written
        back, written = trace_lines_back(written, hunks(self._past.workspace.read(old.before) or b"", after))
        below = self._past.place(recorded)
        _LineTracer(self._past, old.path, self._found, below).trace(back, 0)
        return written

    def _pass_revert(self, written: dict[int, int], after: bytes, place: int) -> dict[int, int]:
        """A line that a revert put back was written before the action it takes back."""
        for name in self._records[place].record.reverts:
            older = range(place + 1, len(self._records))
            target = next((p for p in older if self._records[p].record.action == name), None)
            if target is not None:
                before, _ = self._sides(self._records[target])
                back, written = trace_lines_back(written, hunks(before, after))
                self.trace(back, target + 1)
        return written

    def _sides(self, recorded: TimelineCommit) -> tuple[bytes, bytes]:
        edit = next(e for e in self._past.edits(recorded) if e.path == self._path)
        read = self._past.workspace.read
        return read(edit.before) or b"", read(edit.after) or b""


def find_renamed(past: FileHistory, recorded: TimelineCommit, after: bytes) -> Edit | None:
    """Of the files a record removed, the one most lines of this new one come from: half of them at least."""
    new = Counter(split_lines(after))
    best, most = None, new.total() / 2
    for edit in past.edits(recorded)[:MAX_COMPARED_FILES]:
        if edit.after is None and edit.before is not None:
            shared = (Counter(split_lines(past.workspace.read(edit.before) or b"")) & new).total()
            if shared >= most:
                best, most = edit, shared
    return best


def trace_lines_back(
    lines: Mapping[int, int], changes: Iterable[Hunk]
) -> tuple[dict[int, int], dict[int, int]]:
    """Lines placed after some changes: those that were there before, placed there, and the new."""
    changes = list(changes)
    starts = [hunk.after_start for hunk in changes]
    kept, written = {}, {}
    for line, place in lines.items():
        above = bisect_right(starts, place)
        last = changes[above - 1] if above else None
        if last is not None and place < last.after_end:
            written[line] = place
        else:
            kept[line] = place - (last.after_end - last.before_end if last is not None else 0)
    return kept, written


def _find_commits(
    past: FileHistory, path: RepoPath, lines: list[bytes], wanted: Iterable[int], found: Blame
) -> None:
    """Where each line was committed, and for lines the timeline does not know, by which action."""
    git = past.workspace.repository.git
    done = git.attempt("blame", "--line-porcelain", "--", path)
    if done.returncode:
        return  # not a file git knows yet: nothing of it is committed
    committed = parse_blame(done.stdout, path)
    for line in wanted:
        commit, name = committed.get(line, (Oid(NO_COMMIT), path))
        if commit != NO_COMMIT:
            found.commits[line] = commit
            if line not in found.actions:
                action = _action_in(past, commit, name, lines[line])
                found.actions |= {line: action} if action else {}


def parse_blame(output: bytes, path: RepoPath) -> dict[int, tuple[Oid, RepoPath]]:
    """For each line the commit it is from, and what the file was named there. A quoted name is not read."""
    found: dict[int, tuple[Oid, RepoPath]] = {}
    commit, line, name = Oid(NO_COMMIT), 0, path
    for raw in output.split(b"\n"):
        words = raw.split(b" ")
        if raw.startswith(b"\t"):
            found[line] = (commit, name)
        elif raw.startswith(b"filename "):
            given = os.fsdecode(raw[len(b"filename ") :])
            name = path if given.startswith('"') else RepoPath(given)
        elif len(words) in (3, 4) and len(words[0]) == len(NO_COMMIT) and words[2].isdigit():
            commit, line = Oid(words[0].decode()), int(words[2]) - 1
    return found


def _action_in(past: FileHistory, commit: Oid, path: RepoPath, text: bytes) -> str | None:
    """Of the actions a commit names, the one that wrote this line: the last that added such a line."""
    names = parse_actions(past.workspace.store.read_commit(commit).message)
    if len(names) == 1:
        return names[0]
    known = [r for r in past.touching(path) if r.record.action in names]
    for recorded in known:
        edit = next(e for e in past.edits(recorded) if e.path == path)
        before, after = (past.workspace.read(side) or b"" for side in (edit.before, edit.after))
        new = split_lines(after)
        if any(text in new[hunk.after_start : hunk.after_end] for hunk in hunks(before, after)):
            return recorded.record.action
    return None


def _answer(
    past: FileHistory, entries: Mapping[str, LogEntry | None], found: Blame, index: int, text: bytes
) -> dict[str, Any]:
    name, commit = found.actions.get(index), found.commits.get(index)
    entry = entries.get(name) if name else None
    values: dict[str, Any] = dict(NO_ACTION)
    if entry is not None:
        known = entry_json(entry)
        values = {key: known[key] for key in KEYS}
    elif name is not None and commit is not None:
        # Made in another clone, or before the timeline: the commit's own words are what there is.
        said = parse_message(past.workspace.store.read_commit(commit).message)
        session, turn = said.first(message.SESSION), said.first(message.TURN)
        values |= {"id": name, "session": session, "turn": turn, "summary": said.subject}
    shown = text.decode("utf-8", "replace").rstrip("\r\n")
    return {"line": index + 1, "text": shown, "commit": commit, **values}
