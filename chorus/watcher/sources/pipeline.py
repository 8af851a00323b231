"""The one pipeline that every source feeds: events become outcomes, outcomes reach their work trees."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from chorus.agents.interface import OutcomeReader, Source
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.lru import LruDict
from chorus.model.outcomes import (
    ActionClosed,
    BackgroundTaskEnded,
    CallOpened,
    CallStarted,
    LeadTextAdded,
    Outcome,
    SessionEnded,
    StatusCorrected,
)
from chorus.model.session import Session, SessionTable
from chorus.watcher.work_trees import IsWaiting, WatchedTree

log = logging.getLogger("chorus.watcher")

# How many calls are remembered with their work tree, because they may still be corrected.
MAX_CALLS = 1024

FindTree = Callable[[str], WatchedTree | None]


class Pipeline:
    def __init__(
        self,
        pairing: OutcomeReader,
        find_tree: FindTree,
        publish_session: Callable[[Session], None],
        observe: Callable[[list[Outcome], str], None],
    ) -> None:
        self.pairing = pairing
        self.roster = SessionTable()
        pairing.set_shared_sessions(self.roster.shared)
        self.lock = asyncio.Lock()  # held while history changes: one source at a time
        self._find_tree = find_tree
        self.publish_session = publish_session
        self._trees_of_calls: LruDict[ToolUseId, WatchedTree] = LruDict(MAX_CALLS)
        self._observe = observe
        self.on_fed: Callable[[], None] = lambda: None  # called before a client that waits goes on

    async def feed(
        self,
        messages: Iterable[Mapping[str, Any]],
        source: Source,
        *,
        channel: str = "",
        client: str = "",
        is_waiting: IsWaiting | None = None,
        reported_at: float | None = None,
        history: bool = False,
    ) -> list[Outcome]:
        """Feed events (`messages`) of one source, in order. Return their outcomes.

        `channel`: the pane or pipe of the events. `client`: the client whose hook or mod reports them.
        `reported_at`: when the event was written, if it was in a file. `history`: the events are from before
        the session was watched.
        """
        outcomes: list[Outcome] = []
        for message in messages:
            fed = self.pairing.feed_value(dict(message), source=source, channel=channel, client=client)
            outcomes += [outcome for outcome in fed if not self._goes_on(outcome, client)]
        await self._distribute(
            outcomes, source=source.value, is_waiting=is_waiting, reported_at=reported_at, history=history
        )
        return outcomes

    def sources_of(self, session: SessionId) -> tuple[str, ...]:
        known = self.roster.sessions.get(session)
        return known.sources if known is not None else ()

    async def end_session(self, session: SessionId, *, source: str) -> list[Outcome]:
        """Close a session whose client has ended."""
        outcomes: list[Outcome] = [*self.pairing.close(session), SessionEnded(session, "gone")]
        await self._distribute(outcomes, source=source)
        return outcomes

    async def end_client(self, session: SessionId, client: str, *, source: str) -> list[Outcome]:
        """Close the calls of a client that has ended, in a session that another client also uses."""
        outcomes = self.pairing.close_client(session, client)
        await self._distribute(outcomes, source=source)
        return outcomes

    def _goes_on(self, outcome: Outcome, client: str) -> bool:
        """If the outcome is the end of the client's session, remove the client from the session.

        Return True if another client still runs that session.
        """
        if not isinstance(outcome, SessionEnded) or not client:
            return False
        return self.roster.remove_client(outcome.session, client)

    async def _distribute(
        self,
        outcomes: list[Outcome],
        *,
        source: str,
        is_waiting: IsWaiting | None = None,
        reported_at: float | None = None,
        history: bool = False,
    ) -> None:
        moment = now()
        changed: dict[SessionId, Session] = {}
        for outcome in outcomes:
            session = self.roster.feed(outcome, time=moment, source=source)
            if session is not None:
                changed[session.id] = session
        for session in changed.values():
            self.publish_session(session)
        self._observe(outcomes, source)
        for tree, mine in self._by_tree(outcomes).items():
            if history:
                tree.replay(mine)
                continue
            with tree.directory.ignore_if_removed():
                await tree.feed(mine, source=source, is_waiting=is_waiting, reported_at=reported_at)
        self.on_fed()

    def _by_tree(self, outcomes: list[Outcome]) -> dict[WatchedTree, list[Outcome]]:
        found: dict[WatchedTree, list[Outcome]] = {}
        for outcome in outcomes:
            for tree in self._trees_of(outcome):
                found.setdefault(tree, []).append(outcome)
        return found

    def _trees_of(self, outcome: Outcome) -> Iterable[WatchedTree]:
        """Return the work trees that an outcome is for.

        A call belongs to the work tree that it runs in, because a sub-agent may have a tree of its own.
        """
        match outcome:
            case CallOpened(call) | CallStarted(call) | ActionClosed(call):
                tree = (self._find_tree(call.cwd) if call.cwd else None) or self._tree_of(call.session)
                if tree is not None:
                    self._trees_of_calls[call.id] = tree
            case StatusCorrected(id=call_id) | LeadTextAdded(id=call_id) | BackgroundTaskEnded(id=call_id):
                known = self._trees_of_calls.get(call_id) if call_id is not None else None
                is_there = known is not None and known.directory.is_there()
                tree = known if is_there else self._tree_of(outcome.session)
            case SessionEnded(session):
                others = {tree for tree in self._trees_of_calls.values() if tree.windows.open}
                return {tree for tree in (self._tree_of(session), *others) if tree is not None}
            case _:
                return ()
        return () if tree is None else (tree,)

    def _tree_of(self, session: SessionId | None) -> WatchedTree | None:
        known = self.roster.sessions.get(session) if session is not None else None
        return self._find_tree(known.cwd) if known is not None and known.cwd else None


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
