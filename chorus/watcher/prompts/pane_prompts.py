"""The prompts on the watched panes' screens, one desk a pane.

Looks at a pane when told to. Keeps which prompt stands there, since when, and under which name. Answers one
with keys while its own dialog is on that screen. Never tells anybody: who asks finds out.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from chorus.agents.claude_code.dialogs.rules import PromptRules
from chorus.agents.claude_code.replies.appearances import PromptAppearances
from chorus.agents.interface import PaneView, PromptAppearance, Refused
from chorus.model.answer import Answer, PromptAnswer
from chorus.model.ids import PaneId, SessionId
from chorus.model.prompt import UnknownPrompt
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.panes import WatchedPane
from chorus.watcher.prompts.pressing import Eye, PromptRefused, carry_out
from chorus.watcher.sources.intake import now

# The client swallows keys in the first 150 ms of a dialog.
YOUNGEST_SECONDS = 0.25
# A dialog that is half drawn cannot be read either; it is whole long before this.
STRANGE_SECONDS = 1.0


@dataclass(slots=True)
class Watched:
    """One pane's prompts. `since` and `seen_at` are of the present appearance."""

    eye: Eye
    desk: PromptAppearances = field(default_factory=PromptAppearances)
    # Names of another agent's time, or of a pane of the same number, are never names of this one's.
    salt: str = field(default_factory=lambda: secrets.token_hex(8))
    serial: int | None = None
    settled: int | None = None  # the appearance that was answered another way
    since: str = ""
    seen_at: float = 0.0
    rows: tuple[str, ...] = ()
    # Since when the screen shows something no rule fits.
    strange_since: str = ""
    strange_at: float | None = None

    @property
    def pane(self) -> WatchedPane:
        return self.eye.pane

    def age(self) -> float:
        """How long the present appearance has been there, in seconds."""
        return _moment() - self.seen_at

    def name(self, appearance: PromptAppearance) -> str:
        """Short enough to type, and never the name of another appearance."""
        return f"{self.pane.id.lstrip('%')}.{appearance.serial}.{self._mark(appearance.prompt.fingerprint)}"

    def is_strange(self) -> bool:
        """Whether the screen shows something no rule fits, and not for a moment only."""
        return self.strange_at is not None and _moment() - self.strange_at >= STRANGE_SECONDS

    def strange_name(self) -> str:
        return f"{self.pane.id.lstrip('%')}.unknown.{self._mark(self.strange_since)}"

    def _mark(self, told: str) -> str:
        return hashlib.sha256(f"{self.salt} {told}".encode()).hexdigest()[:6]


class Desks:
    def __init__(self, rules: PromptRules, tmux: Callable[[WatchedPane], Tmux]) -> None:
        self._rules = rules
        self._tmux = tmux
        self._panes: dict[str, Watched] = {}

    def look(self, pane: WatchedPane) -> None:
        """Read the pane's screen, and keep what it asks."""
        key = f"{pane.address.socket} {pane.id}"
        watched = self._panes.get(key)
        if watched is None:
            watched = self._panes[key] = Watched(Eye(pane, self._rules, self._tmux))
        if pane.client is None:
            _leave(watched)
            return
        screen = watched.eye.screen()
        if screen is not None:
            watched.rows = screen.rows
            _see(watched, watched.eye.observe(screen))

    def forget(self, pane: WatchedPane) -> None:
        self._panes.pop(f"{pane.address.socket} {pane.id}", None)

    def waiting(self) -> Iterator[tuple[Watched, PromptAppearance]]:
        for watched in self._panes.values():
            current = watched.desk.current
            if current is not None and current.serial != watched.settled:
                yield watched, current

    def strange(self) -> Iterator[Watched]:
        """Panes that ask something no rule fits."""
        return (watched for watched in self._panes.values() if watched.is_strange())

    def find(self, name: str) -> tuple[Watched, PromptAppearance] | None:
        return next((one for one in self.waiting() if name == one[0].name(one[1])), None)

    def settle(self, pane: PaneId, session: SessionId | None) -> None:
        """What this pane shows was answered another way; its dialog goes in a moment."""
        for watched, appearance in list(self.waiting()):
            if (watched.pane.id, watched.pane.session) == (pane, session):
                watched.desk.mark_answered()
                watched.settled = appearance.serial

    async def press(self, watched: Watched, appearance: PromptAppearance, answer: Answer) -> list[str]:
        """Answer this appearance with the keys its labels call for; give the keys that were pressed."""
        decision = PromptAnswer(appearance.prompt, watched.pane.id, appearance.process, answer)
        relay = watched.desk.claim(decision, appearance.serial)
        if isinstance(relay, Refused):
            raise PromptRefused(f"{relay.reason}; nothing was sent")
        try:
            return await carry_out(watched.eye, relay, not_before=watched.seen_at + YOUNGEST_SECONDS)
        finally:
            watched.desk.release(relay, appearance.serial)


def _leave(watched: Watched) -> None:
    watched.desk.current = watched.strange_at = None


def _see(watched: Watched, seen: PaneView) -> None:
    if not seen.process:
        _leave(watched)
        return
    current = watched.desk.observe(seen)
    moment = _moment()
    if current is not None and current.serial != watched.serial:
        watched.serial, watched.since, watched.seen_at = current.serial, now(), moment
    if not isinstance(seen.found, UnknownPrompt) or seen.in_mode:
        watched.strange_at = None
    elif watched.strange_at is None:
        watched.strange_at, watched.strange_since = moment, now()


def _moment() -> float:
    return asyncio.get_running_loop().time()
