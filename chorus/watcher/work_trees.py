"""The watched work trees of the repository: the recorder, the file watch and the call windows of each.

A work tree takes the outcomes of the sessions that work in it and the reports of its file watch, and reads
and records what these call for, in order. This is the only place where the watcher writes history.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, assert_never

from chorus.changes.call_windows import (
    CallWindows,
    RecordCallWindow,
    RecordNamedPaths,
    RecordOutsideAt,
    RecordOutsideEverywhere,
    RecordUnchanged,
    WindowEffect,
)
from chorus.errors import ChorusError
from chorus.history.log.entry import entry_json
from chorus.history.log.memory_log import LogChanges
from chorus.history.recorder import Recorder
from chorus.model.action import Action
from chorus.model.ids import RepoPath
from chorus.model.json_api import ActionEvent, EventJson, LogEntryJson
from chorus.model.outcomes import LeadTextAdded, Outcome, SessionLinked, StatusCorrected
from chorus.review.landing.recovery import recover_landing
from chorus.review.revert.apply import recover_revert
from chorus.store.maintenance.side_store import LOOSE_LIMIT, pack_if_due
from chorus.system.file_watch import FileWatch
from chorus.system.pinned_directory import PinnedDirectory
from chorus.watcher.sources.changed_paths import ChangedPaths
from chorus.wire.home import Home, NotARepository, find_work_tree

# A call whose write is seen ends within this time, or counts as one whose end is never reported.
HOLD_SECONDS = 3.0
# A session records a few hundred objects in this time; checking is one listing of a directory.
PACK_SECONDS = 60.0

# Whether the client still waits. Called after a file was read: if not, the client may have written it.
IsWaiting = Callable[[], bool]


class WatchedTree:
    def __init__(
        self, work_tree: Path, wake: Callable[[], None], *, hold_seconds: float = HOLD_SECONDS
    ) -> None:
        self.recorder = Recorder.open(work_tree)
        repository = self.recorder.workspace.repository
        self.root = repository.work_tree
        self.directory = PinnedDirectory(self.root)
        self.windows = CallWindows()
        self._wake = wake
        self.watch = FileWatch(self.root, repository.git_dir, wake=wake)
        self._changed_paths = ChangedPaths(self.root, self.watch)
        # Ended calls whose file holds more than their change, while another call that names it is still open.
        self._held: list[Action] = []
        self._held_source = ""
        self._held_until = 0.0
        self._hold_seconds = hold_seconds
        self._news = LogChanges(self.recorder.journal)
        self._late = False

    def start(self) -> None:
        self.watch.start()
        self.recorder.start()
        recover_revert(self.recorder)
        recover_landing(self.recorder)
        self._wake()  # a scan of the whole tree finds what changed while no watcher ran

    def close(self) -> None:
        self._held_until = 0.0
        with self.directory.ignore_if_removed():
            self.record_held()
        self.watch.stop()
        self.recorder.close()
        self.directory.close()

    async def feed(self, outcomes: Sequence[Outcome], *, source: str, is_waiting: IsWaiting | None) -> None:
        """Perform what the outcomes call for. `is_waiting`: the client waits until this is done.

        A source that does not make the client wait reports a call when it may already have written, so
        nothing is read before it; the recorder tells its change from others by the client's report.
        """
        # The hook did not wait any longer: the client may have written more by now, not yet reported.
        self._late = is_waiting is not None and not is_waiting()
        named: list[Action] = []
        for outcome in outcomes:
            if isinstance(outcome, LeadTextAdded):
                self._record_named(named, source)  # they may be of one of these
                named = []
            self._remember(outcome)
            for effect in self.windows.feed(outcome):
                if isinstance(effect, RecordNamedPaths):
                    named.append(effect.action)
                elif is_waiting is not None or not isinstance(effect, RecordOutsideAt):
                    self._record_named(named, source)
                    named = []
                    await self._perform(effect, source=source, is_waiting=is_waiting)
        self._record_named(named, source)

    def replay(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes from before the watcher ran, so that calls that are still open are known."""
        for outcome in outcomes:
            self.windows.feed(outcome)

    def record_outside(self, *, grace_seconds: float) -> bool:
        """Record what changed some time ago as outside changes. Return True if there is more to come.

        Only while no call may be writing anywhere. A recent change may still be claimed by a call that is
        about to be reported.
        """
        ready = self._changed_paths.take_settled(grace_seconds)
        if ready is not None:
            self.recorder.record_outside(ready.where, self.windows.open_paths | self._spare)
        return self._changed_paths.any_left or bool(self._held)

    def take_new_entries(self) -> list[LogEntryJson]:
        """Return the log entries that are new or different since the last call."""
        return [entry_json(entry) for entry in self._news.take()]

    @property
    def has_changes(self) -> bool:
        """Whether anything changed that is not recorded yet."""
        self._changed_paths.gather()
        return self._changed_paths.any_change or bool(self._held)

    @property
    def is_new(self) -> bool:
        """Whether nothing was recorded since the file watch began."""
        return self._changed_paths.is_new

    def _remember(self, outcome: Outcome) -> None:
        """Record outcomes that change no file but belong to the history."""
        match outcome:
            case StatusCorrected(identity, status):
                self.recorder.correct_status(identity, status)
            case LeadTextAdded(identity, lead_text):
                self.recorder.set_summary(identity, lead_text)
            case SessionLinked(session, parent) if session != parent:
                self.recorder.link_sessions(session, parent)
            case _:
                pass

    def record_held(self) -> None:
        """Record the calls held for the end of another, if it has come or is no longer waited for."""
        self._record_named([], self._held_source)

    def _record_named(self, actions: list[Action], source: str) -> None:
        """Record ended calls, after those held before. The order of reports is not always the order of
        writes.
        """
        if not (self._held or actions):
            return
        if not self._held:
            self._held_until = time.monotonic() + self._hold_seconds
        ended = [*self._held, *actions]
        patient = time.monotonic() < self._held_until
        behind = {path for action in actions for path in action.paths} if self._late else set()
        if self.recorder.record_named_paths(
            ended, source, self.windows.open_paths | behind, wait_for_open_calls=patient
        ):
            self._held = []
        else:
            self._held, self._held_source = ended, source
            self._wake()

    @property
    def _spare(self) -> frozenset[str]:
        return frozenset(path for action in self._held for path in action.paths)

    async def _perform(self, effect: WindowEffect, *, source: str, is_waiting: IsWaiting | None) -> None:
        match effect:
            case RecordOutsideAt(paths):
                assert is_waiting is not None
                self.recorder.record_before_call(
                    [path for path in paths if path not in self._spare], is_waiting=is_waiting
                )
            case RecordOutsideEverywhere(exclude, until):
                await self._changed_paths.settle()
                if is_waiting is None:
                    self._sweep_until(until, exclude | self._spare)
                else:
                    self._sweep_before(exclude | self._spare, is_waiting)
            case RecordNamedPaths(action):
                self._record_named([action], source)
            case RecordCallWindow(action, exclude, shared):
                await self._changed_paths.settle()
                hints = self._paths_for(action)
                self.recorder.record_window(action, hints, exclude | self._spare, source, shared=shared)
            case RecordUnchanged(action):
                self.recorder.record_unchanged(action, source)
            case _:
                assert_never(effect)

    def _paths_for(self, action: Action) -> set[RepoPath] | set[str] | None:
        """Return the paths to check for a call's changes: those the client lists if the watch lost events."""
        report = action.report
        if report is not None and report.complete:
            self._changed_paths.gather()
            if self._late or (self.is_new and self._changed_paths.are_lost):
                return set(report.changed)
        return self._changed_paths.take().where

    def _sweep_before(self, exclude: frozenset[str], is_waiting: IsWaiting) -> None:
        """Record every change, unless the client goes on meanwhile: then it is left for the call's window."""
        taken = self._changed_paths.take()
        where = taken.where
        if (where is None or where) and not self.recorder.record_before_call(
            where, exclude, is_waiting=is_waiting
        ):
            self._changed_paths.put_back(taken)

    def _sweep_until(self, until: str | None, exclude: frozenset[str]) -> None:
        """Record what was written before that time; later changes are left for the call's window."""
        self._changed_paths.gather()
        if until is None or self._changed_paths.are_lost:
            return
        earlier = self._changed_paths.take_until(until)
        if earlier.reported:
            self.recorder.record_outside(earlier.where, exclude)


log = logging.getLogger("chorus.watcher")


class Publisher(Protocol):
    @property
    def subscribers(self) -> int: ...

    def publish(self, event: EventJson) -> None: ...


class WatchedTrees:
    """The work trees in use, found by a directory in them. Each is opened on first use and closed when it is
    removed.
    """

    def __init__(self, home: Home, publisher: Publisher) -> None:
        self.all: dict[Path, WatchedTree] = {}
        self.changed = asyncio.Event()  # set from any thread
        self._home = home
        self._publisher = publisher
        self._gone: list[WatchedTree] = []

    def find(self, cwd: str) -> WatchedTree | None:
        """Return the work tree of this repository that `cwd` is in, or None."""
        try:
            root, home = find_work_tree(Path(cwd))
        except NotARepository:
            return None
        if home != self._home:
            return None
        if root in self.all and not self.all[root].directory.is_there():
            self._leave(root)
        if root not in self.all:
            loop = asyncio.get_running_loop()
            tree = WatchedTree(root, wake=lambda: _wake(loop, self.changed))
            tree.start()
            self.all[root] = tree
        return self.all[root]

    def present(self) -> list[WatchedTree]:
        """Return the trees that exist, and close the others. The caller holds the pipeline's lock."""
        for root in [root for root, tree in self.all.items() if not tree.directory.is_there()]:
            self._leave(root)
        while self._gone:
            self._gone.pop().close()
        return list(self.all.values())

    def publish_changes(self) -> None:
        """Publish every log entry that is new or different since the last time."""
        if self._publisher.subscribers:
            for root, tree in self.all.items():
                for entry in tree.take_new_entries():
                    self._publisher.publish(ActionEvent(event="action", entry=entry, work_tree=str(root)))

    async def pack_forever(self) -> None:
        """Pack what was recorded now and then, on a thread beside the loop."""
        while True:
            await asyncio.sleep(PACK_SECONDS)
            # All work trees of a repository share one store.
            for tree in list(self.all.values())[:1]:
                workspace = tree.recorder.workspace
                try:
                    packed = await asyncio.to_thread(
                        pack_if_due, workspace.repository.git, workspace.store, LOOSE_LIMIT
                    )
                except (ChorusError, OSError) as error:
                    log.warning("cannot pack the store: %s", error)
                else:
                    if packed:
                        log.info("packed %d objects", packed)

    def close(self) -> None:
        for tree in (*self.all.values(), *self._gone):
            tree.close()

    def _leave(self, root: Path) -> None:
        log.info("stopped watching %s: it was removed", root)
        self._gone.append(self.all.pop(root))
        self.changed.set()  # so that the tree is closed soon


def _wake(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Set the event from a thread of the file watch, perhaps after the loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)
