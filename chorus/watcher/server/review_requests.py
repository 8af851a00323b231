"""The requests about history: lanes, log, show, blame, revert, redo, keep, land and drop.

A request that changes files or history takes the pipeline's lock, as every source does.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from chorus.errors import UsageError
from chorus.history.log.file_history import MemoryFileHistory
from chorus.history.log.filter import LogFilter
from chorus.history.log.joint_log import find_action, merge_entries, path_in_tree, read_each
from chorus.history.log.lookup import find_entry
from chorus.history.recorder import Recorder
from chorus.history.timeline_log import TimelineUnreadable
from chorus.history.workspace import Workspace
from chorus.model.json_api import (
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
from chorus.model.lane_name import lane_spellings
from chorus.model.requests import (
    ActionArguments,
    ActionName,
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
from chorus.review.revert.notice_text import render_notices
from chorus.watcher.note_delivery import NoteDelivery
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.server.request_handlers import Handler
from chorus.watcher.sources.pipeline import Pipeline
from chorus.watcher.work_trees import WatchedTree, WatchedTrees

# The client reads a file and replaces it some 20 ms later: what is written in between is lost. A call that
# takes longer waits for the user, and then the client reads the file again before it writes.
QUIET_SECONDS = 2.0
QUIET_POLL_SECONDS = 0.01
# Edits of one file that are followed back while other requests wait: some 0.1 ms each.
MAX_TRACED = 100


# Most changes are planned in less. With more to compare, they are planned beside the loop: a reader of its
# own takes a while to read a long history.
QUICK_SECONDS = 0.03

Read = TypeVar("Read")


class PlanningIsSlow(Exception):
    """A change cannot be planned on the loop without holding up everybody else."""


@dataclass(frozen=True, slots=True)
class ReviewRequests:
    main_work_tree: Path
    trees: WatchedTrees
    pipeline: Pipeline
    notices: NoticeQueue
    catch_up: Callable[[], Awaitable[None]]
    note_delivery: NoteDelivery
    quick_seconds: float = QUICK_SECONDS
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
        wanted: dict[str, Any] = {**arguments}
        readers, current = self._readers(wanted.pop("cwd", None), here=wanted.pop("here", False))
        log_filter = LogFilter(**wanted)
        here = readers[current].workspace.repository.work_tree

        def select(recorder: Recorder) -> list[LogEntryJson]:
            root = recorder.workspace.repository.work_tree
            path = path_in_tree(log_filter.path, here, root) if log_filter.path else None
            return recorder.log.select(log_filter._replace(path=path))

        entries = merge_entries(read_each(readers, select), log_filter.limit)
        notes = self.note_delivery.states(readers)
        return [_with_notes(entry, notes) for entry in entries] if notes else entries

    async def show(self, arguments: ShowArguments) -> ActionJson:
        readers, current = self._readers(arguments.get("cwd"))
        user_diff = arguments.get("user_diff", False)

        def show(recorder: Recorder, name: str) -> ActionJson:
            return recorder.log.show(name, user_diff=user_diff)

        return find_action(str(arguments["action"]), readers, current, show)

    async def blame(self, arguments: BlameArguments) -> list[BlameLineJson]:
        """Blame from memory. What may take seconds, git and a file with many edits, runs in a thread."""
        recorder = self._tree(arguments.get("cwd")).recorder
        name, line = arguments["path"], arguments.get("line")
        repository = recorder.workspace.repository
        path = recorder.workspace.locate(name)
        if path is not None and len([*islice(recorder.timeline.touching(path), MAX_TRACED)]) == MAX_TRACED:
            with suppress(TimelineUnreadable):
                return await asyncio.to_thread(blame_from_disk, repository.work_tree, name, line)
        by_git = await asyncio.to_thread(run_git_blame, repository.git, path, line) if path else b""
        return blame(MemoryFileHistory(recorder), name, line, by_git=by_git)

    async def hunks(self, arguments: ActionArguments) -> list[HunkJson]:
        tree, selection = self._select(arguments.get("cwd"), Selection([str(arguments["action"])]))
        return review.list_revertible_hunks(tree.recorder, selection.actions[0])

    async def note(self, arguments: NoteArguments) -> NoteJson:
        readers, current = self._readers(arguments.get("cwd"))
        name, text = str(arguments["action"]), arguments["text"]
        path, line = arguments.get("path"), arguments.get("line")
        return self.note_delivery.write(readers, current, name, text, path=path, line=line)

    async def list_notes(self, arguments: NotesArguments) -> list[NoteJson]:
        await self.catch_up()  # an edit that is not reported yet may address one
        readers, _ = self._readers(arguments.get("cwd"), here=arguments.get("here", False))
        wanted = set(arguments.get("notes", ()))
        return [note for note in self.note_delivery.all(readers) if not wanted or note["n"] in wanted]

    async def send_notes(self, arguments: NotesArguments) -> SentNotesJson:
        await self.catch_up()
        readers, _ = self._readers(arguments.get("cwd"), here=arguments.get("here", False))
        return await self.note_delivery.send(readers, arguments.get("notes", ()))

    async def pull_request(self, arguments: PullRequestArguments) -> PullRequestJson:
        await self.catch_up()
        lane = arguments["lane"]
        tree, _ = self._select(arguments.get("cwd"), Selection(lane=lane))
        notes = self.note_delivery.all(self.trees.readers(tree))
        return describe_pull_request(tree.recorder, lane, notes)

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
        tree, selection = self._select(arguments.get("cwd"), selection)
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
        tree, selection = self._select(arguments.get("cwd"), Selection(_names(arguments["actions"])))
        prepare = partial(review.prepare_redo, selection=selection)
        return await self._change(
            tree, prepare, dry_run=arguments.get("dry_run", False), notify=arguments.get("notify", True)
        )

    async def keep(self, arguments: KeepArguments) -> KeepJson:
        names = _names(arguments.get("actions", ()))
        tree, selection = self._select(
            arguments.get("cwd"), Selection(names, _turns(arguments), arguments.get("lane"))
        )
        done = review.keep(tree.recorder, selection, undo=arguments.get("undo", False))
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
            tree, _ = self._select(arguments.get("cwd"), Selection(lane=arguments["lane"]))
            own = f"{tree.recorder.workspace.label}:"
            request = replace(request, actions=[name.removeprefix(own) for name in request.actions])
            # It looks at the whole lane, and commit hooks may take minutes: both are done beside the loop.
            repository = tree.recorder.workspace.repository
            plan = await asyncio.to_thread(
                _read_beside, repository.work_tree, partial(plan_landing, request=request)
            )
            pending = PendingLanding(repository.own_dir)
            with pending.locked():
                made = await asyncio.to_thread(
                    _apply_landing, repository.work_tree, plan, pending, dry_run=dry_run
                )
                if not dry_run:
                    mark_landed(tree.recorder, made)
                    pending.clear()
        self.trees.publish_changes()
        return landing_json(plan, made, dry_run=dry_run)

    async def drop(self, arguments: DropArguments) -> DropJson:
        lane = arguments.get("lane")
        async with self.pipeline.lock:
            recorder = self._select(arguments.get("cwd"), Selection(lane=lane))[0].recorder
            if lane is not None and arguments.get("restore", False):
                return {"lanes": dropping.restore(recorder, lane)}
            return {"lanes": dropping.drop(recorder, lane)}

    async def _change(
        self,
        tree: WatchedTree,
        prepare: Callable[..., PreparedRevert],
        *,
        dry_run: bool,
        notify: bool,
    ) -> RevertJson:
        """Run a change of files and history, between two edits of a session and not in the middle of one."""
        await self.catch_up()  # an edit that is not reported yet is the session's, not an outside change
        if dry_run:
            prepared = await self._prepare(tree, prepare)
            self.trees.publish_changes()
            return {**prepared.result, "notified": []}
        deadline = time.monotonic() + QUIET_SECONDS
        while True:
            async with self.pipeline.lock:
                prepared = await self._prepare(tree, prepare)
                late = time.monotonic() > deadline
                with suppress(FileBusy):
                    busy = () if late else tree.windows.open_paths
                    done = review.apply_prepared(tree.recorder, prepared, busy=busy)
                    notified = self._notify(tree, done.get("made", ())) if notify else []
                    break
            await asyncio.sleep(QUIET_POLL_SECONDS)
        self.trees.publish_changes()
        return {**done, "notified": notified}

    async def _prepare(self, tree: WatchedTree, prepare: Callable[..., PreparedRevert]) -> PreparedRevert:
        """Plan a change: on the loop if that is quick, else beside it, with a reader of its own."""
        deadline = time.monotonic() + self.quick_seconds

        def step() -> None:
            if time.monotonic() > deadline:
                raise PlanningIsSlow

        with suppress(PlanningIsSlow):
            return prepare(tree.recorder, step=step)
        return await asyncio.to_thread(_read_beside, tree.recorder.workspace.repository.work_tree, prepare)

    def _notify(self, tree: WatchedTree, made: Iterable[int]) -> list[str]:
        """Queue notices of these reverts and redos; return the sessions that will get them."""
        notices = render_notices(tree.recorder, made)
        return [*self.notices.add(notices, self.pipeline.roster.sessions.values())]

    def _tree(self, cwd: str | None) -> WatchedTree:
        tree = self.trees.find(cwd or str(self.main_work_tree))
        if tree is None:
            raise UsageError(f"{cwd} is not in a work tree of {self.main_work_tree}")
        return tree

    def _readers(self, cwd: str | None, *, here: bool = False) -> tuple[dict[str, Recorder], str]:
        """The histories by work tree, and the name of the current one. `here`: only that one."""
        tree = self._tree(cwd)
        name = tree.recorder.workspace.label
        return ({name: tree.recorder} if here else self.trees.readers(tree)), name

    def _select(self, cwd: str | None, selection: Selection) -> tuple[WatchedTree, Selection]:
        """The work tree a selection is about, and the selection without the names of trees."""
        readers, current = self._readers(cwd)
        if selection.actions:
            found = [find_action(name, readers, current, _find) for name in selection.actions]
            roots = list(dict.fromkeys(root for root, _ in found))
        else:
            found = []
            others = [recorder for name, recorder in readers.items() if name != current]
            holders = [one for one in (readers[current], *others) if _holds(one, selection)]
            roots = [one.workspace.repository.work_tree for one in (*holders, readers[current])][:1]
        if len(roots) > 1:
            raise UsageError(
                "the actions are in several work trees", hint="Name actions of one work tree at a time."
            )
        return self._tree(str(roots[0])), replace(selection, actions=[name for _, name in found])


def _with_notes(entry: LogEntryJson, notes: Mapping[str, list[NoteStateJson]]) -> LogEntryJson:
    mine = notes.get(entry["id"] or "")
    return {**entry, "notes": mine} if mine else entry


def _find(recorder: Recorder, name: str) -> tuple[Path, str]:
    find_entry(recorder.entries(), name)
    return recorder.workspace.repository.work_tree, name


def _holds(recorder: Recorder, selection: Selection) -> bool:
    """Whether the history has actions of the selection's lane or turn."""
    lanes = lane_spellings(selection.lane) if selection.lane is not None else ()
    turns = tuple(selection.turns)
    return any(
        (not lanes or entry.lane in lanes) and (not turns or (entry.turn or "").startswith(turns))
        for entry in recorder.entries()
    )


def _names(actions: Iterable[ActionName]) -> list[str]:
    return [str(action) for action in actions]


def _turns(arguments: RevertArguments | KeepArguments) -> list[str]:
    turn = arguments.get("turn")
    return [*([turn] if turn is not None else []), *arguments.get("turns", ())]


def _read_beside(work_tree: Path, read: Callable[[Recorder], Read]) -> Read:
    """Read the history on a thread of its own: the watcher's recorder belongs to the loop."""
    with Recorder.open(work_tree) as recorder:
        return read(recorder)


def _apply_landing(
    work_tree: Path, plan: LandingPlan, pending: PendingLanding, *, dry_run: bool
) -> LandingResult:
    workspace = Workspace.open(work_tree)
    try:
        return apply_landing(workspace, plan, pending, dry_run=dry_run)
    finally:
        workspace.close()
