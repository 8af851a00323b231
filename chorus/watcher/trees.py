"""The work trees of this repository that somebody works in, found by a directory in them.

Opens each when it is first asked for, and leaves it when it is gone: what stands at its path later is opened
anew. Wakes who waits for movement, from whichever thread it is told of.
"""

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from chorus.watcher.server.server import Server
from chorus.watcher.tree import Tree
from chorus.wire.home import Home, NotARepository, find_work_tree

log = logging.getLogger("chorus.watcher")


class Trees:
    def __init__(self, home: Home, server: Server) -> None:
        self.all: dict[Path, Tree] = {}
        self.moved = asyncio.Event()
        self._home = home
        self._server = server
        self._gone: list[Tree] = []

    def find(self, cwd: str) -> Tree | None:
        """The work tree of this repository that `cwd` is in; None if it is in none."""
        try:
            root, home = find_work_tree(Path(cwd))
        except NotARepository:
            return None
        if home != self._home:
            return None
        if root in self.all and not self.all[root].place.is_there():
            self._leave(root)
        if root not in self.all:
            loop = asyncio.get_running_loop()
            tree = Tree(root, wake=lambda: _wake(loop, self.moved))
            tree.start()
            self.all[root] = tree
        return self.all[root]

    def present(self) -> list[Tree]:
        """Those that are there. The caller holds the history: nobody records in one that is gone."""
        for root in [root for root, tree in self.all.items() if not tree.place.is_there()]:
            self._leave(root)
        while self._gone:
            self._gone.pop().close()
        return list(self.all.values())

    def announce(self) -> None:
        """Tell subscribers of every entry that is new or different since the last time."""
        if self._server.subscribers:
            for root, tree in self.all.items():
                for entry in tree.news():
                    self._server.publish("action", entry=entry, work_tree=str(root))

    def close(self) -> None:
        for tree in (*self.all.values(), *self._gone):
            tree.close()

    def _leave(self, root: Path) -> None:
        log.info("%s is watched no more: it is gone", root)
        self._gone.append(self.all.pop(root))
        self.moved.set()  # so that it is closed soon


def _wake(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Called from a thread of the file watch's, perhaps after the loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)
