"""Paths reported by the file watch, with and without its barrier."""

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.events import FileSystemEvent
from watchdog.observers.api import EventEmitter

from chorus.system.file_watch.file_watch import BARRIER_DIRECTORY, FileWatch
from chorus.system.this_system import IS_LINUX
from chorus.watcher.sources.changed_paths import MAX_MISSED_BARRIERS, ChangedPaths

needs_order = pytest.mark.skipif(not IS_LINUX, reason="elsewhere the whole tree is scanned")


@pytest.fixture
def hints(tmp_path: Path) -> Iterator[ChangedPaths]:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    watch = FileWatch(tmp_path, tmp_path / ".git", wake=lambda: None)
    watch.start()
    watch.take()
    yield ChangedPaths(tmp_path, watch)
    watch.stop()


@needs_order
async def test_lines_from_before_are_history_and_later_ones_are_new(hints: ChangedPaths) -> None:
    for n in range(20):
        (hints.root / "src" / str(n)).touch()
        await hints.settle()
        assert f"src/{n}" in hints.take().reported


async def test_a_file_watch_without_barriers_is_not_waited_for_forever(
    hints: ChangedPaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a watchdog that deals otherwise with what it does not know."""
    queue_event = EventEmitter.queue_event

    def lose_marks(emitter: EventEmitter, event: FileSystemEvent) -> None:
        if BARRIER_DIRECTORY not in str(event.src_path):
            queue_event(emitter, event)

    monkeypatch.setattr(EventEmitter, "queue_event", lose_marks)
    hints.barrier_timeout_seconds = 0.05
    for _ in range(MAX_MISSED_BARRIERS):
        await hints.settle()
        assert hints.take().where is None  # the whole tree: what was not reported in time may be anywhere
    hints.barrier_timeout_seconds = 600.0  # whoever waits for that now, waits for ever

    start = time.monotonic()
    await hints.settle()
    assert time.monotonic() - start < 300.0
    assert hints.take().where is None


@needs_order
async def test_a_file_watch_with_a_late_barrier_is_waited_for_again(hints: ChangedPaths) -> None:
    hints.barrier_timeout_seconds = 0.0
    for _ in range(MAX_MISSED_BARRIERS):
        await hints.settle()
        hints.take()
    hints.barrier_timeout_seconds = 60.0
    async with asyncio.timeout(60):
        while hints._missed_barriers >= MAX_MISSED_BARRIERS:
            await asyncio.sleep(0.001)

    (hints.root / "src/new").touch()
    await hints.settle()
    assert "src/new" in hints.take().reported


@needs_order
@pytest.mark.parametrize(
    ("until", "taken"),
    [
        ("2026-01-01T00:00:00Z", {"a"}),
        ("1970-01-01T00:00:00Z", set()),
        ("2026-13-45T99:00:00Z", set()),
        ("0001-01-01T00:00:00", set()),
        ("yesterday", set()),
    ],
)
async def test_paths_written_before_a_time_are_taken_and_none_for_an_invalid_time(
    hints: ChangedPaths, until: str, taken: set[str]
) -> None:
    for name, stamp in (("a", 1_700_000_000), ("b", 1_900_000_000)):
        (hints.root / name).touch()
        os.utime(hints.root / name, (stamp, stamp))
    await hints.settle()

    assert set(hints.take_until(until).reported) == taken


@needs_order
async def test_a_file_that_is_gone_was_not_written_before_a_call(hints: ChangedPaths) -> None:
    kept, gone = hints.root / "src/kept", hints.root / "src/gone"
    for path in (kept, gone):
        path.touch()
        os.utime(path, (1, 1))
    await hints.settle()
    gone.unlink()
    await hints.settle()
    assert set(hints.take_until("2026-01-01T00:00:00Z").reported) == {"src/kept"}
    assert "src/gone" in hints.take().reported
