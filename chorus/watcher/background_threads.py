"""Run blocking work in threads that never delay the watcher's exit.

Python joins the threads of `asyncio.to_thread` at exit. The threads of this module may end at any point, so
their work must be safe to interrupt, as by a kill.
"""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

from chorus.system.garbage_collection import garbage_collection_paused

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def run_in_thread(
    work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Call a function in a new thread, and wait for its result.

    If the caller is cancelled, the thread continues and its result is dropped.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Result] = loop.create_future()

    def settle(result: Callable[[], None]) -> None:
        if not ended.done():  # done: the caller was cancelled
            result()

    def report(result: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result)

    def run() -> None:
        try:
            # A collection during a large plan would stop the event loop too, for a tenth of a second or more.
            with garbage_collection_paused():
                result = work(*arguments, **named)
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            raised = error
            report(lambda: ended.set_exception(raised))
        else:
            report(lambda: ended.set_result(result))

    threading.Thread(target=run, name=getattr(work, "__name__", "background"), daemon=True).start()
    return await ended


def from_any_thread(work: Callable[[], Result]) -> Callable[[], Result]:
    """Wrap a function of the event loop, so that any thread can call it and wait for its result."""
    loop, loop_thread = asyncio.get_running_loop(), threading.get_ident()

    def call() -> Result:
        if threading.get_ident() == loop_thread:
            return work()
        result: concurrent.futures.Future[Result] = concurrent.futures.Future()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as error:  # noqa: BLE001  raised where it is waited for
                result.set_exception(error)

        loop.call_soon_threadsafe(run)
        return result.result()

    return call
