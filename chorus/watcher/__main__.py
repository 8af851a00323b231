"""`python -m chorus.watcher COMMON_DIR [again]`: the agent of one repository, in this process.

The lock comes first: where an agent runs already, a second one leaves before it has loaded anything.
"""

import asyncio
import os
import sys
from pathlib import Path

from chorus.watcher.process import run_until_stopped
from chorus.wire.home import Home

# Takes over from one that could not write.
AGAIN = "again"


def main(arguments: list[str]) -> int:
    home = Home(Path(arguments[0]))

    async def serve(stopping: asyncio.Event) -> bool:
        from chorus.watcher.watcher import Watcher  # noqa: PLC0415  behind the lock

        return await Watcher(home, successor=AGAIN in arguments).serve(stopping)

    if run_until_stopped(home, serve):
        # A process of its own making: nothing of what this one knows goes along.
        words = [word for word in sys.orig_argv if word != AGAIN]
        os.execv(sys.executable, [*words, AGAIN])  # noqa: S606  no shell is wanted
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
