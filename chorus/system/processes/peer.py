"""The process at the other end of a Unix socket."""

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.peer import read_peer
else:
    from chorus.system.macos.peer import read_peer

__all__ = ["read_peer"]
