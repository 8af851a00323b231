"""Paths reported by the file watch, with and without its barrier."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from watchdog.events import FileSystemEvent
from watchdog.observers.api import EventEmitter

from chorus.model.ids import RepoPath
from chorus.system.file_watch.file_watch import BARRIER_DIRECTORY, FileWatch, WatchedChanges
from chorus.system.this_system import IS_LINUX
from chorus.watcher.sources import changed_paths
from chorus.watcher.sources.changed_paths import MAX_MISSED_BARRIERS, ChangedPaths
from tests.watcher.clock import Clock

needs_order = pytest.mark.skipif(not IS_LINUX, reason="elsewhere the whole tree is scanned")


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[ChangedPaths]:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    watch = FileWatch(tmp_path, tmp_path / ".git", wake=lambda: None)
    watch.start()
    watch.take()
    yield ChangedPaths(tmp_path, watch)
    watch.stop()


@needs_order
async def test_lines_from_before_are_history_and_later_ones_are_new(watched: ChangedPaths) -> None:
    for n in range(20):
        (watched.root / "src" / str(n)).touch()
        await watched.settle()
        assert f"src/{n}" in watched.take().reported


async def test_a_file_watch_without_barriers_is_not_waited_for_forever(
    watched: ChangedPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a watchdog that deals otherwise with what it does not know."""
    queue_event = EventEmitter.queue_event

    def lose_marks(emitter: EventEmitter, event: FileSystemEvent) -> None:
        if BARRIER_DIRECTORY not in str(event.src_path):
            queue_event(emitter, event)

    monkeypatch.setattr(EventEmitter, "queue_event", lose_marks)
    watched.barrier_timeout_seconds = 0.05
    for _ in range(MAX_MISSED_BARRIERS):
        await watched.settle()
        assert watched.take().where is None  # the whole tree: what was not reported in time may be anywhere
    watched.barrier_timeout_seconds = 600.0  # whoever waits for that now, waits for ever

    start = time.monotonic()
    await watched.settle()
    assert time.monotonic() - start < 300.0
    assert watched.take().where is None


@needs_order
async def test_a_file_watch_with_a_late_barrier_is_waited_for_again(watched: ChangedPaths) -> None:
    watched.barrier_timeout_seconds = 0.0
    for _ in range(MAX_MISSED_BARRIERS):
        await watched.settle()
        watched.take()
    watched.barrier_timeout_seconds = 60.0
    async with asyncio.timeout(60):
        while watched._missed_barriers >= MAX_MISSED_BARRIERS:
            await asyncio.sleep(0.001)

    (watched.root / "src/new").touch()
    await watched.settle()
    assert "src/new" in watched.take().reported


@needs_order
@pytest.mark.parametrize(
    ("until", "taken"),
    [
        ("2100-01-01T00:00:00Z", {"a"}),
        ("1970-01-01T00:00:00Z", set()),
        ("2026-13-45T99:00:00Z", set()),
        ("0001-01-01T00:00:00", set()),
        ("yesterday", set()),
    ],
)
async def test_paths_written_before_a_time_are_taken_and_none_for_an_invalid_time(
    watched: ChangedPaths, until: str, taken: set[str]
) -> None:
    for name, stamp in (("a", 1_700_000_000), ("b", 4_200_000_000)):
        (watched.root / name).touch()
        os.utime(watched.root / name, (stamp, stamp))
    await watched.settle()

    assert set(watched.take_until(until).reported) == taken


@needs_order
async def test_a_file_made_with_an_old_time_was_not_written_before_that(watched: ChangedPaths) -> None:
    """As `cp -p`, `touch -d` and `tar` make it."""
    before = datetime.now(UTC).isoformat()
    (watched.root / "copy").touch()
    os.utime(watched.root / "copy", (1_700_000_000, 1_700_000_000))
    await watched.settle()
    assert not watched.take_until(before).reported
    assert "copy" in watched.take().reported


@needs_order
async def test_a_file_that_is_gone_was_not_written_before_a_call(watched: ChangedPaths) -> None:
    kept, gone = watched.root / "src/kept", watched.root / "src/gone"
    for path in (kept, gone):
        path.touch()
        os.utime(path, (1, 1))
    await watched.settle()
    gone.unlink()
    await watched.settle()
    assert set(watched.take_until("2100-01-01T00:00:00Z").reported) == {"src/kept"}
    assert "src/gone" in watched.take().reported


class FakeWatch:
    """A file watch that reports what a test says, and whose barrier a test lets pass."""

    def __init__(self) -> None:
        self.next = WatchedChanges({}, head=False, lost=False)
        self.has_barrier = True
        self.barriers: list[Callable[[], None]] = []

    def report(self, *paths: str, head: bool = False, lost: bool = False, at: float = 0.0) -> None:
        self.next = WatchedChanges(dict.fromkeys(map(RepoPath, paths), at), head=head, lost=lost)

    def take(self) -> WatchedChanges:
        taken, self.next = self.next, WatchedChanges({}, head=False, lost=False)
        return taken

    def flush_barrier(self, then: Callable[[], None]) -> bool:
        self.barriers.append(then)
        return self.has_barrier


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(changed_paths, "time", clock)
    return clock


@pytest.fixture
def watch() -> FakeWatch:
    return FakeWatch()


@pytest.fixture
def paths(tmp_path: Path, watch: FakeWatch, clock: Clock) -> ChangedPaths:
    return ChangedPaths(tmp_path, cast(FileWatch, watch))


def test_a_file_written_before_a_call_ended_was_changed_by_then_however_late_it_is_reported(
    paths: ChangedPaths, watch: FakeWatch
) -> None:
    for name in ("its", "again", "later", "gone"):
        (paths.root / name).touch()
    (paths.root / "gone").unlink()
    ended = (paths.root / "its").stat().st_mtime + 0.1
    for name in ("again", "later"):
        os.utime(paths.root / name, (ended + 1, ended + 1))
    watch.report("its", at=ended + 9)
    paths.gather()
    watch.report("again", "gone", at=ended)
    paths.gather()
    watch.report("later", at=ended + 9)
    assert paths.take_ended(ended) == {"its", "again", "gone"}
    assert paths.take().where == {"again", "later", "gone"}


def test_a_path_is_settled_once_it_was_not_reported_again_for_a_while(
    paths: ChangedPaths, watch: FakeWatch, clock: Clock
) -> None:
    watch.report("a", "b")
    assert not paths.is_settled(10)
    assert paths.take_settled(10) is None
    clock.now = 105
    watch.report("b")
    assert paths.take_settled(10) is None
    clock.now = 110
    assert paths.is_settled(10)
    taken = paths.take_settled(10)
    assert taken is not None
    assert (taken.reported, taken.where, taken.lost_since) == ({"a": 100}, {"a"}, None)
    assert paths.any_left
    clock.now = 115
    last = paths.take_settled(10)
    assert last is not None
    assert last.where == {"b"}
    assert not paths.any_left
    assert paths.take_settled(10) is None


def test_a_lost_change_is_settled_once_nothing_was_reported_for_a_while(
    paths: ChangedPaths, watch: FakeWatch, clock: Clock
) -> None:
    watch.report(lost=True)
    assert paths.is_settled(10)
    assert paths.are_lost
    assert paths.take_settled(10) is None
    clock.now = 104
    watch.report("a", lost=True)
    paths.gather()
    clock.now = 110  # the loss of 100 is old enough, the path of 104 is not
    assert paths.take_settled(10) is None
    clock.now = 114
    taken = paths.take_settled(10)
    assert taken is not None
    assert (taken.where, taken.lost_since) == (None, 100)
    assert not paths.are_lost
    assert not paths.any_change


def test_a_moved_head_is_a_change_without_a_path(paths: ChangedPaths, watch: FakeWatch, clock: Clock) -> None:
    assert not paths.any_change
    assert paths.is_settled(10)
    watch.report(head=True)
    assert paths.is_settled(10)
    assert (paths.any_left, paths.any_change) == (False, True)
    paths.gather()
    assert paths.any_change  # it stays one until it is taken
    taken = paths.take_settled(10)
    assert taken is not None
    assert taken.where == set()
    assert not paths.any_change


def test_a_moved_head_waits_for_the_paths_that_are_not_settled(
    paths: ChangedPaths, watch: FakeWatch, clock: Clock
) -> None:
    watch.report("a", head=True)
    assert paths.is_settled(10)  # it may be
    assert paths.take_settled(10) is None
    clock.now = 110
    taken = paths.take_settled(10)
    assert taken is not None
    assert taken.where == {"a"}
    assert not paths.any_change


def test_one_settled_path_is_reason_enough_to_look(
    paths: ChangedPaths, watch: FakeWatch, clock: Clock
) -> None:
    watch.report("a")
    paths.gather()
    clock.now = 109
    watch.report("b")
    assert not paths.is_settled(10)
    clock.now = 110
    assert paths.is_settled(10)


def test_what_is_taken_can_be_put_back(paths: ChangedPaths, watch: FakeWatch, clock: Clock) -> None:
    watch.report("a", "b", lost=True, head=True)
    taken = paths.take()
    assert (dict(taken.reported), taken.lost_since, taken.was_never_scanned) == (
        {"a": 100, "b": 100},
        100,
        True,
    )
    assert not paths.is_new
    assert not paths.any_change
    clock.now = 105
    watch.report("b")
    paths.gather()
    paths.put_back(taken)
    assert paths.is_new
    again = paths.take()
    assert (dict(again.reported), again.lost_since) == ({"a": 100, "b": 105}, 100)


def test_what_is_put_back_does_not_hide_a_later_loss(
    paths: ChangedPaths, watch: FakeWatch, clock: Clock
) -> None:
    watch.report("a")
    taken = paths.take()
    assert paths.is_new  # nothing was lost, so the first scan is still to come
    clock.now = 105
    watch.report(lost=True)
    paths.gather()
    paths.put_back(taken)
    assert paths.take().lost_since == 105


def test_after_the_first_scan_a_tree_is_not_new(paths: ChangedPaths, watch: FakeWatch) -> None:
    watch.report(lost=True)
    paths.take()
    watch.report("a")
    assert not paths.take().was_never_scanned
    assert not paths.is_new


async def test_without_a_barrier_the_whole_tree_is_scanned(
    paths: ChangedPaths, watch: FakeWatch, clock: Clock
) -> None:
    watch.has_barrier = False
    await paths.settle()
    assert len(watch.barriers) == 1
    clock.now = 105
    await paths.settle()
    assert len(watch.barriers) == 1  # no use: the whole tree is scanned in any case
    assert paths.take().lost_since == 100


async def test_a_settled_watch_has_reported_what_came_before_its_barrier(
    paths: ChangedPaths, watch: FakeWatch
) -> None:
    settling = asyncio.create_task(paths.settle())
    while not watch.barriers:
        await asyncio.sleep(0)
    watch.report("late")
    watch.barriers[0]()
    await settling
    assert paths._reported.keys() == {"late"}
    assert not paths.are_lost


async def test_a_barrier_that_is_missed_once_is_tried_again(paths: ChangedPaths, watch: FakeWatch) -> None:
    paths.barrier_timeout_seconds = 0.0
    for times in range(1, MAX_MISSED_BARRIERS + 3):
        watch.report("a")
        await paths.settle()
        assert len(watch.barriers) == min(times, MAX_MISSED_BARRIERS)
        assert paths.take().where is None


async def test_a_loss_reported_with_the_late_barrier_keeps_its_first_time(
    paths: ChangedPaths, watch: FakeWatch, clock: Clock
) -> None:
    settling = asyncio.create_task(paths.settle())
    while not watch.barriers:
        await asyncio.sleep(0)
    watch.report(lost=True)
    paths.gather()
    clock.now = 105
    paths._note_loss()
    watch.barriers[0]()
    await settling
    assert paths.take().lost_since == 100


async def test_a_barrier_that_comes_after_the_loop_has_ended_is_ignored(
    paths: ChangedPaths, watch: FakeWatch
) -> None:
    loop = asyncio.new_event_loop()
    paths.barrier_timeout_seconds = 0.0
    await asyncio.to_thread(loop.run_until_complete, paths.settle())
    loop.close()
    watch.barriers[0]()
    assert paths.are_lost


def test_a_write_within_the_slack_of_the_clocks_is_left_for_the_call(
    paths: ChangedPaths, watch: FakeWatch
) -> None:
    begun = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
    for name, seconds in (("just.txt", 0.01), ("before.txt", 0.05), ("after.txt", -1.0)):
        (paths.root / name).touch()
        os.utime(paths.root / name, (begun - seconds, begun - seconds))
    watch.report("just.txt", "before.txt", "after.txt")
    paths.gather()
    assert paths.take_until("2100-01-01T00:00:00Z").where == {"before.txt"}
    assert paths._reported.keys() == {"just.txt", "after.txt"}
