"""Claim a repository: take the watcher's lock, and listen before the rest of the watcher is loaded.

A program that connects while the watcher loads is answered later, not refused. This module imports little,
because it is imported first.
"""

import os
import socket
import time

from chorus.system.files.file_lock import FileLock
from chorus.system.socket_path import short_path
from chorus.wire.home import Home

# A command's `is_locked` holds the lock for an instant; another watcher holds it for good.
LOCK_TRIES = 20
LOCK_PAUSE_SECONDS = 0.01
# How many connections may wait while the watcher loads: more than there are clients, panels and commands.
BACKLOG = 100


def acquire_lock(home: Home) -> FileLock | None:
    """Take the repository's lock and write this process's id into it. None if another watcher holds it."""
    lock = FileLock(home.lock)
    for _ in range(LOCK_TRIES):
        if lock.try_acquire():
            lock.write(b"%d\n" % os.getpid())
            return lock
        time.sleep(LOCK_PAUSE_SECONDS)
    lock.close()
    return None


def listen(home: Home) -> socket.socket:
    """Listen on the repository's socket, which only its owner can use.

    The caller must hold the lock, because an existing socket file is removed.
    """
    home.socket.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    old_mask = os.umask(0o177)
    try:
        with short_path(home.socket) as path:
            listener.bind(path)
    finally:
        os.umask(old_mask)
    listener.listen(BACKLOG)
    return listener
