"""`python -m chorus.watcher COMMON_DIR [again]`: run the watcher of one repository in this process.

If another watcher is running, this process exits without loading the rest of the watcher. `again`: this
watcher takes over from a watcher that could not write to the disk.
"""

import os
import socket
import sys
from contextlib import closing
from pathlib import Path

from chorus.system.files.private_files import make_private
from chorus.watcher.claim import acquire_lock, listen
from chorus.wire.home import Home

# The argument of a watcher that takes over from one that could not write to the disk.
AGAIN = "again"


def main(arguments: list[str]) -> int:
    home = Home(Path(arguments[0]))
    make_private(home.root)
    lock = acquire_lock(home)
    if lock is None:
        return 0  # another watcher runs already
    with closing(lock):
        again = run(home, listen(home), successor=AGAIN in arguments)
        lock.write(b"")
    if again:
        # Replace this process with a new one, so that none of its state is kept.
        command_line = [word for word in sys.orig_argv if word != AGAIN]
        os.execv(sys.executable, [*command_line, AGAIN])  # noqa: S606  no shell is wanted
    return 0


def run(home: Home, listener: socket.socket, *, successor: bool) -> bool:
    """Run the watcher. Return True if a new watcher must take over."""
    import asyncio  # noqa: PLC0415  what follows takes long to load, and others can connect meanwhile

    from chorus.watcher.process import run_until_stopped  # noqa: PLC0415  as above

    async def serve(stopping: asyncio.Event) -> bool:
        from chorus.watcher.watcher import Watcher  # noqa: PLC0415  after the log, which then has its failure

        return await Watcher(home, listener=listener, successor=successor).serve(stopping)

    return run_until_stopped(home, serve)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
