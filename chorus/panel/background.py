"""Background work of the panel: tasks on its event loop, and functions in threads."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from textual.dom import DOMNode
from textual.worker import Worker

# A new task of these groups cancels the one before: only the latest matters.
LATEST_ONLY = frozenset({"show", "preview", "notes"})

P = ParamSpec("P")
T = TypeVar("T")


def start_task(
    node: DOMNode,
    group: str,
    work: Callable[P, Coroutine[Any, Any, None]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> None:
    """Run `work` as a task that is cancelled when `node` is removed.

    Takes a function, not a coroutine: a coroutine created while the panel closes would never be awaited.
    """
    task: Callable[[], Coroutine[Any, Any, None]] = partial(work, *args, **kwargs)
    _: Worker[None] = node.run_worker(task, group=group, exclusive=group in LATEST_ONLY)


def run_in_thread(work: Callable[[], T], then: Callable[[T], object]) -> None:
    """Run `work` in a thread, then call `then` with the result on the event loop.

    Closing the panel does not wait for the thread.
    """
    loop = asyncio.get_running_loop()

    def run() -> None:
        result = work()
        with suppress(RuntimeError):  # the panel closed meanwhile
            loop.call_soon_threadsafe(then, result)

    threading.Thread(target=run, name="chorus-background", daemon=True).start()
