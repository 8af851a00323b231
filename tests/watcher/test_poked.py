"""Pokes of hooks, while nobody reads the spool: the loop has failed and rests."""

import asyncio
import os
import select
from pathlib import Path
from typing import Any, cast

from chorus.agents.hook_spool import Spool
from chorus.watcher.sources.hook_source import HookSource

NOBODY = cast(Any, None)


async def test_a_poke_is_told_of_once(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.open()
    hooks = HookSource(NOBODY, spool, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)
    hooks.listen()
    poke = os.open(tmp_path / "spool/poke", os.O_WRONLY | os.O_NONBLOCK)
    os.write(poke, b"\n\n")
    os.close(poke)
    while not hooks._woken.is_set():
        await asyncio.sleep(0)

    readable, _, _ = select.select([spool.fileno()], [], [], 0)
    assert not readable
    hooks.close(asleep=True)
