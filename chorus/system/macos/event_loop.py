"""An event loop that waits with `select`.

On macOS, kqueue and `poll` never report that the last writer of a named pipe is gone. `select` takes 1,024
descriptors, far more than the watcher has.
"""

import asyncio
import selectors


def create_event_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(selectors.SelectSelector())
