"""The requests about history: lanes, log, show, revert, redo, keep, land and drop.

A request that changes files or history takes the pipeline's lock, as every source does.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from chorus.errors import UsageError
from chorus.history.log.filter import LogFilter
from chorus.history.workspace import Workspace
from chorus.model.json_api import (
    ActionJson,
    DropJson,
    HunkJson,
    KeepJson,
    LandJson,
    LaneJson,
    LogEntryJson,
    RevertJson,
)
from chorus.model.requests import (
    ActionArguments,
    ActionName,
    DropArguments,
    KeepArguments,
    LandArguments,
    LanesArguments,
    LogArguments,
    RedoArguments,
    RevertArguments,
)
from chorus.review import drop as dropping
from chorus.review import operations as review
from chorus.review.landing.apply import LandingResult, apply_landing, landing_json, mark_landed
from chorus.review.landing.plan import CommitMessages, LandingPlan, plan_landing
from chorus.review.landing.recovery import PendingLanding
from chorus.review.operations import FileBusy, Selection
from chorus.review.revert.notice_text import render_notices
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.server.request_handlers import Handler
from chorus.watcher.sources.pipeline import Pipeline
from chorus.watcher.work_trees import WatchedTree, WatchedTrees

# The client reads a file and replaces it some 20 ms later: what is written in between is lost. A call that
# takes longer waits for the user, and then the client reads the file again before it writes.
QUIET_SECONDS = 2.0
QUIET_POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class ReviewRequests:
    main_work_tree: Path
    trees: WatchedTrees
    pipeline: Pipeline
    notices: NoticeQueue
    catch_up: Callable[[], Awaitable[None]]
    # Two landings at once could land the same action.
    _landing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            "lanes": self.lanes,
            "log": self.log,
            "show": self.show,
            "hunks": self.hunks,
            "revert": self.revert,
            "redo": self.redo,
            "keep": self.keep,
            "land": self.land,
            "drop": self.drop,
        }

    async def lanes(self, arguments: LanesArguments) -> list[LaneJson]:
        return self._tree(arguments.get("cwd")).recorder.log.lanes()

    async def log(self, arguments: LogArguments) -> list[LogEntryJson]:
        wanted: dict[str, Any] = {**arguments}
        tree = self._tree(wanted.pop("cwd", None))
        return tree.recorder.log.select(LogFilter(**wanted))

    async def show(self, arguments: ActionArguments) -> ActionJson:
        return self._tree(arguments.get("cwd")).recorder.log.show(str(arguments["action"]))

    async def hunks(self, arguments: ActionArguments) -> list[HunkJson]:
        return review.list_revertible_hunks(
            self._tree(arguments.get("cwd")).recorder, str(arguments["action"])
        )

    async def revert(self, arguments: RevertArguments) -> RevertJson:
        selection = Selection(
            _names(arguments.get("actions", ())),
            arguments.get("turn"),
            arguments.get("lane"),
            arguments.get("path", ()),
            arguments.get("hunks", ()),
        )
        change = partial(
            review.revert,
            selection=selection,
            dry_run=arguments.get("dry_run", False),
            with_dependents=arguments.get("with_dependents", False),
            markers=arguments.get("markers", False),
        )
        return await self._change(arguments.get("cwd"), change, notify=arguments.get("notify", True))

    async def redo(self, arguments: RedoArguments) -> RevertJson:
        selection = Selection(_names(arguments["actions"]))
        change = partial(review.redo, selection=selection, dry_run=arguments.get("dry_run", False))
        return await self._change(arguments.get("cwd"), change, notify=arguments.get("notify", True))

    async def keep(self, arguments: KeepArguments) -> KeepJson:
        tree = self._tree(arguments.get("cwd"))
        names = _names(arguments.get("actions", ()))
        done = review.keep(tree.recorder, Selection(names, arguments.get("turn"), arguments.get("lane")))
        self.trees.publish_changes()
        return done

    async def land(self, arguments: LandArguments) -> LandJson:
        dry_run = arguments.get("dry_run", False)
        by_actions = {tuple(one["actions"]): one["message"] for one in arguments.get("messages", ())}
        messages = CommitMessages(arguments.get("message"), by_actions)
        async with self._landing:
            tree = self._tree(arguments.get("cwd"))
            plan = plan_landing(
                tree.recorder, arguments["lane"], arguments.get("by", "turn"), arguments.get("onto"), messages
            )
            # Commit hooks may take minutes: they run beside the loop, in a workspace of their own.
            repository = tree.recorder.workspace.repository
            pending = PendingLanding(repository.own_dir)
            with pending.locked():
                made = await asyncio.to_thread(
                    _apply_landing, repository.work_tree, plan, pending, dry_run=dry_run
                )
                if not dry_run:
                    mark_landed(tree.recorder, plan, made)
                    pending.clear()
        self.trees.publish_changes()
        return landing_json(plan, made, dry_run=dry_run)

    async def drop(self, arguments: DropArguments) -> DropJson:
        lane = arguments.get("lane")
        async with self.pipeline.lock:
            recorder = self._tree(arguments.get("cwd")).recorder
            if lane is not None and arguments.get("restore", False):
                return {"lanes": dropping.restore(recorder, lane)}
            return {"lanes": dropping.drop(recorder, lane)}

    async def _change(
        self, cwd: str | None, change: Callable[..., RevertJson], *, notify: bool
    ) -> RevertJson:
        """Run a change of files and history, between two edits of a session and not in the middle of one."""
        await self.catch_up()  # an edit that is not reported yet is the session's, not an outside change
        tree = self._tree(cwd)
        deadline = time.monotonic() + QUIET_SECONDS
        while True:
            async with self.pipeline.lock:
                late = time.monotonic() > deadline
                with suppress(FileBusy):
                    done = change(tree.recorder, busy=() if late else tree.windows.open_paths)
                    notified = self._notify(tree, done.get("made", ())) if notify else []
                    break
            await asyncio.sleep(QUIET_POLL_SECONDS)
        self.trees.publish_changes()
        return {**done, "notified": notified}

    def _notify(self, tree: WatchedTree, made: Iterable[int]) -> list[str]:
        """Queue notices of these reverts and redos; return the sessions that will get them."""
        notices = render_notices(tree.recorder, made)
        return [*self.notices.add(notices, self.pipeline.roster.sessions.values())]

    def _tree(self, cwd: str | None) -> WatchedTree:
        tree = self.trees.find(cwd or str(self.main_work_tree))
        if tree is None:
            raise UsageError(f"{cwd} is not in a work tree of {self.main_work_tree}")
        return tree


def _names(actions: Iterable[ActionName]) -> list[str]:
    return [str(action) for action in actions]


def _apply_landing(
    work_tree: Path, plan: LandingPlan, pending: PendingLanding, *, dry_run: bool
) -> LandingResult:
    workspace = Workspace.open(work_tree)
    try:
        return apply_landing(workspace, plan, pending, dry_run=dry_run)
    finally:
        workspace.close()
