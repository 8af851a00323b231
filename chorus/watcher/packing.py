"""Keeps the store small while sessions go on: what was recorded is packed now and then.

Works on a thread beside the loop, so that nothing that is heard waits for it. What cannot be packed stays
as it is.
"""

import asyncio
import logging
from dataclasses import dataclass

from chorus.errors import ChorusError
from chorus.store.maintenance.side_store import LOOSE_LIMIT, pack_if_due
from chorus.watcher.trees import Trees

log = logging.getLogger("chorus.watcher")

# A session records a few hundred objects in this time; asking is one listing of a directory.
TIDY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Tidying:
    trees: Trees

    async def keep_tidy(self) -> None:
        while True:
            await asyncio.sleep(TIDY_SECONDS)
            # All work trees of a repository share one store.
            for tree in list(self.trees.all.values())[:1]:
                workspace = tree.recorder.workspace
                try:
                    packed = await asyncio.to_thread(
                        pack_if_due, workspace.repository.git, workspace.store, LOOSE_LIMIT
                    )
                except (ChorusError, OSError) as error:
                    log.warning("the store is not packed: %s", error)
                else:
                    if packed:
                        log.info("packed %d objects", packed)
