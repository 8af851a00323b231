"""The panel run without a terminal, with a scripted watcher."""

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

from chorus.panel.app import Panel, PanelSettings
from chorus.panel.state.feed import Feed, FeedReader
from chorus.panel.view import PanelView
from chorus.panel.widgets.line_pane import TextPane
from chorus.panel.widgets.prompt_card import GUARD_SECONDS
from chorus.panel.widgets.queue_rows import key_of
from chorus.text.width import cell_width
from chorus.wire.client import connect
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.waiting import DEADLINE_SECONDS

# From the panel to the focused widget and back: widget, column, body, screen, panel, and what they post.
HOPS = 7
REFRESH_SECONDS = 1.0


def key_event(key: str) -> Key:
    """Make the event of a key: `a`, `down`, `left_square_bracket`."""
    name = key if key.isalnum() or len(key) > 1 else _character_to_key(key)
    return Key(name, key if len(key) == 1 else None)


@dataclass(frozen=True, slots=True)
class PanelHarness:
    watcher: ScriptedWatcher
    panel: Panel
    pilot: Pilot[None]

    @property
    def view(self) -> PanelView:
        return self.panel.view

    async def until(self, holds: Callable[[], object], what: str = "the condition") -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"{what} did not come; the screen:\n{self.text()}"
            await asyncio.sleep(0.002)
            await self.pilot._wait_for_screen()

    def wrapped_text(self, name: str) -> str:
        """Return the text of a form's pane; no row of it may be longer than the pane is wide."""
        pane = self.panel.screen.query_one(f"#{name}", TextPane)
        rows = ["".join(text for text, _ in pieces) for pieces, _ in pane.lines]
        assert max(map(cell_width, rows)) <= pane.size.width, rows
        return " ".join(" ".join(rows).split())

    async def press(self, *keys: str) -> None:
        """Press keys one after another, each handled before the next."""
        for key in keys:
            await self.press_quickly(key)

    async def press_quickly(self, *keys: str) -> None:
        """Press keys without waiting in between, then wait until all are handled."""
        driver = self.panel._driver
        assert driver is not None
        for key in keys:
            driver.send_message(key_event(key))
        await self.settle()

    async def settle(self) -> None:
        """Wait until every message, and those it causes, has passed from widget to panel."""
        for _ in range(HOPS):
            await self.pilot._wait_for_screen()
        # What waits for a refresh comes with the next one.
        refreshed = asyncio.Event()
        self.panel.call_after_refresh(refreshed.set)
        with suppress(TimeoutError):
            await asyncio.wait_for(refreshed.wait(), REFRESH_SECONDS)
        await self.pilot._wait_for_screen()

    async def prompt_ready(self, identity: str) -> None:
        """Wait until this prompt is shown, then pretend that it was shown long enough to be answered."""
        card = self.view.card
        await self.until(
            lambda: card.shown and card.shown.prompt.id == identity and card.shown.since, f"prompt {identity}"
        )
        assert card.shown is not None
        card.shown = replace(card.shown, since=time.monotonic() - GUARD_SECONDS)

    async def requested(self, do: str, count: int = 1) -> dict[str, Any]:
        """Wait for a request to the watcher and return its arguments."""
        await self.until(lambda: len(self.watcher.requests_for(do)) >= count, f"a request to {do}")
        return self.watcher.requests_for(do)[count - 1]

    async def status_shows(self, words: str) -> None:
        await self.until(lambda: words in self.view.status.current.text, f"the words {words!r}")

    async def shows(self, words: str) -> None:
        await self.until(lambda: words in self.text(), f"{words!r} on screen")

    def lines(self) -> list[str]:
        """Return the screen as text."""
        width, height = self.panel.size
        visible_screen_stack.set(self.panel._background_screens)
        strips = self.panel.screen._compositor.render_strips()
        return [strip.crop(0, width).text for strip in strips[:height]]

    def text(self) -> str:
        return "\n".join(self.lines())

    async def on_row(self, n: float) -> None:
        """Put the cursor on action `n`, as if it had been there for long."""
        queue = self.view.queue
        queue.go_to(next(i for i, row in enumerate(queue.rows) if key_of(row) == n))
        await self.settle()
        queue.auto_moved_at = 0.0


@asynccontextmanager
async def run_panel(
    watcher: ScriptedWatcher, size: tuple[int, int] = (120, 40), **settings: Any
) -> AsyncIterator[PanelHarness]:
    if not watcher.is_running:
        watcher.start()
    reader = FeedReader(Feed(watcher.home, watcher.home.common_dir.parent, connect_first=connect))
    reader.start()
    panel = Panel(PanelSettings(watcher.home, Path(watcher.home.common_dir).parent, **settings), reader)
    try:
        async with panel.run_test(size=size) as pilot:
            ui = PanelHarness(watcher, panel, pilot)
            await ui.until(lambda: panel.model.complete, "the log")
            await ui.settle()
            yield ui
    finally:
        watcher.stop()
