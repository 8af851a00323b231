"""The process at the other end of a Unix socket."""

import os
import socket

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.peer import read_peer
else:
    from chorus.system.macos.peer import read_peer

__all__ = ["belongs_to_user", "read_peer"]


def belongs_to_user(connection: socket.socket) -> bool:
    """True unless the other end is known to belong to another user."""
    _, uid = read_peer(connection)
    return uid in (os.geteuid(), None)
