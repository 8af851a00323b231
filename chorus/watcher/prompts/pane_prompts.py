"""The prompts on the screens of watched panes.

A prompt is answered with keys only while its own dialog is on the screen.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from chorus.agents.interface import PaneView, PromptAppearance, PromptReader, Prompts, PromptTracker, Refused
from chorus.model.answer import Answer, PromptAnswer
from chorus.model.ids import PaneId, SessionId
from chorus.model.prompt import UnknownPrompt
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.watched_panes import WatchedPane
from chorus.watcher.prompts.answer_keys import PaneReader, PromptRefused, send_answer
from chorus.watcher.sources.pipeline import now

# The client swallows keys in the first 150 ms of a dialog.
MIN_DIALOG_AGE_SECONDS = 0.25
# How long a dialog that no rule fits must be shown before it counts as unknown. A half-drawn dialog fits no
# rule either, but it is complete long before this.
UNKNOWN_SECONDS = 1.0


@dataclass(slots=True)
class WatchedScreen:
    """One pane's screen, and the prompt that it shows now.

    `since` (wall clock) and `seen_at` (monotonic) both say when that prompt appeared.
    """

    reader: PaneReader
    tracker: PromptTracker
    # Makes the names of prompts unique: another watcher, or an earlier pane with the same number, gives other
    # names.
    salt: str = field(default_factory=lambda: secrets.token_hex(8))
    serial: int | None = None
    answered_serial: int | None = None  # the appearance that was answered through a reply channel
    since: str = ""
    seen_at: float = 0.0
    rows: tuple[str, ...] = ()
    # The rows of a dialog on the screen that no rule fits, and since when it has been there.
    unknown_rows: tuple[str, ...] = ()
    unknown_since: str = ""
    unknown_at: float | None = None

    @property
    def pane(self) -> WatchedPane:
        return self.reader.pane

    def age_seconds(self) -> float:
        return _monotonic() - self.seen_at

    def prompt_name(self, appearance: PromptAppearance) -> str:
        """Return a short name that is unique to this appearance."""
        return f"{self.pane.id.lstrip('%')}.{appearance.serial}.{self._digest(appearance.prompt.fingerprint)}"

    def shows_unknown_dialog(self) -> bool:
        return self.unknown_at is not None and _monotonic() - self.unknown_at >= UNKNOWN_SECONDS

    def unknown_dialog_name(self) -> str:
        return f"{self.pane.id.lstrip('%')}.unknown.{self._digest(self.unknown_since)}"

    def clear(self) -> None:
        self.tracker.current = self.unknown_at = None

    def observe(self, seen: PaneView) -> None:
        if not seen.process:
            self.clear()
            return
        current = self.tracker.observe(seen)
        moment = _monotonic()
        if current is not None and current.serial != self.serial:
            self.serial, self.since, self.seen_at = current.serial, now(), moment
        if not isinstance(seen.found, UnknownPrompt) or seen.in_mode:
            self.unknown_at = None
            return
        self.unknown_rows = seen.found.rows
        if self.unknown_at is None:
            self.unknown_at, self.unknown_since = moment, now()

    def _digest(self, text: str) -> str:
        return hashlib.sha256(f"{self.salt} {text}".encode()).hexdigest()[:6]


class PanePrompts:
    def __init__(
        self, prompts: Prompts, screen_reader: PromptReader, tmux: Callable[[WatchedPane], Tmux]
    ) -> None:
        self._prompts = prompts
        self._screen_reader = screen_reader
        self._tmux = tmux
        self._screens: dict[str, WatchedScreen] = {}

    def look(self, pane: WatchedPane) -> None:
        """Read the pane's screen and remember the prompt it shows."""
        key = f"{pane.address.socket} {pane.id}"
        watched = self._screens.get(key)
        if watched is None:
            watched = self._screens[key] = WatchedScreen(
                PaneReader(pane, self._screen_reader, self._tmux), self._prompts.track_prompts()
            )
        if pane.client is None:
            watched.clear()
            return
        screen = watched.reader.screen()
        if screen is not None:
            watched.rows = screen.rows
            watched.observe(watched.reader.observe(screen))

    def is_asking(self, pane: WatchedPane) -> bool:
        watched = self._screens.get(f"{pane.address.socket} {pane.id}")
        return watched is not None and (watched.tracker.current or watched.unknown_at) is not None

    def forget(self, pane: WatchedPane) -> None:
        self._screens.pop(f"{pane.address.socket} {pane.id}", None)

    def pending(self) -> Iterator[tuple[WatchedScreen, PromptAppearance]]:
        for screen in self._screens.values():
            current = screen.tracker.current
            if current is not None and current.serial != screen.answered_serial:
                yield screen, current

    def unknown_dialogs(self) -> Iterator[WatchedScreen]:
        return (screen for screen in self._screens.values() if screen.shows_unknown_dialog())

    def find(self, name: str) -> tuple[WatchedScreen, PromptAppearance] | None:
        return next((one for one in self.pending() if name == one[0].prompt_name(one[1])), None)

    def mark_answered(self, pane: PaneId, session: SessionId | None) -> None:
        """Remember that this pane's prompt was answered through a reply channel; its dialog closes soon."""
        for screen, appearance in list(self.pending()):
            if (screen.pane.id, screen.pane.session) == (pane, session):
                screen.tracker.mark_answered()
                screen.answered_serial = appearance.serial
        for screen in self._screens.values():
            if (screen.pane.id, screen.pane.session) == (pane, session):
                screen.unknown_at = None  # if the dialog could not be read, it closes too

    async def answer(self, screen: WatchedScreen, appearance: PromptAppearance, answer: Answer) -> list[str]:
        """Answer this appearance of the prompt with keys; return the keys that were pressed."""
        decision = PromptAnswer(appearance.prompt, screen.pane.id, appearance.process, answer)
        relay = screen.tracker.claim(decision, appearance.serial)
        if isinstance(relay, Refused):
            raise PromptRefused(
                f"{relay.reason}; nothing was sent",
                hint="Run `chorus prompts` to see what is pending, or answer the prompt in its pane.",
            )
        try:
            return await send_answer(screen.reader, relay, not_before=screen.seen_at + MIN_DIALOG_AGE_SECONDS)
        finally:
            screen.tracker.release(relay, appearance.serial)


def _monotonic() -> float:
    return asyncio.get_running_loop().time()
