"""What moves in a work tree between calls, recorded once it is sure that no call claims it.

Woken by the file watches. Hears the transcripts first: a call they tell of may be the one that wrote.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from chorus.model.session import SessionTable
from chorus.watcher.sources.transcripts import Transcripts
from chorus.watcher.tree import Tree
from chorus.watcher.trees import Trees

# A file that moved between calls is nobody's; a call that is about to be told of may still claim it.
OUTSIDE_SECONDS = 0.3
# Without hooks a call is told of by its transcript, late and in batches.
OUTSIDE_SECONDS_WITHOUT_HOOKS = 5.0
# Where nothing can be watched, everything is looked at now and then.
SCAN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Outside:
    trees: Trees
    roster: SessionTable
    transcripts: Transcripts

    async def keep_sweeping(self) -> None:
        moved = self.trees.moved
        while True:
            blind = any(tree.watch.needs_scan for tree in self.trees.all.values())
            with suppress(TimeoutError):
                await asyncio.wait_for(moved.wait(), SCAN_SECONDS if blind else None)
            moved.clear()
            await asyncio.sleep(OUTSIDE_SECONDS)
            async with self.transcripts.intake.history:
                await self.transcripts.read()
                left = [self._sweep(tree) for tree in self.trees.present()]
            if any(left):
                moved.set()
            self.trees.announce()

    def _sweep(self, tree: Tree) -> bool:
        """True: something moved that is not ready to be recorded, or the tree went away meanwhile."""
        with tree.place.ignore_if_removed():
            return self._sweep_present(tree)
        return True

    def _sweep_present(self, tree: Tree) -> bool:
        tree.record_held()
        if tree.windows.open:
            return tree.moved
        live = [s for s in self.roster.sessions.values() if s.state != "gone"]
        # An agent that starts finds changes of calls which are told of late, however they are told of.
        late = (tree.is_new and live) or not all("hook" in session.sources for session in live)
        return tree.sweep(grace_seconds=OUTSIDE_SECONDS_WITHOUT_HOOKS if late else OUTSIDE_SECONDS)
