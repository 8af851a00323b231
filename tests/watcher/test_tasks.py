"""What happens to the watcher when one of its tasks fails."""

import asyncio
from types import SimpleNamespace

import pytest

from chorus.store.lock_file import CannotWrite, LockHeld
from chorus.watcher.tasks import Tasks, wait_for_beat, wait_for_either


async def fail(error: Exception) -> None:
    raise error


async def until_told(tasks: Tasks) -> None:
    while not tasks.problems:
        await asyncio.sleep(0)


async def test_a_failed_task_is_reported_and_the_others_go_on() -> None:
    tasks = Tasks(lambda: True)
    going_on = asyncio.Event()

    async def other() -> None:
        await until_told(tasks)
        going_on.set()

    tasks.start(other())
    tasks.start(fail(ValueError("a line nobody expected")))

    await asyncio.wait_for(going_on.wait(), 60)
    assert tasks.problems == {"ValueError": "a line nobody expected"}
    assert not tasks.failed.is_set()


@pytest.mark.parametrize(
    ("error", "room"),
    [
        (CannotWrite("cannot write HEAD: No space left on device"), True),
        (LockHeld("main.lock is held by another process"), True),
        (OSError("git was cut short"), False),
    ],
    ids=["what a task could not write", "a lock somebody holds", "whatever failed while there is no room"],
)
async def test_a_full_disk_fails_the_whole_watcher(error: Exception, room: bool) -> None:
    tasks = Tasks(lambda: room)

    tasks.start(fail(error))

    await asyncio.wait_for(tasks.failed.wait(), 60)
    assert list(tasks.problems.values()) == [str(error)]


async def test_a_failed_loop_is_reported_and_restarted() -> None:
    tasks = Tasks(lambda: True)
    begun: list[int] = []
    going_on = asyncio.Event()

    async def loop() -> None:
        begun.append(len(begun))
        if len(begun) < 3:
            raise ValueError(f"time {len(begun)}")
        going_on.set()
        await asyncio.Event().wait()

    tasks.run_forever(loop, restart_seconds=0)

    await asyncio.wait_for(going_on.wait(), 60)
    assert tasks.problems == {"ValueError": "time 2"}
    await tasks.cancel()
    assert len(begun) == 3


async def test_a_loop_that_failed_for_the_disk_is_left_to_the_next_watcher() -> None:
    tasks = Tasks(lambda: True)
    begun: list[int] = []

    async def loop() -> None:
        begun.append(1)
        raise CannotWrite("cannot write HEAD: No space left on device")

    tasks.run_forever(loop, restart_seconds=0)

    await asyncio.wait_for(tasks.failed.wait(), 60)
    for _ in range(10):
        await asyncio.sleep(0)
    assert begun == [1]


async def test_a_loop_that_returned_is_not_restarted() -> None:
    tasks = Tasks(lambda: True)
    begun: list[int] = []

    async def loop() -> None:
        begun.append(1)

    tasks.run_forever(loop, restart_seconds=0)

    for _ in range(10):
        await asyncio.sleep(0)
    assert begun == [1]
    assert tasks.problems == {}


async def test_a_task_that_continues_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorus.watcher.tasks.CANCEL_AGAIN_SECONDS", 0.01)
    tasks = Tasks(lambda: True)
    missed: list[int] = []

    async def stubborn() -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if missed:
                    raise
                missed.append(1)

    tasks.start(stubborn())
    await asyncio.sleep(0)

    await asyncio.wait_for(tasks.cancel(), 60)
    assert missed == [1]


async def test_loops_wake_together_at_the_next_whole_second(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    for moment in (12.25, 13.0):
        loop = SimpleNamespace(time=lambda moment=moment: moment)
        fake = SimpleNamespace(sleep=sleep, get_running_loop=lambda loop=loop: loop)
        monkeypatch.setattr("chorus.watcher.tasks.asyncio", fake)
        await wait_for_beat()
    assert slept == [0.75, 1.0]


@pytest.mark.parametrize("index", [0, 1])
async def test_either_of_two_events_ends_the_wait(index: int) -> None:
    events = asyncio.Event(), asyncio.Event()
    before = asyncio.all_tasks()
    waiting = asyncio.create_task(wait_for_either(*events))
    await asyncio.sleep(0.01)
    assert not waiting.done()
    events[index].set()
    await asyncio.wait_for(waiting, 30)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before  # nobody waits for the other one


async def test_a_failed_task_of_the_disk_is_told_from_another() -> None:
    tasks = Tasks(lambda: True)
    assert not tasks.fail(ValueError("one"))
    assert tasks.fail(CannotWrite("cannot write"))
    assert tasks.fail(ValueError("two"))  # once the disk has failed, nothing is tried again
    assert tasks.problems == {"ValueError": "two", "CannotWrite": "cannot write"}


async def test_a_cancelled_task_is_not_a_failure() -> None:
    tasks = Tasks(lambda: True)
    tasks.start(asyncio.sleep(600))
    tasks.start(asyncio.sleep(0))
    await asyncio.wait_for(tasks.cancel(), 30)
    assert (tasks.problems, tasks._all) == ({}, set())


async def test_a_failed_loop_is_restarted_after_a_while() -> None:
    tasks = Tasks(lambda: True)
    begun: list[int] = []

    async def loop() -> None:
        begun.append(1)
        raise ValueError("always")

    tasks.run_forever(loop, restart_seconds=600)
    await until_told(tasks)
    await asyncio.sleep(0.01)
    assert begun == [1]
    await tasks.cancel()
