"""Find the action that wrote each line of a file as it is now.

Lines are followed back through the timeline. For an older line, `git blame` names a commit, and the trailers
of this commit name the action.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.changes.diff import hunks, split_lines
from chorus.changes.line_trace import trace_lines_back
from chorus.errors import NotFound
from chorus.history.log.disk_log import DiskLog
from chorus.history.log.entry import LogEntry, entry_json
from chorus.history.log.file_history import DiskFileHistory, FileHistory
from chorus.history.records import Edit, RecordKind
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import Workspace
from chorus.model.commits import commit_message
from chorus.model.commits.commit_message import parse_actions, parse_message, parse_parts
from chorus.model.ids import Oid, RepoPath
from chorus.store.git_process import Git
from chorus.store.worktree.file_state import Absent, File, FileState
from chorus.text.width import count_of

if TYPE_CHECKING:
    from chorus.model.api.json_api import BlameLineJson

NO_COMMIT = "0" * 40
# If a change moves a whole tree, this many files are compared; the rest count as new files.
MAX_COMPARED_FILES = 200


@dataclass(slots=True)
class Blame:
    """The result of a blame. Lines are counted from 0.

    `actions`: the action that wrote each line. `commits`: the commit that `git blame` names for each line.
    """

    actions: dict[int, str] = field(default_factory=dict)
    commits: dict[int, Oid] = field(default_factory=dict)


def blame_from_disk(root: Path, name: str, line: int | None) -> list[BlameLineJson]:
    """Blame a file without reading the whole history.

    Raises TimelineUnreadable if the timeline is missing or cut off, or if the whole history is needed.
    """
    with closing(Workspace.open(root)) as workspace, DiskLog.open(root) as disk_log:
        return blame(DiskFileHistory(workspace, disk_log), name, line)


def run_git_blame(git: Git, path: RepoPath, line: int | None) -> bytes:
    """Run `git blame` for one line, or for all lines if `line` is None. May take seconds.

    Returns no output if git fails, for example for an untracked file.
    """
    part = ("-L", f"{line},{line}") if line is not None else ()
    done = git.attempt("blame", "--line-porcelain", *part, "--", path)
    return b"" if done.returncode else done.stdout


def blame(
    history: FileHistory, name: str, line: int | None = None, *, by_git: bytes | None = None
) -> list[BlameLineJson]:
    """Blame every line, or only `line` (counted from 1). `by_git`: the result of `run_git_blame`."""
    path = history.workspace.locate(name)
    state = history.workspace.work_tree.read_file(path) if path is not None else Absent()
    if path is None or not isinstance(state, File):
        raise NotFound(_missing_file(name, state))
    lines = split_lines(state.data)
    if line is not None and not 1 <= line <= len(lines):
        raise NotFound(f"there is no line {line} in {name}: it has {count_of(lines, 'line')}")
    wanted = range(len(lines)) if line is None else [line - 1]
    found = Blame()
    _LineTracer(history, path, found).trace_disk(state.data, wanted)
    if by_git is None:
        by_git = run_git_blame(history.workspace.repository.git, path, line)
    _find_commits(history, parse_blame(by_git, path), path, {i: lines[i] for i in wanted}, found)
    entries = {action: history.entry_of(action) for action in set(found.actions.values())}
    return [_render_line(history, entries, found, index, lines[index]) for index in wanted]


def _missing_file(name: str, state: FileState) -> str:
    why = None if isinstance(state, File) else state.why
    return f"{name} {why.value}" if why else f"there is no file {name} in this work tree"


class _LineTracer:
    """Follows lines back through the records of a file, newest first, and across renames.

    `below`: look only at records before this position on the timeline.
    """

    def __init__(self, history: FileHistory, path: RepoPath, found: Blame, below: int | None = None) -> None:
        self._history = history
        self._path = path
        self._found = found
        position = history.position
        touching = history.touching(path)
        self._records = [r for r in touching if below is None or position(r) < below]

    def trace_disk(self, data: bytes, wanted: Iterable[int]) -> None:
        newest = self._history.workspace.read(self._history.newest(self._path)) or b""
        kept, _ = trace_lines_back({line: line for line in wanted}, hunks(newest, data))
        self.trace(kept, 0)

    def trace(self, lines: Mapping[int, int], start: int) -> None:
        """Find the actions that wrote these lines, from record `start` back to older ones.

        `lines` maps each line to its position after record `start`.
        """
        for index in range(start, len(self._records)):
            recorded = self._records[index]
            record = recorded.record
            if not lines or record.kind is RecordKind.START:
                return
            before, after = self._sides(recorded)
            lines, written = trace_lines_back(lines, hunks(before, after))
            if not before and written:
                written = self._trace_rename(written, after, recorded)
            if record.kind is RecordKind.ACTION and record.action:
                written = self._trace_revert(written, after, index)
                self._found.actions |= dict.fromkeys(written, record.action)

    def _trace_rename(
        self, written: dict[int, int], after: bytes, recorded: TimelineCommit
    ) -> dict[int, int]:
        """Follow the lines of a renamed file under its old name.

        Return the lines that the old file lacks: this record wrote them.
        """
        old = find_renamed(self._history, recorded, after)
        if old is None:
            return written
        back, written = trace_lines_back(
            written, hunks(self._history.workspace.read(old.before) or b"", after)
        )
        below = self._history.position(recorded)
        _LineTracer(self._history, old.path, self._found, below).trace(back, 0)
        return written

    def _trace_revert(self, written: dict[int, int], after: bytes, index: int) -> dict[int, int]:
        """Follow the lines that a revert restored, starting before the reverted action.

        Return the lines that the revert did not restore.
        """
        for name in self._records[index].record.reverts:
            older = range(index + 1, len(self._records))
            target = next((p for p in older if self._records[p].record.action == name), None)
            if target is not None:
                before, _ = self._sides(self._records[target])
                back, written = trace_lines_back(written, hunks(before, after))
                self.trace(back, target + 1)
        return written

    def _sides(self, recorded: TimelineCommit) -> tuple[bytes, bytes]:
        edit = next(e for e in self._history.edits(recorded) if e.path == self._path)
        read = self._history.workspace.read
        return read(edit.before) or b"", read(edit.after) or b""


def find_renamed(history: FileHistory, recorded: TimelineCommit, after: bytes) -> Edit | None:
    """Find the edit that deleted the old file of a rename.

    It is the deleted file with the most lines of the new file, at least half of them. Only the first
    MAX_COMPARED_FILES edits of the record are compared.
    """
    new = Counter(split_lines(after))
    best, most = None, new.total() / 2
    for edit in history.edits(recorded)[:MAX_COMPARED_FILES]:
        if edit.after is None and edit.before is not None:
            shared = (Counter(split_lines(history.workspace.read(edit.before) or b"")) & new).total()
            if shared >= most:
                best, most = edit, shared
    return best


def _find_commits(
    history: FileHistory,
    committed: Mapping[int, tuple[Oid, RepoPath]],
    path: RepoPath,
    wanted: Mapping[int, bytes],
    found: Blame,
) -> None:
    """Add the commit of each wanted line to `found`. If `found` lacks the line's action, add that, too.

    `committed`: the result of `parse_blame`.
    """
    for line, text in wanted.items():
        commit, name = committed.get(line, (Oid(NO_COMMIT), path))
        if commit != NO_COMMIT:
            found.commits[line] = commit
            if line not in found.actions:
                action = _find_action(history, commit, name, text)
                found.actions |= {line: action} if action else {}


def parse_blame(output: bytes, path: RepoPath) -> dict[int, tuple[Oid, RepoPath]]:
    """Parse `git blame --line-porcelain`: for each line its commit and the file's name there.

    `path` replaces a name that git quotes.
    """
    found: dict[int, tuple[Oid, RepoPath]] = {}
    commit, line, name = Oid(NO_COMMIT), 0, path
    for raw in output.split(b"\n"):
        fields = raw.split(b" ")
        if raw.startswith(b"\t"):
            found[line] = (commit, name)
        elif raw.startswith(b"filename "):
            text = os.fsdecode(raw[len(b"filename ") :])
            name = path if text.startswith('"') else RepoPath(text)
        elif len(fields) in (3, 4) and len(fields[0]) == len(NO_COMMIT) and fields[2].isdigit():
            commit, line = Oid(fields[0].decode()), int(fields[2]) - 1
    return found


def _find_action(history: FileHistory, commit: Oid, path: RepoPath, text: bytes) -> str | None:
    """Find the action that wrote this line. None if it is not known.

    The action must be named in the commit's message. If the message names several actions, take the last one
    that added a line with this text.
    """
    message = history.workspace.store.read_commit(commit).message
    names = tuple(dict.fromkeys((*parse_actions(message), *parse_parts(message))))
    if len(names) < 2:
        return names[0] if names else None
    for recorded in history.touching(path):
        if recorded.record.action not in names:
            continue
        edit = next(e for e in history.edits(recorded) if e.path == path)
        before, after = (history.workspace.read(side) or b"" for side in (edit.before, edit.after))
        new = split_lines(after)
        if any(text in new[hunk.after_start : hunk.after_end] for hunk in hunks(before, after)):
            return recorded.record.action
    return None


def _render_line(
    history: FileHistory, entries: Mapping[str, LogEntry | None], found: Blame, index: int, text: bytes
) -> BlameLineJson:
    name, commit = found.actions.get(index), found.commits.get(index)
    entry = entries.get(name) if name else None
    line: BlameLineJson = {
        "line": index + 1,
        "text": text.decode("utf-8", "replace").rstrip("\r\n"),
        "commit": commit,
        "n": None,
        "id": None,
        "tool": None,
        "message": None,
        "session": None,
        "turn": None,
        "time": None,
        "summary": None,
        "lane": None,
    }
    if entry is not None:
        line |= {
            "n": entry.n,
            "id": entry.id,
            "tool": entry.tool,
            "message": entry.message,
            "session": entry.session,
            "turn": entry.turn,
            "time": entry_json(entry, history.workspace.label)["time"],
            "summary": entry.summary,
            "lane": entry.lane,
        }
    elif name is not None and commit is not None:
        # Made in another clone, or before the timeline: only the commit's own message is known.
        parsed = parse_message(history.workspace.store.read_commit(commit).message)
        session, turn = parsed.first(commit_message.SESSION), parsed.first(commit_message.TURN)
        line |= {"id": name, "session": session, "turn": turn, "summary": parsed.subject}
    return line
