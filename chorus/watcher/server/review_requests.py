"""What can be asked of the agent about history, and what may be done to it.

The requests behind log, show, revert, redo, keep, land and drop. What changes files or history waits its
turn: one source at a time.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chorus.errors import UsageError
from chorus.history.log.filter import LogFilter
from chorus.history.workspace import Workspace
from chorus.model.json_api import ActionJson, HunkJson, KeepJson, LandJson, LaneJson, LogEntryJson, RevertJson
from chorus.review import drop as dropping
from chorus.review import operations as review
from chorus.review.landing.apply import LandingResult, apply_landing, landing_json, mark_landed
from chorus.review.landing.plan import CommitMessages, LandingPlan, plan_landing
from chorus.review.landing.recovery import PendingLanding
from chorus.review.operations import FileBusy, Selection
from chorus.review.revert.notice_text import render_notices

if TYPE_CHECKING:
    from chorus.watcher.tree import Tree
    from chorus.watcher.watcher import Watcher

# The client reads a file and writes it anew some 20 ms later: what is written in between is lost. A call
# that takes longer waits for a person, and then the client looks at the file again before it writes.
QUIET_SECONDS = 2.0
QUIET_LOOK_SECONDS = 0.01


class Reviewing:
    def __init__(self, watcher: "Watcher") -> None:
        self._watcher = watcher
        self._landing = asyncio.Lock()  # what one landing takes, the next one must not take too

    async def do_lanes(self, cwd: str | None = None) -> list[LaneJson]:
        return self._tree(cwd).recorder.log.lanes()

    async def do_log(self, cwd: str | None = None, **wanted: Any) -> list[LogEntryJson]:  # noqa: ANN401  the fields of LogFilter
        return self._tree(cwd).recorder.log.select(LogFilter(**wanted))

    async def do_show(self, action: str | int, cwd: str | None = None) -> ActionJson:
        return self._tree(cwd).recorder.log.show(str(action))

    async def do_revert(
        self,
        cwd: str | None = None,
        actions: Sequence[str | int] = (),
        turn: str | None = None,
        lane: str | None = None,
        path: Sequence[str] = (),
        *,
        hunks: Sequence[int] = (),
        dry_run: bool = False,
        with_dependents: bool = False,
        markers: bool = False,
        notify: bool = True,
    ) -> RevertJson:
        selection = Selection([str(action) for action in actions], turn, lane, path, hunks)
        await self._watcher.catch_up()  # an edit not told of yet is the session's, not an outside change
        change = partial(
            review.revert,
            selection=selection,
            dry_run=dry_run,
            with_dependents=with_dependents,
            markers=markers,
        )
        return await self._review(cwd, change, notify=notify)

    async def do_hunks(self, action: str | int, cwd: str | None = None) -> list[HunkJson]:
        return review.list_revertible_hunks(self._tree(cwd).recorder, str(action))

    async def do_redo(
        self,
        actions: Sequence[str | int],
        cwd: str | None = None,
        *,
        dry_run: bool = False,
        notify: bool = True,
    ) -> RevertJson:
        await self._watcher.catch_up()
        selection = Selection([str(action) for action in actions])
        change = partial(review.redo, selection=selection, dry_run=dry_run)
        return await self._review(cwd, change, notify=notify)

    async def do_keep(
        self,
        cwd: str | None = None,
        actions: Sequence[str | int] = (),
        turn: str | None = None,
        lane: str | None = None,
    ) -> KeepJson:
        tree = self._tree(cwd)
        done = review.keep(tree.recorder, Selection([str(action) for action in actions], turn, lane))
        self._watcher.trees.announce()
        return done

    async def do_land(
        self,
        lane: str,
        cwd: str | None = None,
        by: str = "turn",
        onto: str | None = None,
        *,
        message: str | None = None,
        messages: Sequence[Mapping[str, Any]] = (),
        dry_run: bool = False,
    ) -> LandJson:
        """`messages`: one for each commit, as `{"actions", "message"}`; nothing else lands then."""
        own = CommitMessages(message, {tuple(each["actions"]): each["message"] for each in messages})
        async with self._landing:
            tree = self._tree(cwd)
            plan = plan_landing(tree.recorder, lane, by, onto, own)
            # Commit hooks may take minutes: they run beside the loop, on a workspace of their own.
            repository = tree.recorder.workspace.repository
            pending = PendingLanding(repository.own_dir)
            with pending.locked():
                made = await asyncio.to_thread(
                    apply_landing_in_thread, repository.work_tree, plan, pending, dry_run
                )
                if not dry_run:
                    mark_landed(tree.recorder, plan, made)
                    pending.clear()
        self._watcher.trees.announce()
        return landing_json(plan, made, dry_run=dry_run)

    async def do_drop(
        self, lane: str | None = None, cwd: str | None = None, *, restore: bool = False
    ) -> dict[str, Any]:
        """Without a lane, every lane of the work tree."""
        async with self._watcher.intake.history:
            recorder = self._tree(cwd).recorder
            if lane is not None and restore:
                return {"lanes": dropping.restore(recorder, lane)}
            return {"lanes": dropping.drop(recorder, lane)}

    async def _review(
        self, cwd: str | None, change: Callable[..., RevertJson], *, notify: bool
    ) -> RevertJson:
        """Change files and history, between two edits of theirs rather than in the middle of one."""
        tree = self._tree(cwd)
        deadline = time.monotonic() + QUIET_SECONDS
        while True:
            async with self._watcher.intake.history:
                late = time.monotonic() > deadline
                with suppress(FileBusy):
                    done = change(tree.recorder, busy=() if late else tree.windows.open_paths)
                    notified = self._notify(tree, done) if notify else []
                    break
            await asyncio.sleep(QUIET_LOOK_SECONDS)
        self._watcher.trees.announce()
        return {**done, "notified": notified}

    def _notify(self, tree: "Tree", done: RevertJson) -> list[str]:
        """Let the sessions hear what was taken back or brought back; those that will."""
        notices = render_notices(tree.recorder, done.get("made", ()))
        return [*self._watcher.telling.add(notices, self._watcher.intake.roster.sessions.values())]

    def _tree(self, cwd: str | None) -> "Tree":
        """The work tree that is meant; without a place, the repository's main one."""
        tree = self._watcher.trees.find(cwd or str(self._watcher.home.common_dir.parent))
        if tree is None:
            raise UsageError(f"{cwd} is in no work tree of {self._watcher.home.common_dir}")
        return tree


def apply_landing_in_thread(
    work_tree: Path, plan: LandingPlan, pending: PendingLanding, dry_run: bool
) -> LandingResult:
    workspace = Workspace.open(work_tree)
    try:
        return apply_landing(workspace, plan, pending, dry_run=dry_run)
    finally:
        workspace.close()
