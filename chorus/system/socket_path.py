"""A name for a Unix socket that fits into a socket address, however long its directory is."""

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.socket_path import short_path
else:
    from chorus.system.macos.socket_path import short_path

__all__ = ["short_path"]
