"""The requests of headless sessions: which wait for an answer, and which were given one. Kept on disk.

An agent that starts again knows them from here, for the pane may show no more what asked, and never showed
what was answered. Receives each request once it is heard, and what the sessions tell since.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.model.outcomes import ActionClosed, Outcome, PromptClosed, PromptOpened, SessionEnded, TurnEnded
from chorus.watcher.state.files import keep

# More than a session asks while its first request is still in the pane.
MOST_ANSWERED = 1000


@dataclass(slots=True)
class Asked:
    path: Path
    waiting: dict[str, tuple[PaneId, PromptOpened]] = field(default_factory=dict)  # by request
    _answered: dict[str, None] = field(default_factory=dict)

    def load(self) -> None:
        """What an earlier agent knew. A damaged file means: nothing."""
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            kept = json.loads(self.path.read_bytes())
            self._answered = dict.fromkeys(map(str, kept["answered"]))
            for request, (pane, asked) in kept["waiting"].items():
                suggestions = tuple(asked.pop("suggestions"))
                self.waiting[request] = PaneId(pane), PromptOpened(**asked, suggestions=suggestions)

    def at(self, pane: PaneId) -> list[PromptOpened]:
        return [asked for place, asked in self.waiting.values() if place == pane]

    def add(self, asked: PromptOpened, pane: PaneId) -> bool:
        """Remember a request that waits. False: it waits already, or was answered."""
        assert asked.request is not None
        if asked.request in self.waiting or asked.request in self._answered:
            return False
        self.waiting[asked.request] = pane, asked
        self._keep()
        return True

    def answer(self, request: str) -> None:
        """The answer is on its way: this request is never answered again."""
        self._answered[request] = None
        self.waiting.pop(request, None)
        self._keep()

    def hear(self, outcomes: Iterable[Outcome]) -> None:
        """Forget what was answered otherwise or withdrawn."""
        over = [
            request
            for outcome in outcomes
            for request, (_, asked) in self.waiting.items()
            if ends(outcome, asked)
        ]
        for request in over:
            self.waiting.pop(request, None)
        if over:
            self._keep()

    def forget_all_but(self, panes: Iterable[PaneId]) -> None:
        """Drop what waits anywhere but in these panes."""
        present = set(panes)
        self.waiting = {request: one for request, one in self.waiting.items() if one[0] in present}

    def _keep(self) -> None:
        waiting = {request: (pane, asdict(asked)) for request, (pane, asked) in self.waiting.items()}
        keep(self.path, {"waiting": waiting, "answered": [*self._answered][-MOST_ANSWERED:]})


def ends(outcome: Outcome, asked: PromptOpened) -> bool:
    match outcome:
        case ActionClosed(action):
            return action.id == asked.id
        case PromptClosed(request=request) if request is not None:
            return request == asked.request
        case SessionEnded(session) | TurnEnded(session):
            # A sub-agent's call outlives the turn it was started in.
            return session == asked.session and (isinstance(outcome, SessionEnded) or asked.agent is None)
        case _:
            return False


def still_asked(outcomes: Iterable[Outcome]) -> list[PromptOpened]:
    """The requests among these that nothing later among them ends."""
    waiting: list[PromptOpened] = []
    for outcome in outcomes:
        waiting = [asked for asked in waiting if not ends(outcome, asked)]
        if isinstance(outcome, PromptOpened) and outcome.request is not None and outcome.tool is not None:
            waiting.append(outcome)
    return waiting
