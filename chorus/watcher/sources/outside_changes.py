"""Record changes between calls as outside changes, once it is certain that no call claims them.

Woken by the file watches. Transcripts are read first: a call they report may be the one that wrote.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from chorus.model.session import SessionTable
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.work_trees import WatchedTree, WatchedTrees

# A call that is about to be reported may still claim a change.
GRACE_SECONDS = 0.3
# Without hooks a call is reported by its transcript, late and in batches.
GRACE_SECONDS_WITHOUT_HOOKS = 5.0
# Where no file watch is possible, the whole tree is scanned now and then.
SCAN_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class OutsideChanges:
    trees: WatchedTrees
    roster: SessionTable
    transcripts: TranscriptSource

    async def run(self) -> None:
        changed = self.trees.changed
        while True:
            blind = any(tree.watch.needs_scan for tree in self.trees.all.values())
            with suppress(TimeoutError):
                async with asyncio.timeout(SCAN_SECONDS if blind else None):
                    await changed.wait()
            changed.clear()
            await asyncio.sleep(GRACE_SECONDS)
            async with self.transcripts.pipeline.lock:
                await self.transcripts.read()
                left = [await self._record(tree) for tree in self.trees.present()]
            if any(left):
                changed.set()
            self.trees.publish_changes()

    async def _record(self, tree: WatchedTree) -> bool:
        """Record what is ready. Return True if a change is left for later, or the tree was removed."""
        with tree.directory.ignore_if_removed():
            return await self._record_present(tree)
        return True

    async def _record_present(self, tree: WatchedTree) -> bool:
        await tree.record_held()
        if tree.windows.open:
            return tree.has_changes
        live = [s for s in self.roster.sessions.values() if s.state != "gone"]
        # A watcher that starts finds changes of calls that are reported late, from whatever source.
        late = (tree.is_new and live) or not all(session.is_live for session in live)
        return await tree.record_outside(grace_seconds=GRACE_SECONDS_WITHOUT_HOOKS if late else GRACE_SECONDS)
