"""Wake-ups by hooks while nobody reads the spool."""

import asyncio
import os
import select
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.hook_spool import Spool
from chorus.watcher.sources.hook_source import HookSource

NOBODY = cast(Any, None)


async def test_a_wakeup_is_handled_once(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.open()
    hooks = HookSource(NOBODY, NOBODY, spool, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)
    hooks.listen()
    poke = os.open(tmp_path / "spool/poke", os.O_WRONLY | os.O_NONBLOCK)
    os.write(poke, b"\n\n")
    os.close(poke)
    while not hooks._woken.is_set():
        await asyncio.sleep(0)

    readable, _, _ = select.select([spool.fileno()], [], [], 0)
    assert not readable
    hooks.close(asleep=True)


async def test_a_stop_that_comes_together_with_an_event_is_noticed() -> None:
    hooks = HookSource(NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY)

    async def exists() -> bool:
        pytest.fail("the loop went on after it was cancelled")

    running = asyncio.create_task(hooks.run(exists, lambda: None))
    await asyncio.sleep(0.01)
    hooks._woken.set()
    running.cancel()

    await asyncio.wait([running])
    assert running.cancelled()


@pytest.mark.parametrize("name", ["PreToolUse", "PostToolUse"])
async def test_only_the_hook_before_a_call_waits_until_its_event_is_fed(tmp_path: Path, name: str) -> None:
    spool = Spool(tmp_path / "spool")
    spool.open()
    event = tmp_path / "spool" / f"{os.getpid()}.1"
    event.write_bytes(b'1\t\t\t\n{"hook_event_name": "%s"}' % name.encode())
    seen: list[tuple[bool, bool]] = []

    async def feed(*_: object, is_waiting: Callable[[], bool], **__: object) -> list[object]:
        seen.append((event.exists(), is_waiting()))
        return []

    ignored = SimpleNamespace(**dict.fromkeys(("remember", "reply", "feed_hook"), lambda *_, **__: None))
    nothing = lambda *_: None  # noqa: E731  as short as what it stands for

    async def record_held() -> None:
        pass

    trees = SimpleNamespace(
        all={}, set_more_to_come=nothing, record_held=record_held, publish_changes=nothing
    )
    pipeline = SimpleNamespace(lock=asyncio.Lock(), feed=feed)
    hooks = HookSource(
        AGENT.events, *cast(Any, (ignored, spool, pipeline, trees, NOBODY, ignored, ignored, NOBODY))
    )
    await hooks.read()
    assert seen == [(name == "PreToolUse", True)]
    assert not event.exists()
    spool.close(asleep=True)
