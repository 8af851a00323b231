"""A headless client's events, read from its pane."""

import asyncio
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.adapter import AGENT
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.pane_stream import PaneStream
from chorus.watcher.panes.printed_events import PrintedEvents
from tests.lab.terminal import Terminal, terminal_fixture

terminal = terminal_fixture(width=80, height=10)
SECONDS = 60.0


async def test_a_stream_closed_while_it_feeds_reads_nothing_more(terminal: Terminal, tmp_path: Path) -> None:
    """Its descriptor may belong to somebody else by then."""
    pane = terminal.open(["cat"], cwd=tmp_path, environment={"PATH": "/usr/bin:/bin"})
    hears, go_on, heard = asyncio.Event(), asyncio.Event(), []

    async def hear(events: list[dict[str, Any]], _history: bool) -> None:
        heard.extend(events)
        hears.set()
        await go_on.wait()

    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, failure: failures.append(failure))
    tmux = TmuxServer(Address(terminal.socket()))
    printed = PrintedEvents(AGENT.events, hear, since=0.0)
    stream = PaneStream(printed, tmux, PaneId(pane.id), tmp_path / "fifo")
    await stream.start()
    pane.type('{"n": 1}\n')
    await asyncio.wait_for(hears.wait(), SECONDS)
    stream.close()
    reading = list(stream._tasks)
    go_on.set()
    done, _ = await asyncio.wait(reading, timeout=SECONDS)
    assert [task.exception() for task in done] == [None]
    await asyncio.sleep(0)
    assert failures == []
    assert heard[0] == {"n": 1}
