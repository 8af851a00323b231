"""`python -m chorus.watcher COMMON_DIR [again]`: run the watcher of one repository in this process.

The lock is taken first: if another watcher is running, this one exits before it has loaded anything.
"""

import asyncio
import os
import sys
from pathlib import Path

from chorus.watcher.process import run_until_stopped
from chorus.wire.home import Home

# This watcher takes over from one that could not write to the disk.
AGAIN = "again"


def main(arguments: list[str]) -> int:
    home = Home(Path(arguments[0]))

    async def serve(stopping: asyncio.Event) -> bool:
        from chorus.watcher.watcher import Watcher  # noqa: PLC0415  behind the lock

        return await Watcher(home, successor=AGAIN in arguments).serve(stopping)

    if run_until_stopped(home, serve):
        # A new process: nothing of this one's state is kept.
        command_line = [word for word in sys.orig_argv if word != AGAIN]
        os.execv(sys.executable, [*command_line, AGAIN])  # noqa: S606  no shell is wanted
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
