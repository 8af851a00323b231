"""What is known of one tool call so far."""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from chorus.agents.claude_code.change_reports import paths_of
from chorus.agents.claude_code.events.base import JsonObject
from chorus.agents.claude_code.pairing.sessions import Session, Trust
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.agents.interface import Source
from chorus.model.action import Action, Call, ChangeReport, Status, WriteScope
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId
from chorus.model.tools import write_scope_of

_NAMED = WriteScope.NAMED  # looked up once: that takes longer than making an entry

Place: TypeAlias = tuple[SessionId | None, TurnId | None, AgentId | None]


class Learned(NamedTuple):
    """Something learned of a call. What is None is not told."""

    evidence: int
    response: object = None  # the tool's own report, as it came
    ran: JsonObject | None = None  # the input that ran, where it is not the model's
    time: str | None = None
    failure: str | None = None  # the client's own words for a failure

    def plus(self, other: "Learned") -> "Learned":
        response = other.response if self.response is None else self.response
        both = self.evidence | other.evidence
        return Learned(
            both, response, self.ran or other.ran, self.time or other.time, self.failure or other.failure
        )


@dataclass(slots=True)
class Entry:
    """A call as one source shows it, to which others add."""

    id: ToolUseId
    tool: str
    input: JsonObject  # the model's
    session: Session
    trust: Trust
    sources: tuple[Source, ...]
    turn: Turn | None = None
    prompt: TurnId | None = None
    agent: AgentId | None = None
    parent: ToolUseId | None = None
    lead_text: str | None = None
    time: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()  # that the model's input names
    evidence: int = 0
    ran: JsonObject | None = None
    report: ChangeReport | None = None
    spoken: bool = False  # given with what was said before it, even if that is forgotten by now
    background: bool = False
    failure: str | None = None  # the client's own words for a failure
    written: tuple[str, ...] = ()  # the paths the tool's own report names
    status: Status | None = None  # as last given; None while open
    placed: Place = (None, None, None)  # as last given

    def place(self) -> Place:
        turn = self.turn
        return self.session.id, turn.id if turn else None, self.agent

    def merge(self, seen: "Entry") -> None:
        """Fill in what was not told before. A more trusted source names the session."""
        if seen.sources[0] not in self.sources:
            self.sources += seen.sources
        if seen.trust > self.trust:
            self.session, self.trust = seen.session, seen.trust
        if seen.prompt is not None and self.prompt is None:
            self.name_turn(seen.turn, seen.prompt)
        self.turn = self.turn or seen.turn
        # No agent means the main agent. A parent's id stands in for an agent's until that is known.
        if self.agent is not None and str(self.agent) == self.parent:
            self.agent = seen.agent or self.agent
        self.parent = self.parent or seen.parent
        self.lead_text = self.lead_text or seen.lead_text
        self.time = self.time or seen.time
        self.cwd = self.cwd or seen.cwd

    def name_turn(self, turn: Turn | None, prompt: TurnId) -> None:
        """The prompt that led to this call is known: so is its turn."""
        self.prompt = prompt
        if self.turn is None:
            self.turn = turn
        elif self.turn.prompt is None:
            self.session.turns.join(self.turn, prompt)
        elif self.turn.prompt != prompt:
            self.turn = turn

    def forget(self) -> None:
        """A finished call keeps what is needed to correct it, not what it carried."""
        self.input, self.ran, self.report, self.lead_text, self.failure = {}, None, None, None, None


def as_call(entry: Entry) -> Call:
    turn = entry.turn
    return Call(
        entry.id, entry.tool, entry.input, entry.paths, write_scope_of(entry.tool), entry.session.id,
        turn.id if turn else None, entry.agent, entry.lead_text, turn.message if turn else None, entry.time,
    )  # fmt: skip


def as_action(entry: Entry, status: Status) -> Action:
    session, turn, agent = entry.placed
    message = entry.turn.message if entry.turn else None
    paths, write_scope = entry.paths, write_scope_of(entry.tool)
    if entry.written and write_scope is _NAMED:
        paths = entry.written
    elif entry.ran:
        paths = paths_of(entry.ran, entry.cwd)
    return Action(
        entry.id, entry.tool, entry.ran or entry.input, status, session, turn, agent, paths, write_scope,
        entry.report, entry.lead_text, message, entry.time, entry.background, entry.failure,
    )  # fmt: skip
