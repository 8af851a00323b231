"""The watched work trees of the repository: the recorder, the file watch and the call windows of each.

A `WatchedTree` records the changes that its sessions' outcomes and its file watch report.
"""

import asyncio
import logging
import os
import stat
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar, assert_never

from chorus.agents.interface import Source
from chorus.changes.call_windows import (
    CallWindows,
    RecordCallWindow,
    RecordNamedPaths,
    RecordOutsideAt,
    RecordOutsideEverywhere,
    RecordUnchanged,
)
from chorus.errors import ChorusError
from chorus.history.disk_changes.attribution import EndedCall, paths_of_calls
from chorus.history.log.entry import entry_json
from chorus.history.log.memory_log import LogChanges
from chorus.history.recorder import Recorder
from chorus.history.records import Edit
from chorus.model.action import Action, Call
from chorus.model.api.json_api import ActionEvent, EventJson, LogEntryJson
from chorus.model.ids import RepoPath, ToolUseId
from chorus.model.lru import LruDict
from chorus.model.outcomes import (
    ActionClosed,
    CallOpened,
    CallStarted,
    LeadTextAdded,
    Outcome,
    StatusCorrected,
)
from chorus.review.landing.recovery import recover_landing
from chorus.review.revert.apply import recover_revert
from chorus.store.maintenance.side_store import LOOSE_LIMIT, pack_if_due
from chorus.store.maintenance.user_copies import copy_new_commits
from chorus.store.objects.tree_object import TreeEntry
from chorus.store.repository import Repository
from chorus.store.worktree.work_tree import MAX_PARTS
from chorus.system.file_watch.file_watch import FileWatch
from chorus.system.files.file_systems import is_remote
from chorus.system.files.pinned_directory import PinnedDirectory
from chorus.watcher.background_threads import from_any_thread, run_in_thread
from chorus.watcher.recorder_pool import RecorderPool
from chorus.watcher.sources.changed_paths import CLOCK_SLACK_SECONDS, ChangedPaths, parse_moment
from chorus.wire.home import Home, NotARepository, find_work_tree, list_work_trees

# How long an ended call is held, to be recorded together with calls that wrote at the same time. An open call
# that has not ended by then counts as one whose end is never reported.
HOLD_SECONDS = 3.0
# The client writes its transcripts up to a quarter of a second late, not all at the same moment.
TRANSCRIPT_DELAY_SECONDS = 0.3
# How often to check whether recorded objects should be packed. A session records a few hundred objects in
# this time. The check lists one directory.
PACK_SECONDS = 60.0

# How long it takes, after the user has committed, until other users of the repository can read the commit.
COPY_SECONDS = 1.0
# How often to look for new commits where the file watch should have reported them.
WATCHED_COPY_SECONDS = 60.0

# The most that is recorded on the event loop: some hundredths of a second of work. More is recorded in a
# thread.
MAX_QUICK_PATHS = 50
MAX_QUICK_BYTES = 2**20

# How many directories named by events are remembered, each with its work tree.
MAX_ROOTS = 100
# A root that was checked this recently is not checked again: each event asks for its root several times.
ROOT_SECONDS = 0.01
RootStamp = tuple[int, int, int, int, int]

OtherEffect = RecordOutsideAt | RecordOutsideEverywhere | RecordUnchanged
# Returns whether the client still waits. Called after a file was read: if the client no longer waits, it may
# have written the file before it was read.
IsWaiting = Callable[[], bool]

Written = TypeVar("Written")


def is_polled(repository: Repository) -> bool:
    """True if `chorus.fileWatch` is `poll`, or by default if the work tree is on a remote disk."""
    method = repository.config.get("chorus.filewatch")
    return method == "poll" or (method != "native" and is_remote(repository.work_tree))


class WatchedTree:
    def __init__(
        self,
        work_tree: Path,
        wake: Callable[[], None],
        *,
        on_head: Callable[[], None] = lambda: None,
        hold_seconds: float = HOLD_SECONDS,
        pool: RecorderPool | None = None,
    ) -> None:
        self.recorder = Recorder.open(work_tree)
        repository = self.recorder.workspace.repository
        self.root = repository.work_tree
        self.directory = PinnedDirectory(self.root)
        self._has_one_clock = self.root.stat().st_dev == repository.git_dir.stat().st_dev
        self._is_remote = is_remote(self.root)
        self.windows = CallWindows()
        self._pool = pool or RecorderPool()
        self._wake = wake
        self.watch = FileWatch(
            self.root, repository.git_dir, wake=wake, on_head=on_head, polling=is_polled(repository)
        )
        self._changed_paths = ChangedPaths(self.root, self.watch)
        # Changes found by a scan, because there is no file watch. They become outside changes if no call
        # claims them within the grace period.
        self._found: dict[RepoPath, TreeEntry | None] = {}
        self._found_at = 0.0
        # Ended calls that are not recorded yet: more events wait to be read, or a file that they changed also
        # holds another change, which may be an open call's.
        self._held: list[EndedCall] = []
        self._held_source = ""
        self._held_until = 0.0
        self._hold_seconds = hold_seconds
        self._all_reported_at = 0.0  # when all transcripts show the calls that ended before the last command
        self._news = LogChanges(self.recorder.journal)
        self._late = False
        self.more_to_come = False  # more events wait to be read: the calls they end are recorded together
        # Returns whether there are events that are not read yet. May be called from any thread.
        self.has_unread: Callable[[], bool] = lambda: False

    def start(self) -> None:
        self.watch.start()
        self.recorder.start()
        recover_revert(self.recorder)
        recover_landing(self.recorder)
        self._wake()  # a scan of the whole tree finds what changed while no watcher ran

    def close(self) -> None:
        with self.directory.ignore_if_removed():
            if self._held:
                self.recorder.record_ended(self._held, self._held_source, self.windows.open_paths)
        self.watch.stop()
        self.recorder.close()
        self.directory.close()

    async def feed(
        self,
        outcomes: Sequence[Outcome],
        *,
        source: str,
        is_waiting: IsWaiting | None,
        reported_at: float | None = None,
    ) -> None:
        """Record the changes that the outcomes show, or hold the ended calls to record them later.

        `is_waiting`: returns whether the client still waits; None if it did not wait at all. `reported_at`:
        when the client reported the outcomes, by the clock of the repository's disk. If the client did not
        wait, a call may have written before its start is reported, so its files are not read at its start.
        """
        # If the client does not wait, it may have written more by now, which is not reported yet.
        self._late = is_waiting is None or not is_waiting()
        closed = {outcome.action.id for outcome in outcomes if isinstance(outcome, ActionClosed)}
        # Calls of which only the end was reported: their files were not read before they wrote.
        unannounced = {
            outcome.call.id
            for outcome in outcomes
            if isinstance(outcome, CallOpened) and outcome.call.id in closed
        }
        ended: list[EndedCall] = []
        for outcome in outcomes:
            if isinstance(outcome, LeadTextAdded):
                await self._record_ended(ended, source)  # the text may belong to one of these calls
                ended = []
            self._remember(outcome)
            for effect in self.windows.feed(outcome):
                match effect:
                    case RecordNamedPaths(action, ended_at):
                        late = self._late or action.id in unannounced
                        until = self._end_of_late_call(reported_at, ended_at)
                        in_window = self.windows.open
                        ended.append(EndedCall(action, is_late=late, in_window=in_window, until=until))
                    case RecordCallWindow(action, shared, ended_at, began):
                        await self._changed_paths.settle()
                        until = self._end_of_late_call(reported_at, ended_at)
                        if until is not None and source == Source.TRANSCRIPT.value:
                            ago = time.time() - until
                            self._all_reported_at = time.monotonic() - ago + TRANSCRIPT_DELAY_SECONDS
                        where = self._paths_for(action, until)
                        announced = source != Source.TRANSCRIPT.value and action.id not in unannounced
                        since = parse_moment(began)
                        since = None if since is None or self._is_remote else since - CLOCK_SLACK_SECONDS
                        ended.append(
                            EndedCall(
                                action,
                                where,
                                shared,
                                self._late,
                                until=until,
                                since=since,
                                is_announced=announced,
                            )
                        )
                    case RecordOutsideAt() if is_waiting is None or _call_of(outcome) in unannounced:
                        pass
                    case _:
                        await self._record_ended(ended, source)
                        ended = []
                        await self._perform(effect, source=source, is_waiting=is_waiting)
        await self._record_ended(ended, source)

    def replay(self, outcomes: Sequence[Outcome]) -> None:
        """Open and close call windows from outcomes that are history. Record nothing."""
        for outcome in outcomes:
            self.windows.feed(outcome)

    async def record_outside(self, *, grace_seconds: float) -> bool:
        """Record changes older than `grace_seconds` as outside changes. Return True if some changes are left.

        A call that is about to be reported may have made a newer change. Call this method only while no call
        window is open.
        """
        exclude = self.windows.open_paths | self._held_paths
        if self._may_be_anywhere:
            return True
        if self.watch.needs_scan or self._found:
            if not self._found:
                self._changed_paths.take()
                self._found = await self._write(None, lambda recorder: recorder.find_changes(None, exclude))
                self._found_at = time.monotonic()
            if self._found and time.monotonic() - self._found_at >= grace_seconds:
                await self._record_found(exclude)
        elif (ready := self._changed_paths.take_settled(grace_seconds)) is not None:
            await self._write(ready.where, lambda recorder: recorder.record_outside(ready.where, exclude))
        return self._changed_paths.any_left or bool(self._held or self._found)

    async def _record_found(self, exclude: frozenset[str]) -> None:
        """Record the changes that a scan found. Files that have changed since are left for the next scan."""
        found, self._found = self._found, {}

        def record(recorder: Recorder) -> None:
            now = recorder.find_changes(found, exclude)
            same = [path for path, entry in found.items() if path in now and now[path] == entry]
            if same:
                recorder.record_outside(same, exclude)

        await self._write(found, record)

    async def settle(self) -> None:
        await self._changed_paths.settle()

    async def record_while_asked(self, is_asked: Callable[[Call], bool]) -> None:
        """If only one call window is open, and its call waits for the user's answer, record outside changes.

        `is_asked`: returns True if the call certainly still waits. If it returns False after the files were
        read, nothing is recorded. Paths that the call or a held call names are left out.
        """
        call = self.windows.only
        if call is not None and not self._may_be_anywhere:
            await self._record_outside_before(
                self.windows.open_paths | self._held_paths, lambda: is_asked(call)
            )

    def may_record_outside(self, *, grace_seconds: float) -> bool:
        """False only if no call is held and all reported changes are still too new to be recorded."""
        return bool(self._held or self._found) or self._changed_paths.is_settled(grace_seconds)

    def take_new_entries(self) -> list[LogEntryJson]:
        """Return the log entries that are new or different since the last call."""
        label = self.recorder.workspace.label
        return [entry_json(entry, label) for entry in self._news.take()]

    @property
    def has_changes(self) -> bool:
        """True if there may be changes that are not recorded yet."""
        self._changed_paths.gather()
        return self._changed_paths.any_change or bool(self._held)

    @property
    def is_new(self) -> bool:
        """True until the whole tree has been scanned once since the file watch began."""
        return self._changed_paths.is_new

    def _remember(self, outcome: Outcome) -> None:
        """Record outcomes that change no file but belong to the history."""
        match outcome:
            case StatusCorrected(identity, status):
                self.recorder.correct_status(identity, status)
            case LeadTextAdded(identity, lead_text):
                self.recorder.set_summary(identity, lead_text)
            case _:
                pass

    @property
    def any_held(self) -> bool:
        return bool(self._held)

    async def record_held(self) -> None:
        """Try again to record the held calls."""
        await self._record_ended([], self._held_source)

    async def _record_ended(self, calls: list[EndedCall], source: str) -> None:
        """Record these ended calls together with the held calls. If any of them must wait, hold them all.

        They are recorded together, because the order of reports may differ from the order of writes.
        """
        if not (self._held or calls):
            return
        if not self._held:
            self._held_until = time.monotonic() + self._hold_seconds
        ended = [*self._held, *calls]
        started = time.monotonic()
        may_wait = started < self._held_until

        def is_overtaken(recorder: Recorder) -> bool:
            """True if calls were reported while a thread read the files. These calls may have written too."""
            return recorder is not self.recorder and self.has_unread()

        def record(recorder: Recorder) -> bool:
            open_paths = self.windows.open_paths
            return recorder.record_ended(
                ended,
                source,
                open_paths,
                wait_for_open_calls=may_wait,
                is_overtaken=lambda: is_overtaken(recorder),
            )

        is_early = may_wait and started < self._all_reported_at
        if self.more_to_come or is_early or not await self._write(paths_of_calls(ended), record):
            self._held_until += time.monotonic() - started  # the time to read a large tree does not count
            self._held, self._held_source = ended, source
            self._wake()
        else:
            self._held = []

    async def _write(self, where: Collection[str] | None, write: Callable[[Recorder], Written]) -> Written:
        """Call `write` with a recorder, in a thread unless the files at the paths `where` are few and small.

        `where`: the paths that `write` reads; None if it may read any path, which needs a thread.
        The caller holds the pipeline's lock. While a thread records, the event loop's own recorder shows the
        old history.
        """
        if where is not None and self._is_quick(where):
            return write(self.recorder)

        def write_in_thread(recorder: Recorder) -> Written:
            recorder.journal.is_rewind = self.recorder.journal.is_rewind
            return write(recorder)

        written = await self._pool.use(self.root, write_in_thread)
        self.recorder.journal.refresh()
        return written

    def _is_quick(self, where: Collection[str]) -> bool:
        """True if there are few files at these paths, and both old and new contents are small."""
        left = [self.root / path for path in where]
        count = size = recorded = 0
        while left and count <= MAX_QUICK_PATHS and max(size, recorded) <= MAX_QUICK_BYTES:
            path = left.pop()
            count += 1
            with suppress(OSError, ValueError):
                state = path.lstat()
                if stat.S_ISDIR(state.st_mode):
                    left += islice(path.iterdir(), MAX_QUICK_PATHS)
                else:
                    size += state.st_size
            recorded += self.recorder.recorded_size(str(path))
        return not left and max(size, recorded) <= MAX_QUICK_BYTES

    @property
    def _held_paths(self) -> frozenset[str]:
        return frozenset(path for call in self._held for path in _may_have_written(call))

    @property
    def _may_be_anywhere(self) -> bool:
        """True if a held call may have written to any path."""
        return any(call.where is None for call in self._held)

    async def _perform(self, effect: OtherEffect, *, source: str, is_waiting: IsWaiting | None) -> None:
        match effect:
            case RecordOutsideAt(paths):
                assert is_waiting is not None
                if self._may_be_anywhere:
                    return  # the held call may have written there
                where = [path for path in paths if path not in self._held_paths]
                waits = from_any_thread(is_waiting)
                await self._write(where, lambda one: one.record_before_call(where, is_waiting=waits))
            case RecordOutsideEverywhere(exclude, until):
                await self._changed_paths.settle()
                if is_waiting is not None and is_waiting() and not exclude:
                    # The client waits and no open call names a path: held calls need not wait any longer.
                    self._held_until = 0.0
                    await self.record_held()
                if self._may_be_anywhere:
                    return
                if is_waiting is None:
                    await self._record_outside_until(until, exclude | self._held_paths)
                else:
                    await self._record_outside_before(exclude | self._held_paths, is_waiting)
            case RecordUnchanged(action):
                self.recorder.record_unchanged(action, source)
            case _:
                assert_never(effect)

    def _end_of_late_call(self, reported_at: float | None, ended: str | None) -> float | None:
        """Return the latest time at which a call that was reported late can have ended.

        None if the report is not late, or if its time cannot be compared with the times of files.
        """
        if not self._late:
            return None
        if reported_at is not None:
            # Some disks keep times in whole seconds.
            slack = 1 if reported_at.is_integer() else CLOCK_SLACK_SECONDS
            return reported_at + slack if self._has_one_clock else None
        moment = None if self._is_remote else parse_moment(ended)
        return None if moment is None else moment + CLOCK_SLACK_SECONDS

    def _paths_for(self, action: Action, until: float | None) -> set[RepoPath] | set[str] | None:
        """Return the paths to check for a call's changes; None if they may be anywhere.

        The paths come from the file watch, except paths that changed only after `until`. For a late report,
        or in a tree that was never scanned, the client's own list is used instead if it is complete.
        """
        report = action.report
        if report is not None and report.complete:
            self._changed_paths.gather()
            if self._late or (self.is_new and self._changed_paths.are_lost):
                return set(report.changed)
        return self._changed_paths.take().where if until is None else self._changed_paths.take_ended(until)

    async def _record_outside_before(self, exclude: frozenset[str], is_waiting: IsWaiting) -> None:
        """Record all changes so far, except at the paths in `exclude`, as outside changes.

        If the client no longer waits, record nothing: the client's call may have made some of the changes.
        """
        taken, waits = self._changed_paths.take(), from_any_thread(is_waiting)
        where = taken.where
        if (where is None or where) and not await self._write(
            where, lambda one: one.record_before_call(where, exclude, is_waiting=waits)
        ):
            self._changed_paths.put_back(taken)

    async def _record_outside_until(self, until: str | None, exclude: frozenset[str]) -> None:
        """Record changes from before `until`, except at the paths in `exclude`, as outside changes.

        Record nothing if `until` is None, or if reports of the file watch are missing.
        """
        self._changed_paths.gather()
        if until is None or self._changed_paths.are_lost:
            return
        earlier = self._changed_paths.take_until(until)
        if earlier.reported:
            await self._write(earlier.where, lambda one: one.record_outside(earlier.where, exclude))


def _may_have_written(call: EndedCall) -> Sequence[str]:
    reported = call.action.report.changed if call.action.report else ()
    return (*call.action.paths, *reported, *(call.where or ()))


log = logging.getLogger("chorus.watcher")


class Publisher(Protocol):
    @property
    def subscribers(self) -> int: ...

    def publish(self, event: EventJson) -> None: ...


@dataclass(slots=True)
class _KnownRoot:
    stamp: RootStamp
    tree: WatchedTree
    checked: float


class WatchedTrees:
    """The watched work trees, found by the path of a directory in them.

    Each work tree is opened when it is first needed, and closed after it was removed.
    """

    def __init__(self, home: Home, publisher: Publisher, pool: RecorderPool) -> None:
        self._pool = pool
        self.all: dict[Path, WatchedTree] = {}
        self.changed = asyncio.Event()  # set from any thread
        self._head_moved = asyncio.Event()
        self._home = home
        self._publisher = publisher
        self._gone: list[WatchedTree] = []
        self._roots: LruDict[str, _KnownRoot] = LruDict(MAX_ROOTS)  # found before
        self._readers: dict[Path, Recorder] = {}  # of trees that are only read
        # Returns whether a client has just set this file back to an earlier turn.
        self.was_rewound: Callable[[Path], bool] = lambda path: False
        # Returns whether there are events that are not read yet.
        self.has_unread: Callable[[], bool] = lambda: False

    def find(self, cwd: str) -> WatchedTree | None:
        """Return the work tree of this repository that `cwd` is in, or None."""
        if cwd.count("/") > MAX_PARTS:
            return None
        known = self._roots.get(cwd)
        if known is not None and time.monotonic() - known.checked < ROOT_SECONDS:
            return known.tree
        stamp = _stamp_root(cwd)
        if known is not None and known.stamp == stamp and known.tree.directory.is_there():
            known.checked = time.monotonic()
            return known.tree
        tree = self._find(cwd)
        # Only a root is remembered. A directory below it may become part of another repository at any time.
        if tree is not None and stamp is not None:
            self._roots[cwd] = _KnownRoot(stamp, tree, time.monotonic())
        return tree

    def _find(self, cwd: str) -> WatchedTree | None:
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
            tree = WatchedTree(
                root,
                wake=lambda: _wake(loop, self.changed),
                on_head=lambda: _wake(loop, self._head_moved),
                pool=self._pool,
            )
            tree.recorder.journal.is_rewind = partial(self._is_rewind, root)
            tree.has_unread = self.has_unread
            tree.start()
            self.all[root] = tree
            self._head_moved.set()
            if root in self._readers:
                self._readers.pop(root).close()
        return self.all[root]

    def readers(self, here: WatchedTree | None = None) -> dict[str, Recorder]:
        """Return a recorder for each recorded work tree, by name, to read its history.

        Trees whose history cannot be read are left out. `here`: a watched tree to include in any case.
        """
        found: dict[str, Recorder] = {}
        trees = list_work_trees(self._home)
        for root in self._readers.keys() - trees.values():
            self._readers.pop(root).close()
        for name, root in trees.items():
            try:
                found[name] = self._reader(root)
            except (ChorusError, OSError) as error:
                log.warning("cannot read the history of %s: %s", root, error)
        if here is not None:
            found[here.recorder.workspace.label] = here.recorder
        return found

    def _reader(self, root: Path) -> Recorder:
        if root in self.all:
            return self.all[root].recorder
        if root not in self._readers:
            self._readers[root] = Recorder.open(root)
        return self._readers[root]

    def root_of(self, cwd: str) -> Path | None:
        tree = self.find(cwd)
        return tree.root if tree is not None else None

    def record_own_change(self, root: Path, path: Path) -> None:
        """Record Chorus's own change of a file as an outside change, so that no open call can claim it.

        The caller holds the pipeline's lock.
        """
        tree = self.find(str(root))
        if tree is not None and path.is_relative_to(root):
            with tree.directory.ignore_if_removed():
                tree.recorder.record_outside([str(path.relative_to(root))], reason="hooks of Chorus")

    def _is_rewind(self, root: Path, edits: Sequence[Edit]) -> bool:
        return all(self.was_rewound(root / edit.path) for edit in edits)

    def present(self) -> list[WatchedTree]:
        """Return the trees that exist, and close the others. The caller holds the pipeline's lock."""
        for root in [root for root, tree in self.all.items() if not tree.directory.is_there()]:
            self._leave(root)
        while self._gone:
            self._gone.pop().close()
        return list(self.all.values())

    def set_more_to_come(self, more: bool) -> None:
        """Set whether more events wait to be read. If so, calls that end now are recorded later.

        The caller holds the pipeline's lock.
        """
        for tree in self.all.values():
            tree.more_to_come = more

    async def record_held(self) -> None:
        """Record held calls where possible. The caller holds the pipeline's lock."""
        for tree in list(self.all.values()):
            with tree.directory.ignore_if_removed():
                await tree.record_held()

    def publish_changes(self) -> None:
        """If there are subscribers, publish the log entries that are new or different since the last time."""
        if self._publisher.subscribers:
            for root, tree in self.all.items():
                for entry in tree.take_new_entries():
                    self._publisher.publish(ActionEvent(event="action", entry=entry, work_tree=str(root)))

    async def pack_forever(self) -> None:
        """Pack recorded objects from time to time, in a thread."""
        while True:
            await asyncio.sleep(PACK_SECONDS)
            # All work trees of a repository share one store.
            for tree in list(self.all.values())[:1]:
                workspace = tree.recorder.workspace
                try:
                    packed = await run_in_thread(
                        pack_if_due, workspace.repository.git, workspace.store, LOOSE_LIMIT
                    )
                except (ChorusError, OSError) as error:
                    log.warning("cannot pack the store: %s", error)
                else:
                    if packed:
                        log.info("packed %d objects", packed)

    async def copy_forever(self) -> None:
        """Copy the objects of the user's new commits from Chorus's store to the user's store, in a thread."""
        seen: dict[Path, tuple[int, int] | None] = {}
        while True:
            await self._wait_for_commits()
            for root, tree in list(self.all.items()):
                workspace = tree.recorder.workspace
                stamp = _stamp(workspace.repository.git_dir / "logs" / "HEAD")
                if seen.get(root) == stamp:
                    continue
                seen[root] = stamp
                try:
                    await run_in_thread(copy_new_commits, workspace.repository, workspace.store)
                except (ChorusError, OSError) as error:
                    log.warning("cannot copy the user's objects: %s", error)

    async def _wait_for_commits(self) -> None:
        """Wait until the user may have committed something."""
        is_watched = not any(tree.watch.needs_scan for tree in self.all.values())
        with suppress(TimeoutError):
            async with asyncio.timeout(WATCHED_COPY_SECONDS if is_watched else COPY_SECONDS):
                await self._head_moved.wait()
        await asyncio.sleep(COPY_SECONDS)
        self._head_moved.clear()

    def close(self) -> None:
        for tree in (*self.all.values(), *self._gone):
            tree.close()
        for reader in self._readers.values():
            reader.close()

    def _leave(self, root: Path) -> None:
        log.info("stopped watching %s: it was removed", root)
        self._roots.clear()
        self._gone.append(self.all.pop(root))
        self.changed.set()  # so that the tree is closed soon


def _call_of(outcome: Outcome) -> ToolUseId | None:
    return outcome.call.id if isinstance(outcome, CallOpened | CallStarted) else None


def _stamp_root(directory: str) -> RootStamp | None:
    """Return numbers that identify a work tree's root and its `.git`; None if it has no `.git`."""
    try:
        root, git = os.stat(directory), os.lstat(f"{directory}/.git")  # noqa: PTH116  faster; for every event
    except (OSError, ValueError):
        return None
    # A `.git` file may be rewritten to name another git directory, so its time counts. The time of a `.git`
    # directory does not: it changes with the files in it.
    changed = 0 if stat.S_ISDIR(git.st_mode) else git.st_mtime_ns
    return root.st_dev, root.st_ino, git.st_dev, git.st_ino, changed


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


def _wake(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Set the event, from a thread of the file watch. Do nothing if the loop is closed."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)
