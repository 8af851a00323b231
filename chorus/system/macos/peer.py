"""The other end of a Unix socket, by LOCAL_PEERCRED and LOCAL_PEERPID."""

import socket
import struct

# From <sys/un.h> and <sys/ucred.h>; Python does not name all of them.
SOL_LOCAL = 0
LOCAL_PEERCRED = 1
LOCAL_PEERPID = 2
CREDENTIALS = struct.Struct("=IIh2x16I")  # version, uid, number of groups, groups
PROCESS_ID = struct.Struct("=i")


def read_peer(connection: socket.socket) -> tuple[int | None, int | None]:
    """The process id and the user id at the other end. Each is None if the system does not report it."""
    pid = _read(connection, LOCAL_PEERPID, PROCESS_ID)
    credentials = _read(connection, LOCAL_PEERCRED, CREDENTIALS)
    return pid[0] if pid else None, credentials[1] if credentials else None


def _read(connection: socket.socket, option: int, shape: struct.Struct) -> tuple[int, ...] | None:
    try:
        return shape.unpack(connection.getsockopt(SOL_LOCAL, option, shape.size))
    except (OSError, struct.error):
        return None
