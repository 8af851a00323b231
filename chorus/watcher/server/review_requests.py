"""The requests about history and notes, such as log, blame, revert, land and note.

Quick requests run on the event loop, with the watcher's own recorder. A request that may take longer than a
few hundredths of a second runs in a thread, with another recorder.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

from chorus.agents.interface import Source
from chorus.errors import UsageError
from chorus.history.log.entry import LogEntry
from chorus.history.log.file_history import MemoryFileHistory
from chorus.history.log.filter import LogFilter
from chorus.history.log.joint_log import find_action, merge_logs, path_in_tree, read_each
from chorus.history.log.lookup import find_entry
from chorus.history.recorder import Recorder
from chorus.history.timeline.timeline_log import TimelineUnreadable
from chorus.history.workspace import Workspace
from chorus.model.api.json_api import (
    ActionJson,
    BlameLineJson,
    DropJson,
    HunkJson,
    KeepJson,
    LandJson,
    LaneJson,
    LogEntryJson,
    NoteJson,
    NoteStateJson,
    PullRequestJson,
    RevertJson,
    SentNotesJson,
)
from chorus.model.api.requests import (
    ActionArguments,
    ActionName,
    ActionSelection,
    BlameArguments,
    DropArguments,
    KeepArguments,
    LandArguments,
    LanesArguments,
    LogArguments,
    NoteArguments,
    NotesArguments,
    PullRequestArguments,
    RedoArguments,
    RevertArguments,
    ShowArguments,
)
from chorus.model.ids import Oid, RepoPath
from chorus.model.lane_name import lane_spellings
from chorus.model.review_state import find_turns
from chorus.review import drop as dropping
from chorus.review import operations as review
from chorus.review.blame import blame, blame_from_disk, run_git_blame
from chorus.review.landing.apply import LandingResult, apply_landing, landing_json, mark_landed
from chorus.review.landing.messages import CommitMessages
from chorus.review.landing.plan import LandingPlan, plan_landing
from chorus.review.landing.recovery import PendingLanding
from chorus.review.landing.selection import LandingRequest
from chorus.review.operations import FileBusy, PreparedRevert, Selection
from chorus.review.pull_request import describe_pull_request
from chorus.review.revert.apply import restore_overwritten
from chorus.review.revert.notice_text import find_notices
from chorus.watcher.background_threads import run_in_thread
from chorus.watcher.note_delivery import NoteDelivery
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.recorder_pool import RecorderPool
from chorus.watcher.server.request_handlers import Handler
from chorus.watcher.sources.pipeline import Pipeline
from chorus.watcher.work_trees import WatchedTree, WatchedTrees

# How long a change waits for open calls that name its files. The client reads a file and replaces it some
# 20 ms later: what is written in between is lost. A call that takes longer than this waits for the user, and
# then the client reads the file again before it writes.
QUIET_SECONDS = 2.0
QUIET_POLL_SECONDS = 0.01
# How long to wait for edits that were not reported at their start. An edit has ended by then, or is reported
# as a call that takes longer.
UNREPORTED_SECONDS = 0.1
UNREPORTING = frozenset({Source.MOD.value, Source.HOOK.value})
# Limits of the work on the event loop: more is done in a thread, so that other requests never wait for more
# than some hundredths of a second.
# How many edits of one file are followed back for a blame, some 0.1 ms each, and how large the file may be.
MAX_TRACED = 100
MAX_TRACED_BYTES = 100_000
# A file with more lines is not blamed as a whole: nobody reads the authors of so many lines.
MAX_BLAMED_LINES = 50_000
# How many entries of the log are sent.
MAX_LISTED = 500
# How many actions are looked for by their names.
MAX_NAMED = 20
# How many changes of files are written and recorded, some 5 ms each.
MAX_APPLIED = 5
# How long planning a change may take. Most changes are planned in less.
QUICK_SECONDS = 0.03
# How often a plan that was overtaken by an edit is made again. After that, edits wait for the plan.
MAX_PLANS = 3

Read = TypeVar("Read")

log = logging.getLogger("chorus.watcher")


class PlanningIsSlow(Exception):
    """Planning the change on the event loop would delay all other requests."""


@dataclass(frozen=True, slots=True)
class ReviewRequests:
    main_work_tree: Path
    trees: WatchedTrees
    pipeline: Pipeline
    notices: NoticeQueue
    catch_up: Callable[[], Awaitable[None]]
    note_delivery: NoteDelivery
    quick_seconds: float = QUICK_SECONDS
    pool: RecorderPool = field(default_factory=RecorderPool)
    # Two landings at once could land the same action.
    _landing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            "lanes": self.lanes,
            "log": self.log,
            "show": self.show,
            "blame": self.blame,
            "hunks": self.hunks,
            "note": self.note,
            "notes": self.list_notes,
            "send_notes": self.send_notes,
            "drop_notes": self.drop_notes,
            "address_notes": self.address_notes,
            "pull_request": self.pull_request,
            "revert": self.revert,
            "redo": self.redo,
            "keep": self.keep,
            "land": self.land,
            "drop": self.drop,
        }

    async def lanes(self, arguments: LanesArguments) -> list[LaneJson]:
        readers, _ = self._readers(arguments.get("cwd"), here=arguments.get("here", False))
        return [lane for recorder in readers.values() for lane in recorder.log.lanes()]

    async def log(self, arguments: LogArguments) -> list[LogEntryJson]:
        readers, current = self._readers(arguments.get("cwd"), here=arguments.get("here", False))
        log_filter = LogFilter(
            **{name: arguments[name] for name in LogFilter._fields if name in arguments}  # type: ignore[literal-required]  # all are of LogSelection
        )
        here = readers[current].workspace.repository.work_tree

        def select(recorder: Recorder) -> list[LogEntryJson]:
            root = recorder.workspace.repository.work_tree
            path = path_in_tree(log_filter.path, here, root) if log_filter.path else None
            return recorder.log.select(log_filter._replace(path=path))

        def read(readers: Mapping[str, Recorder]) -> list[LogEntryJson]:
            entries = merge_logs(read_each(readers, select), log_filter.limit)
            notes = self.note_delivery.states(readers)
            return [_with_notes(entry, notes) for entry in entries] if notes else entries

        is_short = log_filter.limit is not None and log_filter.limit <= MAX_LISTED
        if is_short and log_filter.path is None and not self.note_delivery.any(readers):
            return read(readers)
        return await self.pool.use_all(_roots(readers), read)

    async def show(self, arguments: ShowArguments) -> ActionJson:
        readers, current = self._readers(arguments.get("cwd"))
        user_diff = arguments.get("user_diff", False)

        def find(recorder: Recorder, name: str) -> tuple[Recorder, LogEntry]:
            return recorder, recorder.log.find(name)

        recorder, entry = find_action(str(arguments["action"]), readers, current, find)
        if entry.timeline is not None and not entry.paths:  # it changed more files than its record lists
            name = str(entry.n) if entry.n is not None else entry.timeline
            return await self._call_in_thread(recorder, lambda own: own.log.show(name, user_diff=user_diff))
        return await run_in_thread(recorder.log.prepare_show(entry, user_diff=user_diff))

    async def blame(self, arguments: BlameArguments) -> list[BlameLineJson]:
        """Blame a file from the history in memory, or in a thread if that may take long."""
        recorder = self._tree(arguments.get("cwd")).recorder
        name, line = arguments["path"], arguments.get("line")
        repository = recorder.workspace.repository
        path = recorder.workspace.locate(name)
        if path is not None and _takes_long_to_blame(recorder, path):
            if line is None:
                await run_in_thread(_refuse_long_file, repository.work_tree / path)
            with suppress(TimelineUnreadable):
                return await run_in_thread(blame_from_disk, repository.work_tree, name, line)
            return await self._call_in_thread(recorder, lambda own: blame(MemoryFileHistory(own), name, line))
        by_git = await run_in_thread(run_git_blame, repository.git, path, line) if path else b""
        return blame(MemoryFileHistory(recorder), name, line, by_git=by_git)

    async def hunks(self, arguments: ActionArguments) -> list[HunkJson]:
        tree, selection = await self._select(arguments.get("cwd"), Selection([str(arguments["action"])]))
        action = selection.actions[0]
        return await self._call_in_thread(
            tree.recorder, lambda own: review.list_revertible_hunks(own, action)
        )

    async def note(self, arguments: NoteArguments) -> NoteJson:
        readers, current = self._readers(arguments.get("cwd"))
        name, text = str(arguments["action"]), arguments["text"]
        path, line = arguments.get("path"), arguments.get("line")
        return self.note_delivery.write(readers, current, name, text, path=path, line=line)

    async def list_notes(self, arguments: NotesArguments) -> list[NoteJson]:
        await self.catch_up()  # an edit that is not reported yet may address a note
        readers, _ = self._readers(arguments.get("cwd"), here=arguments.get("here", False))
        wanted = set(arguments.get("notes", ()))
        notes = await self.pool.use_all(_roots(readers), self.note_delivery.all)
        return [note for note in notes if not wanted or note["n"] in wanted]

    async def send_notes(self, arguments: NotesArguments) -> SentNotesJson:
        await self.catch_up()
        readers, _ = self._readers(arguments.get("cwd"), here=arguments.get("here", False))
        return await self.note_delivery.send(readers, arguments.get("notes", ()))

    async def pull_request(self, arguments: PullRequestArguments) -> PullRequestJson:
        await self.catch_up()
        lane = arguments["lane"]
        tree, _ = await self._select(arguments.get("cwd"), Selection(lane=lane))
        label = tree.recorder.workspace.label

        def describe(readers: Mapping[str, Recorder]) -> PullRequestJson:
            return describe_pull_request(readers[label], lane, self.note_delivery.all(readers))

        return await self.pool.use_all(_roots(self.trees.readers(tree)), describe)

    async def drop_notes(self, arguments: NotesArguments) -> list[NoteJson]:
        readers, _ = self._readers(arguments.get("cwd"))
        return self.note_delivery.mark(readers, arguments.get("notes", ()), "drop")

    async def address_notes(self, arguments: NotesArguments) -> list[NoteJson]:
        readers, _ = self._readers(arguments.get("cwd"))
        return self.note_delivery.mark(readers, arguments.get("notes", ()), "address")

    async def revert(self, arguments: RevertArguments) -> RevertJson:
        selection = Selection(
            _names(arguments.get("actions", ())),
            _turns(arguments),
            arguments.get("lane"),
            arguments.get("path", ()),
            arguments.get("hunks", ()),
        )
        tree, selection = await self._select(arguments.get("cwd"), selection)
        prepare = partial(
            review.prepare_revert,
            selection=selection,
            with_dependents=arguments.get("with_dependents", False),
            markers=arguments.get("markers", False),
        )
        return await self._change(
            tree, prepare, dry_run=arguments.get("dry_run", False), notify=arguments.get("notify", True)
        )

    async def redo(self, arguments: RedoArguments) -> RevertJson:
        tree, selection = await self._select(arguments.get("cwd"), Selection(_names(arguments["actions"])))
        prepare = partial(review.prepare_redo, selection=selection)
        return await self._change(
            tree, prepare, dry_run=arguments.get("dry_run", False), notify=arguments.get("notify", True)
        )

    async def keep(self, arguments: KeepArguments) -> KeepJson:
        names = _names(arguments.get("actions", ()))
        tree, selection = await self._select(
            arguments.get("cwd"), Selection(names, _turns(arguments), arguments.get("lane"))
        )
        undo = arguments.get("undo", False)
        async with self.pipeline.lock:
            if 0 < len(names) <= MAX_NAMED:
                done = review.keep(tree.recorder, selection, undo=undo)
            else:
                done = await self._call_in_thread(
                    tree.recorder, lambda own: review.keep(own, selection, undo=undo)
                )
        self.trees.publish_changes()
        return done

    async def land(self, arguments: LandArguments) -> LandJson:
        dry_run = arguments.get("dry_run", False)
        by_actions = {tuple(one["actions"]): one["message"] for one in arguments.get("messages", ())}
        named = [(one["name"], one["message"]) for one in arguments.get("named_messages", ())]
        request = LandingRequest(
            arguments["lane"],
            arguments.get("by", "turn"),
            arguments.get("onto"),
            CommitMessages(arguments.get("message"), by_actions, named),
            _names(arguments.get("actions", ())),
            arguments.get("turns", ()),
            arguments.get("kept", False),
            arguments.get("hunks", ()),
            arguments.get("with_context", False),
            arguments.get("fixup"),
            dry_run,
        )
        async with self._landing:
            tree, _ = await self._select(arguments.get("cwd"), Selection(lane=arguments["lane"]))
            own = f"{tree.recorder.workspace.label}:"
            request = replace(request, actions=[name.removeprefix(own) for name in request.actions])
            # Planning looks at the whole lane, and commit hooks may take minutes: both run in threads.
            repository = tree.recorder.workspace.repository
            plan = await self._call_in_thread(tree.recorder, partial(plan_landing, request=request))
            pending = PendingLanding(repository.own_dir)
            with pending.locked():
                made = await run_in_thread(
                    _apply_landing, repository.work_tree, plan, pending, dry_run=dry_run
                )
                if not dry_run:
                    async with self.pipeline.lock:
                        await self._call_in_thread(tree.recorder, partial(mark_landed, result=made))
                    pending.clear()
        self.trees.publish_changes()
        return landing_json(plan, made, dry_run=dry_run)

    async def drop(self, arguments: DropArguments) -> DropJson:
        lane = arguments.get("lane")
        async with self.pipeline.lock:
            tree, _ = await self._select(arguments.get("cwd"), Selection(lane=lane))
            if lane is not None and arguments.get("restore", False):
                lanes = await self._call_in_thread(tree.recorder, lambda own: dropping.restore(own, lane))
            else:
                lanes = await self._call_in_thread(tree.recorder, lambda own: dropping.drop(own, lane))
            return {"lanes": lanes}

    async def _change(
        self,
        tree: WatchedTree,
        prepare: Callable[..., PreparedRevert],
        *,
        dry_run: bool,
        notify: bool,
    ) -> RevertJson:
        """Make a revert or redo, or only plan it (`dry_run`).

        If a running call is about to write one of the files, wait up to `QUIET_SECONDS` until the call ends.
        """
        await self.catch_up()  # an edit that is not reported yet would count as an outside change
        if dry_run:
            prepared = self._prepare_quickly(tree, prepare) or await self._prepare_in_thread(tree, prepare)
            self.trees.publish_changes()
            return {**prepared.result, "notified": []}
        deadline = time.monotonic() + QUIET_SECONDS
        plans = 0
        ahead: PreparedRevert | None = None  # the plan, made when `known` was the newest record
        known: Oid | None = None
        while True:
            async with self.pipeline.lock:
                if ahead is None or known != _newest(tree):
                    ahead = self._prepare_quickly(tree, prepare)
                    plans += 1
                    if ahead is None and plans > MAX_PLANS:
                        ahead = await self._prepare_in_thread(tree, prepare)
                known = _newest(tree)
                if ahead is not None:
                    late = time.monotonic() > deadline
                    with suppress(FileBusy):
                        done = await self._apply(tree, ahead, () if late else tree.windows.open_paths)
                        notified = self._notify(tree, done.get("made", ()), queue=notify)
                        break
            if ahead is None:
                ahead = await self._prepare_in_thread(tree, prepare)
            else:
                ahead = None
                await asyncio.sleep(QUIET_POLL_SECONDS)
        if self._may_edit_unreported(tree):
            await self._restore_overwritten(tree, ahead)
        self.trees.publish_changes()
        return {**done, "notified": notified}

    def _may_edit_unreported(self, tree: WatchedTree) -> bool:
        """True if an edit that will be reported only at its end may be running in the work tree."""
        return any(
            session.state == "working" and not UNREPORTING.isdisjoint(session.sources)
            for session in self.pipeline.roster.sessions.values()
            if session.cwd is not None and self.trees.find(session.cwd) is tree
        )

    async def _restore_overwritten(self, tree: WatchedTree, prepared: PreparedRevert) -> None:
        """Apply the prepared change again where an edit that was running has overwritten it.

        First wait until no open call names one of the files, but at most `QUIET_SECONDS`.
        """
        paths = {str(tree.root / path) for path in prepared.result["paths"]}
        deadline = time.monotonic() + QUIET_SECONDS
        await asyncio.sleep(UNREPORTED_SECONDS)
        while not paths.isdisjoint(tree.windows.open_paths) and time.monotonic() < deadline:
            await asyncio.sleep(QUIET_POLL_SECONDS)
        async with self.pipeline.lock:
            lost = await self._write(tree, prepared, partial(restore_overwritten, plan=prepared.plan))
        if lost:
            log.info("applied a change again that an edit had overwritten: %s", ", ".join(lost))

    def _prepare_quickly(
        self, tree: WatchedTree, prepare: Callable[..., PreparedRevert]
    ) -> PreparedRevert | None:
        """Plan a change on the loop; None if that takes too long."""
        deadline = time.monotonic() + self.quick_seconds

        def step() -> None:
            if time.monotonic() > deadline:
                raise PlanningIsSlow

        with suppress(PlanningIsSlow):
            return prepare(tree.recorder, step=step)
        return None

    async def _prepare_in_thread(
        self, tree: WatchedTree, prepare: Callable[..., PreparedRevert]
    ) -> PreparedRevert:
        return await self._call_in_thread(tree.recorder, prepare)

    async def _apply(self, tree: WatchedTree, prepared: PreparedRevert, busy: Collection[str]) -> RevertJson:
        """Write and record a change, in a thread if it is large. The caller holds the pipeline's lock.

        `busy`: files that a call is about to write. Raises FileBusy if the change touches one of them.
        """
        return await self._write(tree, prepared, partial(review.apply_prepared, prepared=prepared, busy=busy))

    async def _write(
        self, tree: WatchedTree, prepared: PreparedRevert, write: Callable[[Recorder], Read]
    ) -> Read:
        if prepared.edit_count <= MAX_APPLIED:
            return write(tree.recorder)
        is_rewind = tree.recorder.journal.is_rewind

        def write_in_thread(own: Recorder) -> Read:
            own.journal.is_rewind = is_rewind
            return write(own)

        done = await self._call_in_thread(tree.recorder, write_in_thread)
        tree.recorder.journal.refresh()
        return done

    async def _call_in_thread(self, recorder: Recorder, work: Callable[[Recorder], Read]) -> Read:
        """Call a function in a thread, with another recorder of the same work tree."""
        return await self.pool.use(recorder.workspace.repository.work_tree, work)

    def _notify(self, tree: WatchedTree, made: Iterable[int], *, queue: bool) -> list[str]:
        """Queue notices of these reverts and redos. Return the sessions that will get a notice.

        Without `queue`, queue nothing, but remove the queued notices that the new notices cancel out.
        """
        notices = find_notices(tree.recorder, made)
        if not queue:
            self.notices.withdraw(notices)
            return []
        return [*self.notices.add(notices, self.pipeline.roster.sessions.values())]

    def _tree(self, cwd: str | None) -> WatchedTree:
        tree = self.trees.find(cwd or str(self.main_work_tree))
        if tree is None:
            raise UsageError(
                f"{cwd} is not in a work tree of {self.main_work_tree}",
                hint="Run the command in a work tree: `git worktree list` lists them.",
            )
        return tree

    def _readers(self, cwd: str | None, *, here: bool = False) -> tuple[dict[str, Recorder], str]:
        """Return the recorders by name of work tree, and the name of the current tree.

        With `here`, return only the recorder of the current tree.
        """
        tree = self._tree(cwd)
        name = tree.recorder.workspace.label
        return ({name: tree.recorder} if here else self.trees.readers(tree)), name

    async def _select(self, cwd: str | None, selection: Selection) -> tuple[WatchedTree, Selection]:
        """Return the work tree of a selection, and the same selection without names of work trees.

        The action `main:12` becomes `12`.
        """
        readers, current = self._readers(cwd)
        names = selection.actions

        def find(readers: Mapping[str, Recorder]) -> list[tuple[Path, str]]:
            return [find_action(name, readers, current, _find) for name in names]

        if names:
            is_quick = len(names) <= MAX_NAMED
            found = find(readers) if is_quick else await self.pool.use_all(_roots(readers), find)
            roots = list(dict.fromkeys(root for root, _ in found))
        else:
            found = []
            others = [recorder for name, recorder in readers.items() if name != current]
            holders = (one for one in (readers[current], *others) if _holds(one, selection))
            roots = [next(holders, readers[current]).workspace.repository.work_tree]
        if len(roots) > 1:
            raise UsageError(
                "the actions are in several work trees", hint="Name actions of one work tree at a time."
            )
        return self._tree(str(roots[0])), replace(selection, actions=[name for _, name in found])


def _roots(readers: Mapping[str, Recorder]) -> dict[str, Path]:
    return {label: recorder.workspace.repository.work_tree for label, recorder in readers.items()}


def _newest(tree: WatchedTree) -> Oid | None:
    """Return the commit of a work tree's newest record, or None."""
    tree.recorder.journal.refresh()
    records = tree.recorder.timeline.records
    return records[-1].oid if records else None


def _refuse_long_file(path: Path) -> None:
    with suppress(OSError, ValueError), path.open("rb") as file:
        lines = sum(1 for _ in islice(file, MAX_BLAMED_LINES + 1))
        if lines > MAX_BLAMED_LINES:
            raise UsageError(
                f"{path.name} has more than {MAX_BLAMED_LINES:,} lines",
                hint="Name one of them: `chorus blame FILE:LINE`.",
            )


def _takes_long_to_blame(recorder: Recorder, path: RepoPath) -> bool:
    if len([*islice(recorder.timeline.touching(path), MAX_TRACED)]) == MAX_TRACED:
        return True
    try:
        return (recorder.workspace.repository.work_tree / path).lstat().st_size > MAX_TRACED_BYTES
    except (OSError, ValueError):
        return False


def _with_notes(entry: LogEntryJson, notes: Mapping[str, list[NoteStateJson]]) -> LogEntryJson:
    mine = notes.get(entry["id"] or "")
    return {**entry, "notes": mine} if mine else entry


def _find(recorder: Recorder, name: str) -> tuple[Path, str]:
    find_entry(recorder.entries(), name)
    return recorder.workspace.repository.work_tree, name


def _holds(recorder: Recorder, selection: Selection) -> bool:
    """True if the history has actions of the selection's lane or turns."""
    lanes = lane_spellings(selection.lane) if selection.lane is not None else ()
    held = [entry for entry in recorder.entries() if not lanes or entry.lane in lanes]
    known = {entry.turn for entry in held if entry.turn}
    return any(find_turns(known, name) for name in selection.turns) if selection.turns else bool(held)


def _names(actions: Iterable[ActionName]) -> list[str]:
    return [str(action) for action in actions]


def _turns(arguments: ActionSelection) -> list[str]:
    turn = arguments.get("turn")
    return [*([turn] if turn is not None else []), *arguments.get("turns", ())]


def _apply_landing(
    work_tree: Path, plan: LandingPlan, pending: PendingLanding, *, dry_run: bool
) -> LandingResult:
    workspace = Workspace.open(work_tree)
    try:
        return apply_landing(workspace, plan, pending, dry_run=dry_run)
    finally:
        workspace.close()
