"""The one pipeline that every source feeds: messages become outcomes, outcomes reach their work trees.

Feeds pairing, keeps the roster, and gives each work tree the outcomes of the sessions that work in it. An
unknown message is counted, never fatal.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from chorus.agents.interface import OutcomeReader, Source
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
from chorus.watcher.work_trees import IsWaiting, WatchedTree

log = logging.getLogger("chorus.watcher")

FindTree = Callable[[str], WatchedTree | None]


class Pipeline:
    def __init__(
        self,
        pairing: OutcomeReader,
        find_tree: FindTree,
        publish_session: Callable[[Session], None],
        feed_prompts: Callable[[list[Outcome]], None],
    ) -> None:
        self.pairing = pairing
        self.roster = SessionTable()
        self.lock = asyncio.Lock()  # held while history changes: one source at a time
        self._find_tree = find_tree
        self.publish_session = publish_session
        self._feed_prompts = feed_prompts

    async def feed(
        self,
        messages: Iterable[Mapping[str, Any]],
        source: Source,
        *,
        channel: str = "",
        is_waiting: IsWaiting | None = None,
        history: bool = False,
    ) -> list[Outcome]:
        """Feed messages of one source, in order. `history`: they are from before the session was watched."""
        outcomes: list[Outcome] = []
        for message in messages:
            outcomes += self.pairing.feed_value(dict(message), source=source, channel=channel)
        await self._distribute(outcomes, source=source.value, is_waiting=is_waiting, history=history)
        return outcomes

    def root_of(self, session: SessionId) -> SessionId | None:
        """Return the session under which the actions of this one are recorded."""
        tree = self._tree_of(session)
        return tree.recorder.journal.root_session(session) if tree is not None else None

    def has_hooks(self, session: SessionId) -> bool:
        known = self.roster.sessions.get(session)
        return known is not None and "hook" in known.sources

    async def end_session(self, session: SessionId, *, source: str) -> list[Outcome]:
        """Close a session whose client has ended."""
        outcomes: list[Outcome] = [*self.pairing.close(session), SessionEnded(session, "gone")]
        await self._distribute(outcomes, source=source, is_waiting=None, history=False)
        return outcomes

    async def _distribute(
        self, outcomes: list[Outcome], *, source: str, is_waiting: IsWaiting | None, history: bool
    ) -> None:
        for outcome in outcomes:
            changed = self.roster.feed(outcome, time=now(), source=source)
            if changed is not None:
                self.publish_session(changed)
        self._feed_prompts(outcomes)
        for tree, mine in self._by_tree(outcomes).items():
            if history:
                tree.replay(mine)
                continue
            with tree.directory.ignore_if_removed():
                await tree.feed(mine, source=source, is_waiting=is_waiting)

    def _by_tree(self, outcomes: list[Outcome]) -> dict[WatchedTree, list[Outcome]]:
        found: dict[WatchedTree, list[Outcome]] = {}
        for outcome in outcomes:
            tree = self._tree_of(session_of(outcome))
            if tree is not None:
                found.setdefault(tree, []).append(outcome)
        return found

    def _tree_of(self, session: SessionId | None) -> WatchedTree | None:
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
