"""What every source tells, made into outcomes and handed on: the one way data flows in.

Receives decoded messages with their source. Feeds pairing, keeps the roster, and gives each work tree
the outcomes of the sessions that work in it. A message that means nothing is counted, never fatal.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.interface import Source
from chorus.model.ids import SessionId
from chorus.model.outcomes import (
    ActionClosed,
    BackgroundTaskEnded,
    CallOpened,
    LeadTextAdded,
    Outcome,
    SessionEnded,
    SessionLinked,
    StatusCorrected,
)
from chorus.model.session import Session, SessionTable
from chorus.watcher.tree import Tree, Waits

log = logging.getLogger("chorus.watcher")

FindTree = Callable[[str], Tree | None]


class Intake:
    def __init__(
        self,
        find_tree: FindTree,
        announce: Callable[[Session], None],
        heard: Callable[[list[Outcome]], None],
    ) -> None:
        self.pairing = Pairing()
        self.roster = SessionTable()
        self.history = asyncio.Lock()  # one source at a time changes history
        self._find_tree = find_tree
        self.announce = announce
        self._heard = heard

    async def take(
        self,
        messages: Iterable[Mapping[str, Any]],
        source: Source,
        *,
        channel: str = "",
        waits: Waits | None = None,
        history: bool = False,
    ) -> list[Outcome]:
        """Take messages of one source, in order. `history`: known to have happened before we watched."""
        outcomes: list[Outcome] = []
        for message in messages:
            outcomes += self.pairing.feed_value(dict(message), source=source, channel=channel)
        await self.hand_on(outcomes, source=source.value, waits=waits, history=history)
        return outcomes

    def root_of(self, session: SessionId) -> SessionId | None:
        """The session under which the actions of this one are recorded."""
        tree = self._tree_of(session)
        return tree.recorder.journal.root_session(session) if tree is not None else None

    def has_hooks(self, session: SessionId) -> bool:
        known = self.roster.sessions.get(session)
        return known is not None and "hook" in known.sources

    async def end(self, session: SessionId, *, source: str) -> list[Outcome]:
        """Nothing more will come from this session: its client is gone."""
        outcomes: list[Outcome] = [*self.pairing.close(session), SessionEnded(session, "gone")]
        await self.hand_on(outcomes, source=source, waits=None, history=False)
        return outcomes

    async def hand_on(
        self, outcomes: list[Outcome], *, source: str, waits: Waits | None, history: bool
    ) -> None:
        for outcome in outcomes:
            changed = self.roster.feed(outcome, time=now(), source=source)
            if changed is not None:
                self.announce(changed)
        self._heard(outcomes)
        for tree, mine in self._by_tree(outcomes).items():
            if history:
                tree.recall(mine)
                continue
            with tree.place.ignore_if_removed():
                await tree.feed(mine, source=source, waits=waits)

    def _by_tree(self, outcomes: list[Outcome]) -> dict[Tree, list[Outcome]]:
        found: dict[Tree, list[Outcome]] = {}
        for outcome in outcomes:
            tree = self._tree_of(session_of(outcome))
            if tree is not None:
                found.setdefault(tree, []).append(outcome)
        return found

    def _tree_of(self, session: SessionId | None) -> Tree | None:
        known = self.roster.sessions.get(session) if session is not None else None
        return self._find_tree(known.cwd) if known is not None and known.cwd else None


def session_of(outcome: Outcome) -> SessionId | None:
    match outcome:
        case CallOpened(call):
            return call.session
        case ActionClosed(action):
            return action.session
        case SessionEnded(session) | BackgroundTaskEnded(session=session) | StatusCorrected(session=session):
            return session
        case SessionLinked(session) | LeadTextAdded(session=session):
            return session
        case _:
            return None


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
