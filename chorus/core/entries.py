"""What is known of one tool call so far."""

from dataclasses import dataclass, field
from typing import TypeAlias

from chorus.core.actions import Action, Call, Reach, Status, Witness
from chorus.core.edits import paths_of, reach_of
from chorus.core.events.base import JsonObject, Source
from chorus.core.evidence import Evidence
from chorus.core.ids import AgentId, SessionId, ToolUseId, TurnId
from chorus.core.sessions import Session, Trust
from chorus.core.turns import Turn

Place: TypeAlias = tuple[SessionId | None, TurnId | None, AgentId | None]


@dataclass(slots=True)
class Learned:
    """Something seen of a call. What is None or empty is not told."""

    evidence: Evidence = Evidence.NONE
    response: object = None  # the tool's own report, as it came
    ran: JsonObject | None = None  # the input that ran, where it is not the model's
    time: str | None = None

    def plus(self, other: "Learned") -> "Learned":
        response = other.response if self.response is None else self.response
        both = self.evidence | other.evidence
        return Learned(both, response, self.ran or other.ran, self.time or other.time)


@dataclass(slots=True)
class Seen:
    """Where and by whom a call was seen."""

    source: Source
    session: Session
    trust: Trust
    turn: Turn | None = None
    prompt: TurnId | None = None
    agent: AgentId | None = None
    parent: ToolUseId | None = None
    said: str | None = None
    time: str | None = None
    cwd: str | None = None


@dataclass(slots=True)
class Entry:
    id: ToolUseId
    tool: str
    input: JsonObject  # the model's
    seen: Seen
    sources: set[Source] = field(default_factory=set)
    evidence: Evidence = Evidence.NONE
    ran: JsonObject | None = None
    witness: Witness | None = None
    witnessed: bool = False  # a witness was given, even if it is forgotten by now
    written: tuple[str, ...] = ()  # the paths the tool's own report names
    status: Status | None = None  # as last given; None while open
    placed: Place = (None, None, None)  # as last given

    def __post_init__(self) -> None:
        self.sources.add(self.seen.source)

    @property
    def reach(self) -> Reach:
        return reach_of(self.tool)

    def place(self) -> Place:
        turn = self.seen.turn
        return self.seen.session.id, turn.id if turn else None, self.seen.agent

    def merge(self, seen: Seen) -> None:
        """Fill in what was not told before. A more trusted source names the session."""
        known = self.seen
        self.sources.add(seen.source)
        if seen.trust > known.trust:
            known.session, known.trust = seen.session, seen.trust
        if seen.prompt is not None and known.prompt is None:
            known.prompt, known.turn = seen.prompt, _joined(known, seen.turn, seen.prompt)
        known.turn = known.turn or seen.turn
        # No agent means the main agent. A parent's id stands in for an agent's until that is known.
        if known.agent is not None and str(known.agent) == known.parent:
            known.agent = seen.agent or known.agent
        known.parent = known.parent or seen.parent
        known.said = known.said or seen.said
        known.time = known.time or seen.time
        known.cwd = known.cwd or seen.cwd

    def forget(self) -> None:
        """A finished call keeps what is needed to correct it, not what it carried."""
        self.input, self.ran, self.witness, self.seen.said = {}, None, None, None


def _joined(known: Seen, turn: Turn | None, prompt: TurnId) -> Turn | None:
    if known.turn is None or known.turn.prompt is not None or known.turn is turn:
        return turn
    known.session.turns.join(known.turn, prompt)
    return known.turn


def as_call(entry: Entry) -> Call:
    session, turn, agent = entry.place()
    seen = entry.seen
    message = seen.turn.message if seen.turn else None
    paths = paths_of(entry.input, seen.cwd)
    return Call(
        entry.id, entry.tool, entry.input, paths, entry.reach, session, turn, agent, seen.said, message,
        seen.time,
    )  # fmt: skip


def as_action(entry: Entry, status: Status) -> Action:
    session, turn, agent = entry.place()
    seen = entry.seen
    message = seen.turn.message if seen.turn else None
    ran = entry.ran or entry.input
    paths = entry.written if entry.reach is Reach.NAMED and entry.written else paths_of(ran, seen.cwd)
    return Action(
        entry.id, entry.tool, ran, status, session, turn, agent, paths, entry.reach, entry.witness,
        seen.said, message, seen.time,
    )  # fmt: skip
