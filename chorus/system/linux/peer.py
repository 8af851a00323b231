"""The other end of a Unix socket, by SO_PEERCRED."""

import socket
import struct

CREDENTIALS = struct.Struct("3i")  # pid, uid, gid


def read_peer(connection: socket.socket) -> tuple[int | None, int | None]:
    """The process id and the user id at the other end."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    pid, uid, _ = CREDENTIALS.unpack(credentials)
    return pid, uid
