"""Every tool call by its id: open, or finished and remembered.

Receives what is seen of calls, from any number of sources, in any order, any number of times. Gives each
call once as opened and once as closed, and then only what is new. Open calls are never forgotten. Of
finished ones only the newest are remembered, without their input and witness.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable
from itertools import islice

from chorus.agents.claude_code.change_reports import InvalidReport, parse_report, paths_of
from chorus.agents.claude_code.pairing.call_facts import Entry, Learned, as_action, as_call
from chorus.agents.claude_code.pairing.evidence import SETTLING, status_of
from chorus.agents.claude_code.pairing.sessions import Session
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.model.ids import AgentId, ToolUseId, TurnId
from chorus.model.lru import LruDict
from chorus.model.outcomes import (
    ActionClosed,
    CallOpened,
    LeadTextAdded,
    Outcome,
    OwnerCorrected,
    StatusCorrected,
)
from chorus.model.tools import READ_ONLY_TOOLS

# A finished call costs about 500 bytes, so this many stay below 32 MB. A call seen again after it was
# forgotten is given again: who records actions knows their ids for good.
FINISHED_KEPT = 65_536
# How far back a name learned late (of a turn, a session, a sub-agent) is carried.
NEWEST = 1024
# Results whose call was never seen: what was in flight where a recording begins.
ORPHANS_KEPT = 256
# Where a command's report names the task that goes on.
_TASK = "backgroundTaskId"


class Ledger:
    def __init__(self, problems: Counter[str]) -> None:
        self._problems = problems
        self._open: dict[ToolUseId, Entry] = {}
        self._finished: OrderedDict[ToolUseId, Entry] = OrderedDict()
        self._orphans: LruDict[ToolUseId, Learned] = LruDict(ORPHANS_KEPT)

    def find(self, call: ToolUseId) -> Entry | None:
        entry = self._open.get(call)
        return self._finished.get(call) if entry is None else entry

    def is_open(self, call: ToolUseId) -> bool:
        return call in self._open

    @property
    def any_open(self) -> bool:
        return bool(self._open)

    def see(self, seen: Entry) -> list[Outcome]:
        """A call is seen, for the first time or again."""
        known = self.find(seen.id)
        if known is not None:
            return self._see_again(known, seen)
        seen.paths = paths_of(seen.input, seen.cwd)
        self._open[seen.id] = seen
        opened: list[Outcome] = [CallOpened(as_call(seen))]
        if self._orphans and (orphan := self._orphans.pop(seen.id, None)) is not None:
            opened += self.learn(seen.id, orphan)
        return opened

    def name_turn(self, entry: Entry, turn: Turn, prompt: TurnId) -> list[Outcome]:
        """A later source knows the prompt that led to a call."""
        if entry.prompt is not None:
            return []
        before = entry.turn
        name = before.id if before else None
        entry.name_turn(turn, prompt)
        return self._renamed(entry, before, name)

    def learn(self, call: ToolUseId, learned: Learned) -> list[Outcome]:
        """Something is learned of a call, which may not have been seen yet."""
        entry = self.find(call)
        if entry is None:
            known = self._orphans.get(call)
            self._orphans[call] = known.plus(learned) if known else learned
            return []
        evidence, response, ran, time, failure = learned
        entry.evidence |= evidence
        entry.ran = entry.ran or ran
        entry.time = entry.time or time
        entry.failure = entry.failure or failure
        if entry.status is not None:
            outcomes = self._amended(entry)
            entry.forget()
            return outcomes
        if response is not None and entry.report is None and entry.tool not in READ_ONLY_TOOLS:
            self._read_response(entry, response)
        return self._close(entry) if entry.evidence & SETTLING else []

    def end(self, chosen: Callable[[Entry], bool], evidence: int) -> list[Outcome]:
        """Close the open calls for which no result will come any more."""
        outcomes: list[Outcome] = []
        for entry in list(self._open.values()):
            if chosen(entry):
                entry.evidence |= evidence
                outcomes += self._close(entry)
        return outcomes

    def name_agent(self, parent: ToolUseId, agent: AgentId) -> list[Outcome]:
        """The sub-agent that a call started is known by name now."""
        outcomes: list[Outcome] = []
        for entry in [*self._open.values(), *self._newest()]:
            if entry.parent == parent and entry.agent != agent:
                entry.agent = agent
                outcomes += self._amended(entry)
        return outcomes

    def name_session(self, session: Session) -> list[Outcome]:
        """The session of earlier calls is known by name now."""
        return self._placed_again(lambda entry: entry.session is session)

    def forget_orphans(self) -> None:
        """No call will come any more for the results that have none."""
        if self._orphans:
            self._problems["result-without-call"] += len(self._orphans)
            self._orphans.clear()

    def _placed_again(self, concerned: Callable[[Entry], bool]) -> list[Outcome]:
        entries = filter(concerned, self._newest())
        return [outcome for entry in entries for outcome in self._amended(entry)]

    def _newest(self) -> list[Entry]:
        """The finished calls that may still belong to what goes on, oldest first."""
        return list(islice(reversed(self._finished.values()), NEWEST))[::-1]

    def _see_again(self, entry: Entry, seen: Entry) -> list[Outcome]:
        before = entry.turn
        name = before.id if before else None
        entry.merge(seen)
        return self._renamed(entry, before, name) + self._worded(entry)

    def _worded(self, entry: Entry) -> list[Outcome]:
        """What was said before a finished call, where that was not known when it was given."""
        lead_text, entry.lead_text = entry.lead_text, None if entry.status else entry.lead_text
        if entry.status is None or lead_text is None or entry.spoken:
            return []
        entry.spoken = True
        return [LeadTextAdded(entry.id, lead_text, entry.session.id)]

    def _renamed(self, entry: Entry, turn: Turn | None, name: TurnId | None) -> list[Outcome]:
        if turn is None or turn.id == name:
            return self._amended(entry)
        # The turn has its proper name now: that concerns all its calls.
        return self._placed_again(lambda other: other.turn is turn)

    def _read_response(self, entry: Entry, response: object) -> None:
        """Take over what the tool itself reports."""
        # Not only where the model asked for it: the client moves what takes long to the background.
        entry.background = entry.background or (isinstance(response, dict) and bool(response.get(_TASK)))
        try:
            entry.report = parse_report(entry.tool, response, entry.cwd)
        except InvalidReport:
            self._problems["malformed-report"] += 1
        if entry.report is not None:
            entry.written = entry.report.changed
        elif isinstance(response, dict):
            entry.written = entry.written or paths_of(response, entry.cwd)

    def _close(self, entry: Entry) -> list[Outcome]:
        entry.status = status_of(entry.evidence)
        entry.placed = entry.place()
        action = as_action(entry, entry.status)
        entry.spoken = entry.lead_text is not None
        del self._open[entry.id]
        self._finished[entry.id] = entry
        if len(self._finished) > FINISHED_KEPT:
            self._finished.popitem(last=False)
        entry.forget()
        return [ActionClosed(action)]

    def _amended(self, entry: Entry) -> list[Outcome]:
        """What has changed of a finished call since it was last given."""
        if entry.status is None:
            return []
        outcomes: list[Outcome] = []
        status, was = status_of(entry.evidence), entry.status
        if status != was:
            entry.status = status
            outcomes.append(StatusCorrected(entry.id, status, was, entry.session.id))
        if (place := entry.place()) != entry.placed:
            entry.placed = place
            outcomes.append(OwnerCorrected(entry.id, *place))
        return outcomes
