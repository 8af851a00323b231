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
    """Run `work` as a task that ends with `node`.

    A new task of a `group` in LATEST_ONLY cancels the one before.

    Pass the function and its arguments, not a coroutine: a coroutine created while the panel closes would
    never be awaited, and Python would warn about it.
    """
    task: Callable[[], Coroutine[Any, Any, None]] = partial(work, *args, **kwargs)
    _: Worker[None] = node.run_worker(task, group=group, exclusive=group in LATEST_ONLY)


def run_in_thread(work: Callable[[], T], then: Callable[[T], object]) -> None:
    """Run `work` in a thread of its own, then call `then` with its result on the event loop.

    The thread is a daemon: closing the panel does not wait for it, as it would for the event loop's own
    thread pool.
    """
    loop = asyncio.get_running_loop()

    def run() -> None:
        result = work()
        with suppress(RuntimeError):  # the panel closed meanwhile
            loop.call_soon_threadsafe(then, result)

    threading.Thread(target=run, name="chorus-background", daemon=True).start()
