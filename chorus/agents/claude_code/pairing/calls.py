"""All open tool calls, and the newest finished ones, by their id.

Several sources show the same call, in any order. Facts learned after the end of a call are returned as
corrections.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from chorus.agents.claude_code.change_reports import InvalidReport, parse_report, paths_of
from chorus.agents.claude_code.events.base import JsonObject
from chorus.agents.claude_code.pairing.evidence import CLOSING, Evidence, call_status
from chorus.agents.claude_code.pairing.sessions import SessionContext, Trust
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.agents.interface import Source
from chorus.model.action import Action, Call, ChangeReport, Status, WriteScope
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId
from chorus.model.lru import LruDict
from chorus.model.outcomes import (
    ActionClosed,
    CallOpened,
    CallStarted,
    LeadTextAdded,
    Outcome,
    OwnerCorrected,
    StatusCorrected,
)
from chorus.model.tools import READ_ONLY_TOOLS, write_scope_of

# Finished calls that can still be corrected. Each takes about a kilobyte.
MAX_FINISHED = 1024
# Of older calls only the id is remembered, because a source may report them again. A call that is seen again
# after its id was dropped is opened again. This does no harm, because the recorder remembers all ids.
MAX_PAST = 8192
# How many finished calls are corrected when the name of a turn, a session or a sub-agent is learned late.
MAX_CORRECTED = 1024
# Results whose call was not seen: the call was running where a recording begins.
MAX_ORPHANS = 256
# The key under which a command's report names the task that goes on in the background.
_TASK_KEY = "backgroundTaskId"
_NAMED = WriteScope.NAMED  # a name for the member: the attribute lookup takes longer than making an entry

Owner: TypeAlias = tuple[SessionId | None, TurnId | None, AgentId | None]


@dataclass(slots=True)
class CallUpdate:
    """The facts about a call in one event. A field is None if the event does not give it."""

    evidence: int
    response: object = None  # the tool's own result, unchanged
    effective_input: JsonObject | None = None  # the input that the tool ran with, if not the model's
    time: str | None = None
    failure: str | None = None  # the client's own text for a failure

    def merged_with(self, other: "CallUpdate") -> "CallUpdate":
        return CallUpdate(
            self.evidence | other.evidence,
            other.response if self.response is None else self.response,
            self.effective_input or other.effective_input,
            self.time or other.time,
            self.failure or other.failure,
        )


@dataclass(slots=True)
class CallEntry:
    """A call, merged from the events of all its sources."""

    id: ToolUseId
    tool: str
    input: JsonObject  # as the model wrote it
    session: SessionContext
    trust: Trust
    sources: tuple[Source, ...]
    turn: Turn | None = None
    prompt_id: TurnId | None = None
    agent: AgentId | None = None
    parent: ToolUseId | None = None
    lead_text: str | None = None
    time: str | None = None
    cwd: str | None = None
    paths: tuple[str, ...] = ()  # named by the model's input
    evidence: int = 0
    effective_input: JsonObject | None = None
    report: ChangeReport | None = None
    lead_text_given: bool = False  # stays True after the text itself is dropped
    background: bool = False
    failure: str | None = None
    reported_paths: tuple[str, ...] = ()  # named by the tool's own result
    status: Status | None = None  # as in the last outcome; None while open
    last_owner: Owner = (None, None, None)  # as in the last outcome
    client: str = ""  # the client whose hook showed it

    def owner(self) -> Owner:
        turn = self.turn
        return self.session.id, turn.id if turn else None, self.agent

    def merge(self, seen: "CallEntry") -> None:
        """Fill in fields that were unknown. The more trusted source decides about the session."""
        if seen.sources[0] not in self.sources:
            self.sources += seen.sources
        if seen.trust > self.trust:
            self.session, self.trust = seen.session, seen.trust
        if seen.prompt_id is not None and self.prompt_id is None:
            self.set_prompt_id(seen.turn, seen.prompt_id)
        self.turn = self.turn or seen.turn
        # No agent means the main agent. The parent call's id is used as agent id until the real one is known.
        if self.agent is not None and str(self.agent) == self.parent:
            self.agent = seen.agent or self.agent
        self.parent = self.parent or seen.parent
        self.lead_text = self.lead_text or seen.lead_text
        self.time = self.time or seen.time
        self.cwd = self.cwd or seen.cwd
        self.client = self.client or seen.client

    def set_prompt_id(self, turn: Turn | None, prompt_id: TurnId) -> None:
        """Set the id of the message that led to this call. `turn` is a turn with this id, if known."""
        self.prompt_id = prompt_id
        if self.turn is None:
            self.turn = turn
        elif self.turn.prompt_id is None:
            self.session.turns.join(self.turn, prompt_id)
        elif self.turn.prompt_id != prompt_id:
            self.turn = turn

    def drop_payload(self) -> None:
        """Drop the fields that later corrections do not need."""
        self.input, self.effective_input, self.report = {}, None, None
        self.lead_text = self.failure = None


class CallTable:
    def __init__(self, problems: Counter[str]) -> None:
        self._problems = problems
        self._open: dict[ToolUseId, CallEntry] = {}
        self._finished: OrderedDict[ToolUseId, CallEntry] = OrderedDict()
        self._past: LruDict[ToolUseId, None] = LruDict(MAX_PAST)
        self._orphans: LruDict[ToolUseId, CallUpdate] = LruDict(MAX_ORPHANS)

    def find(self, call: ToolUseId) -> CallEntry | None:
        entry = self._open.get(call)
        return self._finished.get(call) if entry is None else entry

    def is_past(self, call: ToolUseId) -> bool:
        """Return whether the call ended so long ago that only its id is remembered."""
        return call in self._past

    def is_open(self, call: ToolUseId) -> bool:
        return call in self._open

    @property
    def any_open(self) -> bool:
        return bool(self._open)

    def open_calls(self) -> list[CallEntry]:
        return list(self._open.values())

    def add(self, seen: CallEntry, known: CallEntry | None) -> list[Outcome]:
        """Add a call that an event shows, or merge it into `known`, the call's entry so far."""
        if known is not None:
            return self._merge(known, seen)
        if seen.id in self._past:
            return []
        seen.paths = paths_of(seen.input, seen.cwd)
        self._open[seen.id] = seen
        # The client shows all calls of a message before it runs the first. Only hooks show when each one
        # runs.
        opened: list[Outcome] = [CallOpened(as_call(seen), not seen.session.hooked)]
        if self._orphans and (orphan := self._orphans.pop(seen.id, None)) is not None:
            opened += self.update(seen.id, orphan)
        return opened

    def set_prompt_id(self, entry: CallEntry, turn: Turn, prompt_id: TurnId) -> list[Outcome]:
        """Set the prompt id of a call, unless it has one. Return the corrections that follow."""
        if entry.prompt_id is not None:
            return []
        before = entry.turn
        name = before.id if before else None
        entry.set_prompt_id(turn, prompt_id)
        return self._turn_corrections(entry, before, name)

    def update(self, call: ToolUseId, update: CallUpdate) -> list[Outcome]:
        """Apply an update to a call, and return the outcomes.

        If no event has shown the call yet, keep the update until an event does. If the call ended so long ago
        that only its id is remembered, do nothing.
        """
        entry = self.find(call)
        if entry is None and call in self._past:
            return []
        if entry is None:
            known = self._orphans.get(call)
            self._orphans[call] = known.merged_with(update) if known else update
            return []
        evidence, response = update.evidence, update.response
        starts = evidence & Evidence.HOOKED and not entry.evidence & Evidence.HOOKED
        entry.evidence |= evidence
        entry.effective_input = entry.effective_input or update.effective_input
        entry.time = entry.time or update.time
        entry.failure = entry.failure or update.failure
        if entry.status is not None:
            outcomes = self._corrections(entry)
            entry.drop_payload()
            return outcomes
        if response is not None and entry.report is None and entry.tool not in READ_ONLY_TOOLS:
            self._read_response(entry, response)
        if entry.evidence & CLOSING:
            return self._close(entry, update.time)
        return [CallStarted(as_call(entry))] if starts else []

    def close_if(self, chosen: Callable[[CallEntry], bool], evidence: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for entry in list(self._open.values()):
            if chosen(entry):
                entry.evidence |= evidence
                outcomes += self._close(entry)
        return outcomes

    def set_agent(self, parent: ToolUseId, agent: AgentId) -> list[Outcome]:
        """Set the sub-agent of the calls that have this parent call."""
        outcomes: list[Outcome] = []
        for entry in [*self._open.values(), *self._newest()]:
            if entry.parent == parent and entry.agent != agent:
                entry.agent = agent
                outcomes += self._corrections(entry)
        return outcomes

    def correct_session(self, session: SessionContext) -> list[Outcome]:
        return self._owner_corrections(lambda entry: entry.session is session)

    def drop_orphans(self) -> None:
        if self._orphans:
            self._problems["result-without-call"] += len(self._orphans)
            self._orphans.clear()

    def _merge(self, entry: CallEntry, seen: CallEntry) -> list[Outcome]:
        before = entry.turn
        name = before.id if before else None
        entry.merge(seen)
        return self._turn_corrections(entry, before, name) + self._late_lead_text(entry)

    def _late_lead_text(self, entry: CallEntry) -> list[Outcome]:
        """Report a lead text that comes after the end of its call, once."""
        lead_text, entry.lead_text = entry.lead_text, None if entry.status else entry.lead_text
        if entry.status is None or lead_text is None or entry.lead_text_given:
            return []
        entry.lead_text_given = True
        return [LeadTextAdded(entry.id, lead_text, entry.session.id)]

    def _turn_corrections(self, entry: CallEntry, turn: Turn | None, name: TurnId | None) -> list[Outcome]:
        if turn is None or turn.id == name:
            return self._corrections(entry)
        # The turn was renamed, so all of its calls need a correction.
        return self._owner_corrections(lambda other: other.turn is turn)

    def _owner_corrections(self, concerned: Callable[[CallEntry], bool]) -> list[Outcome]:
        entries = filter(concerned, self._newest())
        return [outcome for entry in entries for outcome in self._corrections(entry)]

    def _newest(self) -> list[CallEntry]:
        """Return the finished calls that may still be corrected, oldest first."""
        return list(islice(reversed(self._finished.values()), MAX_CORRECTED))[::-1]

    def _read_response(self, entry: CallEntry, response: object) -> None:
        """Take the report, the reported paths and the background task from a tool's own result."""
        # The client also moves long-running commands to the background, without a request from the model.
        is_task = isinstance(response, dict) and bool(response.get(_TASK_KEY))
        entry.background = entry.background or is_task
        try:
            entry.report = parse_report(entry.tool, response, entry.cwd)
        except InvalidReport:
            self._problems["malformed-report"] += 1
        if entry.report is not None:
            entry.reported_paths = entry.report.changed
        elif isinstance(response, dict):
            entry.reported_paths = entry.reported_paths or paths_of(response, entry.cwd)

    def _close(self, entry: CallEntry, ended: str | None = None) -> list[Outcome]:
        entry.status = call_status(entry.evidence)
        unhooked = entry.status == "succeeded" and not entry.evidence & Evidence.HOOKED
        if unhooked and entry.tool not in READ_ONLY_TOOLS:
            entry.session.hooked = False  # the call ran without a hook event: the hooks were removed
        entry.last_owner = entry.owner()
        action = as_action(entry, entry.status)
        entry.lead_text_given = entry.lead_text is not None
        del self._open[entry.id]
        self._finished[entry.id] = entry
        if len(self._finished) > MAX_FINISHED:
            old, _ = self._finished.popitem(last=False)
            self._past[old] = None
        entry.drop_payload()
        return [ActionClosed(action, ended)]

    def _corrections(self, entry: CallEntry) -> list[Outcome]:
        """Return the changes of a finished call since its last outcome."""
        if entry.status is None:
            return []
        outcomes: list[Outcome] = []
        status, was = call_status(entry.evidence), entry.status
        if status != was:
            entry.status = status
            outcomes.append(StatusCorrected(entry.id, status, was, entry.session.id))
        if (owner := entry.owner()) != entry.last_owner:
            entry.last_owner = owner
            outcomes.append(OwnerCorrected(entry.id, *owner))
        return outcomes


def as_call(entry: CallEntry) -> Call:
    turn = entry.turn
    return Call(
        entry.id, entry.tool, entry.input, entry.paths, write_scope_of(entry.tool), entry.session.id,
        turn.id if turn else None, entry.agent, entry.lead_text, turn.message if turn else None, entry.time,
        entry.cwd,
    )  # fmt: skip


def as_action(entry: CallEntry, status: Status) -> Action:
    session, turn, agent = entry.last_owner
    message = entry.turn.message if entry.turn else None
    effective_input = entry.effective_input
    paths, write_scope = entry.paths, write_scope_of(entry.tool)
    if entry.reported_paths and write_scope is _NAMED:
        paths = entry.reported_paths
    elif effective_input:
        paths = paths_of(effective_input, entry.cwd)
    return Action(
        entry.id, entry.tool, effective_input or entry.input, status, session, turn, agent, paths,
        write_scope, entry.report, entry.lead_text, message, entry.time, entry.background, entry.failure,
        entry.cwd,
    )  # fmt: skip
