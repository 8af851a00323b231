"""Run blocking work on a thread beside the loop. No such thread delays the end of the watcher.

`asyncio.to_thread` would: its threads are waited for at the end, however long their work takes. What is cut
off there was written to be cut off anywhere, as by a kill.
"""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def run_in_thread(
    work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Call a function on a thread of its own, and wait for what it returns or raises.

    If the caller is cancelled, the thread goes on, and what comes of it is forgotten.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Result] = loop.create_future()

    def settle(result: Callable[[], None]) -> None:
        if not ended.done():  # cancelled
            result()

    def report(result: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result)

    def run() -> None:
        try:
            result = work(*arguments, **named)
        except BaseException as error:  # noqa: BLE001  raised where it is waited for
            raised = error
            report(lambda: ended.set_exception(raised))
        else:
            report(lambda: ended.set_result(result))

    threading.Thread(target=run, name=getattr(work, "__name__", "beside"), daemon=True).start()
    return await ended


def from_any_thread(work: Callable[[], Result]) -> Callable[[], Result]:
    """Make a function of the loop callable from threads beside it. It runs on the loop; they wait for it."""
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
