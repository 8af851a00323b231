"""Work that goes on beside the panel's messages.

Receives the function and its arguments rather than a running coroutine: one that is asked for while
the panel closes is dropped without a trace.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from textual.dom import DOMNode
from textual.worker import Worker

# Of these only the last one asked for matters.
LATEST_ONLY = frozenset({"show", "preview"})

P = ParamSpec("P")
T = TypeVar("T")


def start_work(
    node: DOMNode,
    group: str,
    work: Callable[P, Coroutine[Any, Any, None]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> None:
    task: Callable[[], Coroutine[Any, Any, None]] = partial(work, *args, **kwargs)
    _: Worker[None] = node.run_worker(task, group=group, exclusive=group in LATEST_ONLY)


def in_background(work: Callable[[], T], then: Callable[[T], object]) -> None:
    """Run `work` in a thread of its own and give what it returns to `then`, on this loop.

    The thread is a daemon: closing the panel does not wait for it, as it would for the loop's own pool.
    """
    loop = asyncio.get_running_loop()

    def run() -> None:
        result = work()
        with suppress(RuntimeError):  # the panel closed meanwhile
            loop.call_soon_threadsafe(then, result)

    threading.Thread(target=run, name="chorus-background", daemon=True).start()
