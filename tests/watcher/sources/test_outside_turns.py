"""Each turn of the loop that records outside changes, with work trees that only note what they are asked."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from chorus.model.action import Call, WriteScope
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.outcomes import SessionDiscovered, SessionEnded
from chorus.model.session import SessionTable
from chorus.watcher.sources import outside_changes
from chorus.watcher.sources.outside_changes import (
    GRACE_SECONDS,
    GRACE_SECONDS_WITHOUT_HOOKS,
    OutsideChanges,
)
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.work_trees import WatchedTrees

CALL = Call(ToolUseId("c"), "Bash", {}, (), WriteScope.ANYWHERE)


class FakeDirectory:
    there = True

    def is_there(self) -> bool:
        return self.there

    def ignore_if_removed(self) -> AbstractContextManager[None]:
        return nullcontext() if self.there else suppress(FileNotFoundError)


@dataclass
class FakeWindows:
    only: Call | None = None

    @property
    def open(self) -> bool:
        return self.only is not None


@dataclass
class FakeWatch:
    needs_scan: bool = False


@dataclass(eq=False)
class FakeTree:
    """Notes what it is asked to record."""

    windows: FakeWindows = field(default_factory=FakeWindows)
    directory: FakeDirectory = field(default_factory=FakeDirectory)
    watch: FakeWatch = field(default_factory=FakeWatch)
    has_changes: bool = False
    is_due: bool = True
    is_new: bool = False
    more: bool = False
    asked: list[Any] = field(default_factory=list)

    async def record_held(self) -> None:
        if not self.directory.there:
            raise FileNotFoundError
        self.asked.append("held")

    async def settle(self) -> None:
        self.asked.append("settle")

    async def record_while_asked(self, is_asked: Callable[[Call], bool]) -> None:
        self.asked.append(("while asked", is_asked(CALL)))

    async def record_outside(self, *, grace_seconds: float) -> bool:
        self.asked.append(("outside", grace_seconds))
        return self.more

    def may_record_outside(self, *, grace_seconds: float) -> bool:
        self.asked.append(("may", grace_seconds))
        return self.is_due


@dataclass
class FakeTrees:
    trees: list[FakeTree]
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    published: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    @property
    def all(self) -> dict[int, FakeTree]:
        return dict(enumerate(self.trees))

    def present(self) -> list[FakeTree]:
        return self.trees

    def publish_changes(self) -> None:
        self.published.release()


@dataclass
class FakeTranscripts:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    reads: int = 0

    @property
    def pipeline(self) -> "FakeTranscripts":
        return self

    async def read(self) -> None:
        assert self.lock.locked()
        self.reads += 1


class Watched:
    def __init__(self, *trees: FakeTree) -> None:
        self.trees = FakeTrees(list(trees))
        self.roster = SessionTable()
        self.transcripts = FakeTranscripts()
        self.source = OutsideChanges(
            cast(WatchedTrees, self.trees),
            self.roster,
            cast(TranscriptSource, self.transcripts),
            lambda call: call is CALL,
        )

    async def turn(self) -> None:
        """Wait until a change that is signalled now is dealt with."""
        self.trees.changed.set()
        async with asyncio.timeout(30):
            await self.trees.published.acquire()


@pytest.fixture
async def run(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Watched]]:
    monkeypatch.setattr(outside_changes, "GRACE_SECONDS", 0.0)
    tasks: list[asyncio.Task[None]] = []

    def start(*trees: FakeTree) -> Watched:
        watched = Watched(*trees)
        tasks.append(asyncio.create_task(watched.source.run()))
        return watched

    yield start
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


Run = Callable[..., Watched]


async def test_a_change_is_recorded_as_outside_after_the_transcripts_are_read(run: Run) -> None:
    tree = FakeTree()
    watched = run(tree)
    await asyncio.sleep(0.01)
    assert tree.asked == []  # nothing changed
    await watched.turn()
    assert tree.asked == [("may", 0.0), "held", ("outside", 0.0)]
    assert watched.transcripts.reads == 1
    assert not watched.trees.changed.is_set()


async def test_what_is_left_is_looked_at_again(run: Run) -> None:
    done, left = FakeTree(), FakeTree(more=True)
    watched = run(done, left)
    await watched.turn()
    async with asyncio.timeout(30):
        await watched.trees.published.acquire()  # without another change
    left.more = False
    await watched.turn()


async def test_nothing_is_read_while_no_change_is_settled(run: Run) -> None:
    tree = FakeTree(is_due=False)
    watched = run(tree)
    watched.trees.changed.set()
    while len(tree.asked) < 3:
        await asyncio.sleep(0)
    assert set(tree.asked) == {("may", 0.0)}
    assert watched.transcripts.reads == 0
    assert watched.trees.published.locked()


async def test_one_tree_that_is_due_is_reason_enough_to_look(run: Run) -> None:
    still, due = FakeTree(is_due=False), FakeTree()
    await run(still, due).turn()
    assert "held" in still.asked
    assert "held" in due.asked


async def test_without_a_work_tree_transcripts_are_read_all_the_same(run: Run) -> None:
    watched = run()
    await watched.turn()
    assert watched.transcripts.reads == 1


async def test_a_removed_tree_is_looked_at_until_it_is_closed(run: Run) -> None:
    tree = FakeTree(is_due=False)
    tree.directory.there = False
    watched = run(tree)
    await watched.turn()
    assert tree.asked[-1] == ("may", 0.0)
    async with asyncio.timeout(30):
        await watched.trees.published.acquire()  # without another change


@pytest.mark.parametrize("changes", [True, False])
async def test_while_a_call_is_open_only_what_changes_while_the_user_is_asked_is_outside(
    run: Run, changes: bool
) -> None:
    tree = FakeTree(FakeWindows(CALL), has_changes=changes, is_due=False)
    watched = run(tree)
    await watched.turn()
    assert tree.asked[:2] == (["held", ("while asked", True)] if changes else ["held"])
    assert ("outside", 0.0) not in tree.asked
    await asyncio.sleep(0.01)
    assert watched.trees.published.locked() is not changes  # what is left is looked at again


async def test_a_tree_without_a_file_watch_is_scanned_now_and_then(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outside_changes, "SCAN_SECONDS", 0.0)
    blind = run(FakeTree(), FakeTree(watch=FakeWatch(needs_scan=True)))
    seeing = run(FakeTree())
    async with asyncio.timeout(30):
        await blind.trees.published.acquire()
        await blind.trees.published.acquire()
    assert seeing.trees.published.locked()


async def test_before_an_answer_is_given_the_trees_with_one_open_call_are_recorded() -> None:
    asking, idle = FakeTree(FakeWindows(CALL)), FakeTree()
    watched = Watched(asking, idle)
    await watched.source.record_before_answer()
    assert asking.asked == ["settle", ("while asked", True)]
    assert idle.asked == []
    assert watched.transcripts.reads == 1


LIVE, LATE = SessionId("live"), SessionId("late")


@pytest.mark.parametrize(
    ("sessions", "is_new", "grace"),
    [
        ([], False, GRACE_SECONDS),
        ([], True, GRACE_SECONDS),
        ([(LIVE, "hook")], False, GRACE_SECONDS),
        ([(LIVE, "hook")], True, GRACE_SECONDS_WITHOUT_HOOKS),
        ([(LIVE, "hook"), (LATE, "transcript")], False, GRACE_SECONDS_WITHOUT_HOOKS),
        ([(LATE, "transcript")], False, GRACE_SECONDS_WITHOUT_HOOKS),
    ],
)
def test_a_call_that_is_reported_late_has_longer_to_claim_a_change(
    sessions: list[tuple[SessionId, str]], is_new: bool, grace: float
) -> None:
    tree = FakeTree(is_new=is_new)
    watched = Watched(tree)
    for session, source in sessions:
        watched.roster.feed(SessionDiscovered(session, "/"), time="", source=source)
    watched.source._is_due(cast(Any, tree))
    assert tree.asked == [("may", grace)]
    for session, source in sessions:  # those that are gone report nothing
        watched.roster.feed(SessionEnded(session, None), time="", source=source)
    watched.source._is_due(cast(Any, tree))
    assert tree.asked[1] == ("may", GRACE_SECONDS)
