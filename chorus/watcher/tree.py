"""One work tree as the agent sees it: its recorder, its file watch, and whose change is whose.

Receives what pairing says of the sessions that work here, and "something moved" from the watch.
Performs the looks and records these call for, in order. The only place where the agent writes
history.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import assert_never

from chorus.changes.call_windows import (
    CallWindows,
    RecordCallWindow,
    RecordNamedPaths,
    RecordOutsideAt,
    RecordOutsideEverywhere,
    RecordUnchanged,
    WindowEffect,
)
from chorus.history.log.entry import entry_json
from chorus.history.log.memory_log import LogChanges
from chorus.history.recorder import Recorder
from chorus.model.action import Action
from chorus.model.ids import RepoPath
from chorus.model.json_api import LogEntryJson
from chorus.model.outcomes import LeadTextAdded, Outcome, SessionLinked, StatusCorrected
from chorus.review.landing.recovery import recover_landing
from chorus.review.revert.apply import recover_revert
from chorus.system.file_watch import FileWatch
from chorus.system.pinned_directory import PinnedDirectory
from chorus.watcher.sources.file_hints import Hints

# A call whose write is seen ends within this time, or is taken for one that never told of its end.
HOLD_SECONDS = 3.0

# Whether the client still stands still. Asked after a look, for what was seen may be its doing otherwise.
Waits = Callable[[], bool]


class Tree:
    def __init__(
        self, work_tree: Path, wake: Callable[[], None], *, hold_seconds: float = HOLD_SECONDS
    ) -> None:
        self.recorder = Recorder.open(work_tree)
        repository = self.recorder.workspace.repository
        self.root = repository.work_tree
        self.place = PinnedDirectory(self.root)
        self.windows = CallWindows()
        self._wake = wake
        self.watch = FileWatch(self.root, repository.git_dir, wake=wake)
        self._hints = Hints(self.root, self.watch)
        # Ended calls whose file holds more than they did, while another call that names it is still open.
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
        self._wake()  # what changed while nobody watched is found by one look at everything

    def close(self) -> None:
        self._held_until = 0.0
        with self.place.ignore_if_removed():
            self.record_held()
        self.watch.stop()
        self.recorder.close()
        self.place.close()

    async def feed(self, outcomes: Sequence[Outcome], *, source: str, waits: Waits | None) -> None:
        """Perform what the outcomes call for. `waits`: the client stands still until this is done.

        Who did not make the client wait learns of a call when it may already have written, so there
        is no look before it; the recorder tells its change from others' by what the client says of it.
        """
        # Told of by a hook that could not wait: the client may have written more by now, unheard of yet.
        self._late = waits is not None and not waits()
        named: list[Action] = []
        for outcome in outcomes:
            if isinstance(outcome, LeadTextAdded):
                self._record_named(named, source)  # they may be of one of these
                named = []
            self._remember(outcome)
            for effect in self.windows.feed(outcome):
                if isinstance(effect, RecordNamedPaths):
                    named.append(effect.action)
                elif waits is not None or not isinstance(effect, RecordOutsideAt):
                    self._record_named(named, source)
                    named = []
                    await self._perform(effect, source=source, waits=waits)
        self._record_named(named, source)

    def recall(self, outcomes: Sequence[Outcome]) -> None:
        """What happened before we watched, or before we were killed: calls that still run are known again."""
        for outcome in outcomes:
            self.windows.feed(outcome)

    def sweep(self, *, grace_seconds: float) -> bool:
        """Record as outside what moved and has been left alone for a while. True: there is more to come.

        Only while no call may be writing anywhere. What moved just now may still be claimed by a call
        that is about to be told of.
        """
        ready = self._hints.take_settled(grace_seconds)
        if ready is not None:
            self.recorder.record_outside(ready.where, self.windows.open_paths | self._spare)
        return self._hints.left or bool(self._held)

    def news(self) -> list[LogEntryJson]:
        """The entries that are new or different since the last call."""
        return [entry_json(entry) for entry in self._news.take()]

    @property
    def moved(self) -> bool:
        """Whether there is anything to sweep."""
        self._hints.gather()
        return self._hints.moved or bool(self._held)

    @property
    def is_new(self) -> bool:
        """Whether nothing was looked at since the watch began."""
        return self._hints.is_new

    def _remember(self, outcome: Outcome) -> None:
        """What changes no file, and still belongs to the history."""
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
        """Record the calls that wait for another's end, if that has come or is not waited for any more."""
        self._record_named([], self._held_source)

    def _record_named(self, actions: list[Action], source: str) -> None:
        """Record ended calls, those held back before them. What is told first was not always done first."""
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

    async def _perform(self, effect: WindowEffect, *, source: str, waits: Waits | None) -> None:
        match effect:
            case RecordOutsideAt(paths):
                assert waits is not None
                self.recorder.record_before_call(
                    [path for path in paths if path not in self._spare], is_waiting=waits
                )
            case RecordOutsideEverywhere(exclude, until):
                await self._hints.settle()
                if waits is None:
                    self._sweep_until(until, exclude | self._spare)
                else:
                    self._sweep_before(exclude | self._spare, waits)
            case RecordNamedPaths(action):
                self._record_named([action], source)
            case RecordCallWindow(action, exclude, shared):
                await self._hints.settle()
                hints = self._hints_for(action)
                self.recorder.record_window(action, hints, exclude | self._spare, source, shared=shared)
            case RecordUnchanged(action):
                self.recorder.record_unchanged(action, source)
            case _:
                assert_never(effect)

    def _hints_for(self, action: Action) -> set[RepoPath] | set[str] | None:
        """Where to look for what a call did. The client's own list tells apart what moved unwatched."""
        report = action.report
        if report is not None and report.complete:
            self._hints.gather()
            if self._late or (self.is_new and self._hints.are_lost):
                return set(report.changed)
        return self._hints.take().where

    def _sweep_before(self, exclude: frozenset[str], waits: Waits) -> None:
        """Everything that moved, unless the client goes on meanwhile: then it stays for the window."""
        taken = self._hints.take()
        where = taken.where
        if (where is None or where) and not self.recorder.record_before_call(
            where, exclude, is_waiting=waits
        ):
            self._hints.put_back(taken)

    def _sweep_until(self, until: str | None, exclude: frozenset[str]) -> None:
        """What moved before that moment; what moved later stays for the window."""
        self._hints.gather()
        if until is None or self._hints.are_lost:
            return
        earlier = self._hints.take_until(until)
        if earlier.told:
            self.recorder.record_outside(earlier.where, exclude)
