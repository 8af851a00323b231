"""The panel at work without a terminal, beside a scripted agent."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from textual._context import visible_screen_stack
from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot

from chorus.panel.app import Panel, Settings
from chorus.panel.feed import Feed, Inbox
from chorus.panel.pane import TextPane
from chorus.panel.prompt_card import GUARD_SECONDS
from chorus.panel.rows import key_of
from chorus.text.width import cell_width
from chorus.wire.client import connect
from tests.panel.agent import ScriptedAgent
from tests.waiting import DEADLINE_SECONDS

# From the panel to the pane in focus and back up: pane, column, body, screen, panel, and what they post.
HOPS = 7
REFRESH_SECONDS = 1.0


def key_event(key: str) -> Key:
    """A key as the terminal gives it: `a`, `down`, `left_square_bracket`."""
    name = key if key.isalnum() or len(key) > 1 else _character_to_key(key)
    return Key(name, key if len(key) == 1 else None)


@dataclass(frozen=True, slots=True)
class Running:
    agent: ScriptedAgent
    panel: Panel
    pilot: Pilot[None]

    async def until(self, holds: Callable[[], object], what: str = "the condition") -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"{what} did not come; the screen:\n{self.text()}"
            await asyncio.sleep(0.002)
            await self.pilot._wait_for_screen()

    def folded(self, name: str) -> str:
        """The words of a form's pane, in which no row is longer than the pane is wide."""
        pane = self.panel.screen.query_one(f"#{name}", TextPane)
        rows = ["".join(text for text, _ in pieces) for pieces, _ in pane.lines]
        assert max(map(cell_width, rows)) <= pane.size.width, rows
        return " ".join(" ".join(rows).split())

    async def press(self, *keys: str) -> None:
        """Press keys one after another, each taken in before the next one comes."""
        for key in keys:
            driver = self.panel._driver
            assert driver is not None
            driver.send_message(key_event(key))
            await self.settle()

    async def settle(self) -> None:
        """Until every message there is, and those they lead to, went its way from pane to panel."""
        for _ in range(HOPS):
            await self.pilot._wait_for_screen()
        # What was put off until after a refresh comes with the next one.
        refreshed = asyncio.Event()
        self.panel.call_after_refresh(refreshed.set)
        with suppress(TimeoutError):
            await asyncio.wait_for(refreshed.wait(), REFRESH_SECONDS)
        await self.pilot._wait_for_screen()

    async def prompt_ready(self, identity: str) -> None:
        """Until this prompt is shown; then as if a person had looked at it long enough to answer."""
        card = self.panel.card
        await self.until(
            lambda: card.shown and card.shown.prompt.id == identity and card.shown.since, f"prompt {identity}"
        )
        assert card.shown is not None
        card.shown = replace(card.shown, since=time.monotonic() - GUARD_SECONDS)

    async def asked(self, do: str, count: int = 1) -> dict[str, Any]:
        """What the agent was asked, once it was."""
        await self.until(lambda: len(self.agent.asked_to(do)) >= count, f"a request to {do}")
        return self.agent.asked_to(do)[count - 1]

    async def says(self, words: str) -> None:
        await self.until(lambda: words in self.panel.status.said.text, f"the words {words!r}")

    async def shows(self, words: str) -> None:
        await self.until(lambda: words in self.text(), f"{words!r} on screen")

    def lines(self) -> list[str]:
        """The screen as text."""
        width, height = self.panel.size
        visible_screen_stack.set(self.panel._background_screens)
        strips = self.panel.screen._compositor.render_strips()
        return [strip.crop(0, width).text for strip in strips[:height]]

    def text(self) -> str:
        return "\n".join(self.lines())

    async def on_row(self, n: float) -> None:
        """The cursor on action `n`, as if it had been at rest there for long."""
        queue = self.panel.queue
        queue.go_to(next(i for i, row in enumerate(queue.rows) if key_of(row) == n))
        await self.settle()
        queue.moved_by_itself = 0.0


@asynccontextmanager
async def running(
    agent: ScriptedAgent, size: tuple[int, int] = (120, 40), **settings: Any
) -> AsyncIterator[Running]:
    if not agent.is_running:
        agent.start()
    inbox = Inbox(Feed(agent.home, agent.home.common_dir.parent, connect_first=connect))
    inbox.start()
    panel = Panel(Settings(agent.home, Path(agent.home.common_dir).parent, **settings), inbox)
    try:
        async with panel.run_test(size=size) as pilot:
            one = Running(agent, panel, pilot)
            await one.until(lambda: panel.model.complete, "the log")
            await one.settle()
            yield one
    finally:
        agent.stop()
