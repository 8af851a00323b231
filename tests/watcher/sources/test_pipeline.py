"""Which work tree hears of which outcome, and what the session table and observers are told."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import pytest

from chorus.agents.interface import OutcomeReader, Source
from chorus.model.action import Call, WriteScope
from chorus.model.ids import SessionId, ToolUseId, TurnId
from chorus.model.outcomes import (
    ActionClosed,
    BackgroundTaskEnded,
    CallOpened,
    CallStarted,
    LeadTextAdded,
    Outcome,
    SessionDiscovered,
    SessionEnded,
    StatusCorrected,
    TurnStarted,
)
from chorus.model.session import Session
from chorus.watcher.sources.pipeline import Pipeline, now
from chorus.watcher.work_trees import IsWaiting, WatchedTree
from tests.history.agent_at_work import bash

S = SessionId("s")
FED = {"fed": True}


@dataclass
class FakePairing:
    """Gives the outcomes a test has prepared, and notes what it was asked."""

    outcomes: list[Outcome] = field(default_factory=list)
    fed: list[tuple[Any, ...]] = field(default_factory=list)
    closed: list[tuple[str, ...]] = field(default_factory=list)
    shared: object = None
    unknown: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)

    def feed_value(
        self, value: dict[str, Any], *, source: Source, channel: str = "", client: str = ""
    ) -> list[Outcome]:
        self.fed.append((value, source, channel, client))
        return self.outcomes

    def close(self, session: SessionId | None = None) -> list[Outcome]:
        self.closed.append((str(session),))
        return self.outcomes

    def set_shared_sessions(self, shared: object) -> None:
        self.shared = shared

    def close_client(self, session: SessionId, client: str) -> list[Outcome]:
        self.closed.append((session, client))
        return self.outcomes


class FakeDirectory:
    there = True

    def is_there(self) -> bool:
        return self.there

    def ignore_if_removed(self) -> AbstractContextManager[None]:
        return nullcontext()


@dataclass
class FakeWindows:
    open: bool = False


@dataclass(eq=False)
class FakeTree:
    """Notes the outcomes it gets."""

    name: str
    told: list[tuple[list[Outcome], str, IsWaiting | None]] = field(default_factory=list)
    reported_at: list[float | None] = field(default_factory=list)
    replayed: list[Outcome] = field(default_factory=list)
    directory: FakeDirectory = field(default_factory=FakeDirectory)
    windows: FakeWindows = field(default_factory=FakeWindows)

    async def feed(
        self,
        outcomes: Sequence[Outcome],
        *,
        source: str,
        is_waiting: IsWaiting | None,
        reported_at: float | None,
    ) -> None:
        self.told.append((list(outcomes), source, is_waiting))
        self.reported_at.append(reported_at)

    def replay(self, outcomes: Sequence[Outcome]) -> None:
        self.replayed += outcomes

    def take(self) -> list[Outcome]:
        taken = [outcome for outcomes, _, _ in self.told for outcome in outcomes]
        self.told.clear()
        return taken


class Fed:
    """A pipeline with two work trees, `/main` and `/linked`."""

    def __init__(self) -> None:
        self.main, self.linked = FakeTree("main"), FakeTree("linked")
        self.pairing = FakePairing()
        self.published: list[Session] = []
        self.observed: list[tuple[list[Outcome], str]] = []
        self.pipeline = Pipeline(
            cast(OutcomeReader, self.pairing),
            self.find,
            self.published.append,
            lambda outcomes, source: self.observed.append((outcomes, source)),
        )

    def find(self, cwd: str) -> WatchedTree | None:
        found = {"/main": self.main, "/linked": self.linked}.get(cwd)
        return cast("WatchedTree | None", found)

    async def feed(self, *outcomes: Outcome, source: Source = Source.HOOK, **more: Any) -> list[Outcome]:
        self.pairing.outcomes = list(outcomes)
        return await self.pipeline.feed([FED], source, **more)


@pytest.fixture
async def fed() -> Fed:
    made = Fed()
    await made.feed(SessionDiscovered(S, "/main"))
    made.published.clear()
    made.observed.clear()
    return made


def call(name: str, cwd: str | None = None, session: SessionId | None = S) -> Call:
    return Call(ToolUseId(name), "Bash", {}, (), WriteScope.ANYWHERE, session=session, cwd=cwd)


async def test_each_message_is_paired_with_its_source_channel_and_client(fed: Fed) -> None:
    fed.pairing.fed.clear()
    messages: list[Mapping[str, Any]] = [{"n": 1}, {"n": 2}]
    fed.pairing.outcomes = [TurnStarted(S, TurnId("t"), "hi")]
    found = await fed.pipeline.feed(messages, Source.STREAM, channel="%1", client="7")
    assert fed.pairing.fed == [({"n": n}, Source.STREAM, "%1", "7") for n in (1, 2)]
    assert found == fed.pairing.outcomes * 2
    fed.pairing.fed.clear()
    await fed.pipeline.feed([FED], Source.HOOK)
    assert fed.pairing.fed == [(FED, Source.HOOK, "", "")]


async def test_a_changed_session_is_published_once_for_each_feed(fed: Fed) -> None:
    outcomes: list[Outcome] = [TurnStarted(S, TurnId("t"), "hi"), CallOpened(call("c"))]
    await fed.feed(*outcomes, source=Source.STREAM)
    (session,) = fed.published
    assert (session.id, session.state, session.title) == (S, "working", "hi")
    assert session.sources == ("hook", "stream")
    assert fed.pipeline.sources_of(S) == ("hook", "stream")
    assert fed.pipeline.sources_of(SessionId("unknown")) == ()
    assert fed.observed == [(outcomes, "stream")]
    assert fed.pairing.shared is fed.pipeline.roster.shared


async def test_an_outcome_about_no_session_publishes_none(fed: Fed) -> None:
    await fed.feed(StatusCorrected(ToolUseId("c"), "failed", "succeeded"))
    assert fed.published == []
    assert fed.main.take() == []


async def test_a_call_is_told_to_the_work_tree_it_runs_in(fed: Fed) -> None:
    here, there, nowhere = (
        CallOpened(call("a")),
        CallOpened(call("b", "/linked")),
        CallOpened(call("c", "/x")),
    )
    await fed.feed(here, there, nowhere)
    assert fed.main.take() == [here, nowhere]  # a directory of no work tree: the session's
    assert fed.linked.take() == [there]
    started, done = CallStarted(call("d", "/linked")), ActionClosed(bash("d", session="s"))
    await fed.feed(started, done)
    assert (fed.main.take(), fed.linked.take()) == ([done], [started])


async def test_a_call_of_an_unknown_session_is_told_to_nobody(fed: Fed) -> None:
    await fed.feed(CallOpened(call("a", session=None)), CallOpened(call("b", session=SessionId("other"))))
    assert (fed.main.told, fed.linked.told) == ([], [])


@pytest.mark.parametrize(
    "later",
    [
        StatusCorrected(ToolUseId("b"), "failed", "succeeded", S),
        LeadTextAdded(ToolUseId("b"), "words", S),
        BackgroundTaskEnded(S, ToolUseId("b"), "task"),
    ],
)
async def test_what_is_learned_later_of_a_call_is_told_to_the_work_tree_it_ran_in(
    fed: Fed, later: Outcome
) -> None:
    await fed.feed(CallOpened(call("b", "/linked")))
    fed.linked.take()
    await fed.feed(later)
    assert (fed.main.take(), fed.linked.take()) == ([], [later])
    fed.linked.directory.there = False  # removed since: the session's own hears of it
    await fed.feed(later)
    assert (fed.main.take(), fed.linked.take()) == ([later], [])


async def test_the_end_of_an_unknown_task_is_told_to_the_sessions_work_tree(fed: Fed) -> None:
    ended = BackgroundTaskEnded(S, None, "task")
    await fed.feed(ended, LeadTextAdded(ToolUseId("unknown"), "words", S))
    assert fed.main.take() == [ended, LeadTextAdded(ToolUseId("unknown"), "words", S)]


async def test_the_end_of_a_session_is_told_to_its_work_tree_and_where_calls_are_open(fed: Fed) -> None:
    await fed.feed(CallOpened(call("b", "/linked")))
    fed.linked.take()
    ended = SessionEnded(S, "exit")
    await fed.feed(ended)
    assert (fed.main.take(), fed.linked.take()) == ([ended], [])
    fed.linked.windows.open = True
    await fed.feed(ended)
    assert (fed.main.take(), fed.linked.take()) == ([ended], [ended])


async def test_a_session_without_a_directory_ends_for_nobody(fed: Fed) -> None:
    other = SessionId("other")
    await fed.feed(SessionDiscovered(other, None), SessionEnded(other, None))
    assert fed.main.told == []
    assert fed.pipeline.roster.sessions[other].state == "gone"


async def test_what_waits_and_where_it_came_from_reaches_the_work_tree(fed: Fed) -> None:
    waits: IsWaiting = lambda: True  # noqa: E731  as short as what it stands for
    await fed.feed(CallOpened(call("a")), is_waiting=waits, reported_at=12.5)
    await fed.feed(CallOpened(call("a")), source=Source.TRANSCRIPT)
    assert fed.main.reported_at == [12.5, None]
    assert [(source, is_waiting) for _, source, is_waiting in fed.main.told] == [
        ("hook", waits),
        ("transcript", None),
    ]


async def test_history_is_replayed_and_not_recorded(fed: Fed) -> None:
    opened, there = CallOpened(call("a")), CallOpened(call("b", "/linked"))
    await fed.feed(opened, there, history=True)
    assert (fed.main.told, fed.linked.told) == ([], [])
    assert (fed.main.replayed, fed.linked.replayed) == ([opened], [there])


async def test_a_session_goes_on_while_another_client_is_in_it(fed: Fed) -> None:
    for client in ("1", "2"):
        fed.pipeline.roster.set_location(S, time=now(), source="hook", client=client)
    ended = SessionEnded(S, "exit")
    assert await fed.feed(ended, client="1") == []
    assert fed.main.told == []
    assert fed.pipeline.roster.sessions[S].state == "idle"
    assert await fed.feed(ended, client="2") == [ended]
    assert fed.pipeline.roster.sessions[S].state == "gone"


async def test_an_end_that_names_no_client_is_the_end(fed: Fed) -> None:
    for client in ("1", "2"):
        fed.pipeline.roster.set_location(S, time=now(), source="hook", client=client)
    ended = SessionEnded(S, "exit")
    assert await fed.feed(ended) == [ended]
    assert fed.pipeline.roster.sessions[S].state == "gone"


async def test_a_turn_of_one_of_two_clients_is_not_an_end(fed: Fed) -> None:
    for client in ("1", "2"):
        fed.pipeline.roster.set_location(S, time=now(), source="hook", client=client)
    begun = TurnStarted(S, TurnId("t"), "hi")
    assert await fed.feed(begun, client="1") == [begun]
    assert fed.pipeline.roster.clients_of(S) == ["1", "2"]


async def test_the_unfinished_calls_of_a_session_whose_client_is_gone_are_closed(fed: Fed) -> None:
    done = ActionClosed(bash("a", session="s", status="unfinished"))
    fed.pairing.outcomes = [done]
    ended = await fed.pipeline.end_session(S, source="mod")
    assert ended == [done, SessionEnded(S, "gone")]
    assert fed.pairing.closed == [("s",)]
    assert fed.main.told == [(ended, "mod", None)]
    assert fed.published[-1].state == "gone"


async def test_the_unfinished_calls_of_one_of_two_clients_are_closed(fed: Fed) -> None:
    done = ActionClosed(bash("a", session="s", status="unfinished"))
    fed.pairing.outcomes = [done]
    assert await fed.pipeline.end_client(S, "7", source="mod") == [done]
    assert fed.pairing.closed == [("s", "7")]
    assert fed.main.told == [([done], "mod", None)]
    assert fed.pipeline.roster.sessions[S].state == "idle"


def test_a_moment_is_named_in_universal_time_to_the_millisecond() -> None:
    moment = now()
    assert datetime.fromisoformat(moment).utcoffset() is not None
    assert len(moment) == len("2026-01-02T03:04:05.678+00:00")
