"""Makes every Python process of `.ci/imitated` one of macOS, as far as Chorus can tell. Loaded at its start.

Chorus takes its macOS implementations. psutil finds processes where the script has put them, the BSD call for
the other end of a socket is imitated, and so is FSEvents.
"""

import importlib.abc
import importlib.machinery
import os
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

PROC = os.environ.get("IMITATE_PROC", "/proc")


def change_psutil(psutil: Any) -> None:
    psutil.PROCFS_PATH = PROC


def change_peer(peer: Any) -> None:
    """Answer LOCAL_PEERCRED and LOCAL_PEERPID in the shape macOS gives them."""
    read = peer._read

    class LocalSocket:
        def __init__(self, connection: socket.socket) -> None:
            self._connection = connection

        def getsockopt(self, level: int, option: int, size: int) -> bytes:
            assert level == peer.SOL_LOCAL
            pid, uid, gid = struct.unpack(
                "3i", self._connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            )
            if option == peer.LOCAL_PEERPID:
                return struct.pack("=i", pid)
            assert option == peer.LOCAL_PEERCRED
            return struct.pack("=IIhxx16I", 0, uid, 1, gid, *[0] * 15)[:size]

    def imitate(connection: Any, option: int, shape: struct.Struct) -> Any:
        # A test may bring an imitation of its own.
        is_socket = hasattr(connection, "fileno")
        return read(LocalSocket(connection) if is_socket else connection, option, shape)

    peer._read = imitate


def change_file_watch(_module: Any) -> None:
    from tests.imitation import fsevents  # noqa: PLC0415  only where files are watched

    fsevents.install()


CHANGES: dict[str, Callable[[Any], None]] = {
    "psutil": change_psutil,
    "chorus.system.macos.peer": change_peer,
    "chorus.system.macos.file_watch": change_file_watch,
}


class ChangingFinder(importlib.abc.MetaPathFinder):
    """Changes modules right after they were loaded, so that a process loads no more than it would."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in CHANGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_change(module: ModuleType) -> None:
                run(module)
                CHANGES[name](module)

            spec.loader.exec_module = run_and_change  # type: ignore[method-assign]  # on purpose
        return spec


def start() -> None:
    from chorus.system import this_system  # noqa: PLC0415  not for who only imports this module

    this_system.IS_LINUX = False
    sys.meta_path.insert(0, ChangingFinder())


if os.environ.get("IMITATE") == "macos":
    start()
