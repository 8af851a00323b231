"""The journal: timeline, lanes and marks of one work tree, written together.

The order of the writes makes a crash harmless: objects, the saved lane move, the timeline, the lane. The next
writer finishes what is left (`crash_recovery`).
"""

import contextlib
import datetime
from collections.abc import Callable, Iterator, Sequence

from chorus.changes.summary import (
    MAX_FILES,
    ChangeKind,
    FileChange,
    count_changed_lines,
    count_files,
    describe_file,
    render_files,
    summarise,
)
from chorus.history.crash_recovery import CrashRecovery, LaneMove
from chorus.history.disk_changes.head_moves import HeadMove, HeadTracker, render_head
from chorus.history.lanes.lanes import Lane, Lanes, PreparedCommit
from chorus.history.marks.mark_log import FILE_NAME, Mark, MarkLog
from chorus.history.marks.undone import UndoneActions
from chorus.history.records import Edit, Record, RecordKind
from chorus.history.timeline.action_numbers import ActionNumbers
from chorus.history.timeline.timeline import Timeline
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.action import Action, UndoneBy
from chorus.model.ids import Oid, ToolUseId
from chorus.model.review_state import REVERT_TOOL
from chorus.model.tools import COMMAND_KEY
from chorus.store.refs import RefMoved
from chorus.store.user_index import has_current_stat
from chorus.store.worktree.file_state import SkipReason

# Limit of the user's message, which goes into two commits per action: about 150 lines.
MAX_MESSAGE_CHARACTERS = 10_000
# Enough to recognise a command by.
MAX_COMMAND_CHARACTERS = 500


class Journal:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.timeline = Timeline(workspace)
        self.marks = MarkLog(workspace.repository.own_dir / FILE_NAME)
        self.lanes = Lanes(workspace, self.timeline)
        # Tells whether a client's rewind made these outside edits. The watcher replaces this function.
        self.is_rewind: Callable[[Sequence[Edit]], bool] = lambda edits: False
        self._undone = UndoneActions(workspace, self.timeline)
        self._recovery = CrashRecovery(workspace, self.timeline)
        self._moved: dict[str, Oid] = {}  # lane commits that were rewritten, by action
        self._calls: set[str] = set()
        self._last_number = 0
        self._numbers = ActionNumbers(workspace.repository)
        self._hidden = False  # whether `timeline.hide` has been called
        self._head_tracker: HeadTracker | None = None
        self._head_mark: Mark | None = None  # the last move of HEAD that changed no file

    @property
    def head_tracker(self) -> HeadTracker:
        assert self._head_tracker is not None, "writing() comes first"
        return self._head_tracker

    def close(self) -> None:
        self._recovery.close()

    def refresh(self) -> bool:
        """Read what other processes wrote. Return True if the timeline has changed."""
        for mark in self.marks.refresh():
            self._take(mark)
        return self.timeline.refresh()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the recording lock while the caller writes.

        First catch up with other processes, finish unfinished writes, and start the timeline if needed.
        """
        with self.workspace.recording():
            if self.refresh() or self._recovery.is_needed:
                self._recovery.recover()
            if not self._hidden:
                self.timeline.hide()
                self._hidden = True
            if self._head_tracker is None:
                branch = self.timeline.last_branch
                self._head_tracker = HeadTracker(self.workspace, self._last_head(), branch)
            if not self.timeline.records:
                self._start()
            yield

    def append_head_move(self, move: HeadMove) -> None:
        """Record a move of HEAD that changed no file, so that it is not found again after a restart."""
        head = render_head(move.after)
        after = self.timeline.records[-1].oid
        self.append_mark({"kind": "head", "head": head, "reason": move.reason, "commit": after})

    def renew_head_mark(self, old: Oid | None) -> None:
        """If the mark of HEAD's last move names the record `old`, append it again with the newest record.

        Called when the records have been rewritten and have new ids.
        """
        mark = self._head_mark
        if mark is not None and mark.get("commit") == old:
            self.append_mark({**mark, "commit": self.timeline.records[-1].oid})

    def has_action(self, action: str) -> bool:
        """Whether this action is recorded, by a record of its own or by the mark of a call."""
        recorded = self.timeline.find_action(action)
        return action in self._calls or (recorded is not None and recorded.record.action == action)

    def current_commit(self, recorded: TimelineCommit) -> Oid:
        """The lane commit of an action, or the commit that has replaced it since."""
        record = recorded.record
        assert record.lane_commit is not None
        return self._moved.get(record.action or "", record.lane_commit.commit)

    def append_outside(
        self,
        edits: Sequence[Edit],
        reason: str | None,
        skipped: Sequence[str] = (),
        *,
        by_git: bool = False,
    ) -> TimelineCommit:
        """Record a change that no action made. `by_git`: a move of HEAD or the stash explains the change."""
        files = describe_edits(self.workspace, edits)
        record = Record(
            kind=RecordKind.OUTSIDE,
            summary=f"outside: {reason or 'changed on disk'} ({count_files(len(edits))})",
            edits=tuple(edits),
            head=render_head(self.head_tracker.head),
            reason=reason,
            skipped=tuple(skipped),
            lines=count_changed_lines(files),
            file_lines=render_files(files),
        )
        # The marks come first: if a crash loses the record, the same change is found and marked again.
        try:
            self._mark_undone(edits, reason, by_git=by_git)
            with self._recovery.guard():
                return self.timeline.append(record)
        except BaseException:
            self._undone.forget()
            raise

    def append_action(
        self,
        action: Action,
        edits: Sequence[Edit],
        *,
        source: str | None = None,
        skipped: Sequence[str] = (),
        contained: Sequence[str] = (),
        reverts: Sequence[str] = (),
        reverts_part: Sequence[str] = (),
        reason: str | None = None,
        lane: Lane | None = None,
    ) -> TimelineCommit:
        """Record an action on the timeline and on `lane`, by default the lane of the action's session."""
        files = describe_edits(self.workspace, edits)
        record = Record(
            kind=RecordKind.ACTION,
            summary=summarise(action, files),
            edits=tuple(edits),
            head=render_head(self.head_tracker.head),
            number=self._next_number(),
            action=action.id,
            tool=action.tool,
            status=action.status,
            session=action.session,
            turn=action.turn,
            agent=action.agent,
            source=source,
            time=action.time,
            message=clip_message(action.message),
            command=_command_of(action),
            reason=reason,
            reverts=tuple(reverts),
            reverts_part=tuple(reverts_part),
            contained=tuple(contained),
            skipped=tuple(skipped),
            lines=count_changed_lines(files),
            file_lines=render_files(files),
        )
        seconds = parse_time(action.time)
        lane = lane or self._choose_lane(record, seconds)
        prepared = self.lanes.prepare(lane, record, edits, seconds)
        try:
            if action.tool == REVERT_TOOL:
                self._mark_undone(edits, None, revert=reverts)
            recorded = self._commit(prepared, edits, seconds)
        except BaseException:
            self._undone.forget()
            raise
        self._numbers.take(record.number or 0)
        return recorded

    def append_call(
        self,
        action: Action,
        status: str,
        *,
        source: str | None = None,
        skipped: Sequence[str] = (),
        within: str | None = None,
        paths: Sequence[str] = (),
        reason: str | None = None,
    ) -> None:
        """Mark a call that changed nothing, or whose change is already recorded."""
        number = self._next_number()
        command = _command_of(action)
        self._append_mark(
            {
                "kind": "call", "n": number, "id": action.id, "status": status, "within": within,
                "tool": action.tool, "session": action.session, "turn": action.turn,
                "agent": action.agent, "paths": list(paths), "summary": summarise(action, []),
                "message": clip_message(action.message), "source": source, "time": action.time,
                "skipped": list(skipped), "reason": reason, "seconds": self.workspace.now(),
                **({"command": command} if command is not None else {}),
            }
        )  # fmt: skip
        self._numbers.take(number)

    def append_mark(self, mark: Mark) -> None:
        """Append a mark. A mark without a time gets the current time."""
        self._append_mark({"seconds": self.workspace.now(), **mark})

    def reword(self, action: ToolUseId, summary: str) -> None:
        """Change an action's summary in the log and on its lane.

        Do nothing if the lane commit is not the newest of its lane, or the lane is checked out.
        """
        recorded = self.timeline.find_action(action)
        own = recorded is not None and recorded.record.action == action and recorded.record.lane_commit
        if recorded is not None and own:
            commit = self.lanes.reword(
                recorded, self.current_commit(recorded), summary, self.head_tracker.head
            )
            if commit is None:
                return
            self._append_mark({"kind": "moved", "id": action, "commit": commit})
        self.append_mark({"kind": "said", "id": action, "summary": summary})

    def _mark_undone(
        self,
        edits: Sequence[Edit],
        reason: str | None,
        *,
        by_git: bool = False,
        revert: Sequence[str] | None = None,
    ) -> None:
        parts = self._undone.compare(edits, reason, by_git=by_git, revert=revert)
        if parts:
            paths = {path for _, path, _, _ in parts}
            own = [edit for edit in edits if edit.path in paths]
            by: UndoneBy = "git" if by_git else self._cause(own)
            names = list(dict.fromkeys(name for name, *_ in parts))
            self.append_mark({"kind": "undone", "by": by, "ids": names, "parts": parts})

    def _cause(self, edits: Sequence[Edit]) -> UndoneBy:
        if self.is_rewind(edits):
            return "rewind"
        by_git = has_current_stat(self.workspace.repository, [edit.path for edit in edits])
        return "git" if by_git else "outside"

    def _commit(self, prepared: PreparedCommit, edits: Sequence[Edit], seconds: int | None) -> TimelineCommit:
        lane_commit = prepared.record.lane_commit
        assert lane_commit is not None
        with self._recovery.guard(LaneMove(prepared.lane.ref, lane_commit.commit, prepared.tip)):
            recorded = self.timeline.append(prepared.record, seconds=seconds)
            try:
                self.lanes.publish(prepared)
            except RefMoved:
                self._publish_again(prepared, edits, seconds)
        return recorded

    def _choose_lane(self, record: Record, seconds: int | None) -> Lane:
        tracker = self.head_tracker
        return self.lanes.choose(
            record.session, tracker.branch, tracker.base, record.message, render_day(seconds)
        )

    def _publish_again(self, prepared: PreparedCommit, edits: Sequence[Edit], seconds: int | None) -> None:
        """Put the action on top of commits that another process has added to the lane meanwhile."""
        while True:
            again = self.lanes.prepare(prepared.lane, prepared.record, edits, seconds)
            assert again.record.lane_commit is not None
            try:
                self.lanes.publish(again)
            except RefMoved:
                continue
            assert prepared.record.action is not None
            commit = again.record.lane_commit.commit
            self._append_mark({"kind": "moved", "id": prepared.record.action, "commit": commit})
            return

    def _start(self) -> None:
        with self._recovery.guard():
            tree, scan = self.workspace.scanner.baseline()
            skipped = tuple(
                f"{omitted.path} {omitted.why.value}"
                for omitted in scan.omitted
                if omitted.why is not SkipReason.SCRATCH
            )
            head = render_head(self.head_tracker.head)
            record = Record(RecordKind.START, "start: the work tree as it is", head=head, skipped=skipped)
            self.timeline.append_tree(record, tree)

    def _last_head(self) -> str | None:
        """Return HEAD as last recorded; None before the first record."""
        if not self.timeline.records:
            return None
        newest = self.timeline.records[-1]
        moved = self._head_mark
        return moved["head"] if moved and moved.get("commit") == newest.oid else newest.record.head

    def _next_number(self) -> int:
        return self._numbers.next_after(max(self._last_number, self.timeline.last_number))

    def _append_mark(self, mark: Mark) -> None:
        self._take(self.marks.append(mark))

    def _take(self, mark: Mark) -> None:
        self._undone.take(mark)
        match mark.get("kind"):
            case "call":
                self._calls.add(mark["id"])
                self._last_number = max(self._last_number, mark["n"])
            case "moved":
                self._moved[mark["id"]] = Oid(mark["commit"])
            case "head":
                self._head_mark = mark


def describe_edits(workspace: Workspace, edits: Sequence[Edit]) -> list[FileChange]:
    """Describe the change of each file. Lines are counted in the first `MAX_FILES` only."""
    counted = [_describe_edit(workspace, edit) for edit in edits[:MAX_FILES]]
    return counted + [FileChange(edit.path, _kind_of(edit)) for edit in edits[MAX_FILES:]]


def _describe_edit(workspace: Workspace, edit: Edit) -> FileChange:
    kind = _kind_of(edit)
    if kind is ChangeKind.LINK:
        return FileChange(edit.path, kind)
    return describe_file(edit.path, kind, workspace.read(edit.before), workspace.read(edit.after))


def _kind_of(edit: Edit) -> ChangeKind:
    sides = [side for side in (edit.before, edit.after) if side is not None]
    if any(side.mode not in PLAIN_MODES for side in sides):
        return ChangeKind.LINK
    if edit.before is None:
        return ChangeKind.CREATED
    if edit.after is None:
        return ChangeKind.DELETED
    return ChangeKind.MODE if edit.before.oid == edit.after.oid else ChangeKind.MODIFIED


def clip_message(message: str | None) -> str | None:
    if message is None or len(message) <= MAX_MESSAGE_CHARACTERS:
        return message
    return message[:MAX_MESSAGE_CHARACTERS] + "…"


def _command_of(action: Action) -> str | None:
    command = action.input.get(COMMAND_KEY)
    return command[:MAX_COMMAND_CHARACTERS] if isinstance(command, str) else None


def parse_time(text: str | None) -> int | None:
    """Convert the client's ISO 8601 time to seconds since the epoch; None if it is missing or invalid."""
    try:
        return max(0, int(datetime.datetime.fromisoformat(text or "").timestamp()))
    except (ValueError, OverflowError):
        return None


def render_day(seconds: int | None) -> str:
    moment = (
        datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        if seconds
        else datetime.datetime.now(datetime.UTC)
    )
    return moment.date().isoformat()
