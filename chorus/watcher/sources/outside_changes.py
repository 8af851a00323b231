"""Record changes between calls as outside changes, once it is certain that no call claims them.

Transcripts are read first, because a call that they report may have made a change. While the user is asked
about a call, the call writes nothing, so changes made then are outside changes, too.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from chorus.model.action import Call
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
    is_asked: Callable[[Call], bool]  # returns whether the user is certainly still asked about this call

    async def record_before_answer(self) -> None:
        """Record the changes made while a call waited for the user's answer.

        To be called just before the answer is given.
        """
        async with self.transcripts.pipeline.lock:
            await self.transcripts.read()
            for tree in self.trees.present():
                if tree.windows.only:
                    await tree.settle()
                    with tree.directory.ignore_if_removed():
                        await tree.record_while_asked(self.is_asked)

    async def run(self) -> None:
        changed = self.trees.changed
        while True:
            blind = any(tree.watch.needs_scan for tree in self.trees.all.values())
            with suppress(TimeoutError):
                async with asyncio.timeout(SCAN_SECONDS if blind else None):
                    await changed.wait()
            changed.clear()
            await asyncio.sleep(GRACE_SECONDS)
            if self.trees.all and not any(map(self._is_due, self.trees.all.values())):
                changed.set()
                continue
            async with self.transcripts.pipeline.lock:
                await self.transcripts.read()
                left = [await self._record(tree) for tree in self.trees.present()]
            if any(left):
                changed.set()
            self.trees.publish_changes()

    async def _record(self, tree: WatchedTree) -> bool:
        """Record settled changes. Return True if some are left for later or the tree was removed."""
        with tree.directory.ignore_if_removed():
            return await self._record_present(tree)
        return True

    async def _record_present(self, tree: WatchedTree) -> bool:
        await tree.record_held()
        if tree.windows.open:
            if tree.has_changes:
                await tree.record_while_asked(self.is_asked)
            return tree.has_changes
        return await tree.record_outside(grace_seconds=self._grace_seconds(tree))

    def _is_due(self, tree: WatchedTree) -> bool:
        """True unless all changes of the tree are still too new to be recorded."""
        if tree.windows.open:
            return True
        grace = self._grace_seconds(tree)
        return tree.may_record_outside(grace_seconds=grace) or not tree.directory.is_there()

    def _grace_seconds(self, tree: WatchedTree) -> float:
        live = [s for s in self.roster.sessions.values() if s.state != "gone"]
        # A watcher that has just started finds changes of calls that any source may report late.
        late = (tree.is_new and live) or not all(session.is_live for session in live)
        return GRACE_SECONDS_WITHOUT_HOOKS if late else GRACE_SECONDS
