"""What happens to the watcher when one of its tasks fails."""

import asyncio

import pytest

from chorus.store.lock_file import CannotWrite, LockHeld
from chorus.watcher.tasks import Tasks


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
