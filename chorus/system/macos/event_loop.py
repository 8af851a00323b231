"""An event loop that waits with `select`.

kqueue, the default on macOS, and `poll`, which is built on it there, never report that the last writer of a
named pipe is gone; the end of a pane's output would go unnoticed. The watcher has far fewer than the 1,024
descriptors that `select` takes.
"""

import asyncio
import selectors


def create_event_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(selectors.SelectSelector())
