"""The default event loop, which waits with epoll."""

import asyncio


def create_event_loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()
