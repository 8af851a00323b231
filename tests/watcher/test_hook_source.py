"""Wake-ups by hooks while nobody reads the spool."""

import asyncio
import os
import select
from pathlib import Path
from typing import Any, cast

from chorus.agents.hook_spool import Spool
from chorus.watcher.sources.hook_source import HookSource

NOBODY = cast(Any, None)


async def test_a_wakeup_is_handled_once(tmp_path: Path) -> None:
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
