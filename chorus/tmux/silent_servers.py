"""Servers that did not reply in time: they are not asked again for a while.

A stopped server accepts connections and never replies. After one timeout, every call fails at once for
RETRY_SECONDS instead of waiting again.
"""

import time

from chorus.tmux.address import Address
from chorus.tmux.errors import ServerTimeout

RETRY_SECONDS = 10.0

# The server -> when it may be asked again.
_silent: dict[Address, float] = {}


def raise_if_silent(address: Address) -> None:
    if _silent.get(address, 0.0) > time.monotonic():
        raise ServerTimeout(str(address.socket))


def note_timeout(address: Address) -> ServerTimeout:
    """Remember that the server did not reply, and return the error to raise."""
    _silent[address] = time.monotonic() + RETRY_SECONDS
    return ServerTimeout(str(address.socket))


def note_reply(address: Address) -> None:
    _silent.pop(address, None)
