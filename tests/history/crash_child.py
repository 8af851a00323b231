"""A process that records and is killed, before one of its system calls or at a random moment."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Every call through which a recorder changes what is on disk.
WRITING_CALLS = (
    "open", "write", "pwrite", "rename", "replace", "link", "unlink", "mkdir", "fsync", "ftruncate", "utime",
)  # fmt: skip


def run_and_die(work: Callable[[], object], at_call: int | None = None) -> int:
    """Run `work` in a child that kills itself before writing call number `at_call`.

    Gives the number of calls it made, or -1 if it died.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with counted(at_call) as count:
            work()
        os.write(writing, str(count[0]).encode())
        os._exit(0)
    os.close(writing)
    answer = os.read(reading, 20)
    os.close(reading)
    os.waitpid(child, 0)
    return int(answer) if answer else -1


def run_and_be_killed(work: Callable[[], object], within_seconds: float, dice: random.Random) -> bool:
    """Run `work` in a child and kill it at a random moment. True if it finished."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    time.sleep(dice.random() * within_seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFEXITED(status)


@contextmanager
def counted(at_call: int | None) -> Iterator[list[int]]:
    """Count the writing calls of this process; die before one of them."""
    count = [0]

    def wrapped(call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **options: Any) -> Any:
            if count[0] == at_call:
                os.kill(os.getpid(), signal.SIGKILL)
            count[0] += 1
            return call(*arguments, **options)

        return counting

    kept = {name: getattr(os, name) for name in WRITING_CALLS}
    for name, call in kept.items():
        setattr(os, name, wrapped(call))
    try:
        yield count
    finally:
        for name, call in kept.items():
            setattr(os, name, call)
