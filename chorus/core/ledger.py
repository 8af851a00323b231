"""Every tool call by its id: open, or finished and remembered.

Receives what is seen of calls, from any number of sources, in any order, any number of times. Gives each
call once as opened and once as closed, and then only what is new. Open calls are never forgotten. Of
finished ones only the newest are remembered, without their input and witness.
"""

from collections import Counter
from collections.abc import Callable
from itertools import islice

from chorus.core.edits import BadWitness, parse_witness, paths_of
from chorus.core.entries import Entry, Learned, Seen, as_action, as_call
from chorus.core.events.base import JsonObject
from chorus.core.evidence import Evidence, status_of
from chorus.core.ids import AgentId, ToolUseId
from chorus.core.lru import Recent
from chorus.core.outcomes import (
    ActionClosed,
    ActionPlaced,
    CallOpened,
    Outcome,
    StatusCorrected,
    WitnessArrived,
)
from chorus.core.sessions import Session

# A finished call costs about 500 bytes, so this many stay below 32 MB. A call seen again after it was
# forgotten is given again: who records actions knows their ids for good.
FINISHED_KEPT = 65_536
# How far back a name learned late (of a turn, a session, a sub-agent) is carried.
NEWEST = 1024
# Results whose call was never seen: what was in flight where a recording begins.
ORPHANS_KEPT = 256


class Ledger:
    def __init__(self, problems: Counter[str]) -> None:
        self._problems = problems
        self._open: dict[ToolUseId, Entry] = {}
        self._finished: Recent[ToolUseId, Entry] = Recent(FINISHED_KEPT)
        self._orphans: Recent[ToolUseId, Learned] = Recent(ORPHANS_KEPT)

    def find(self, call: ToolUseId) -> Entry | None:
        return self._open.get(call) or self._finished.touch(call)

    def is_open(self, call: ToolUseId) -> bool:
        return call in self._open

    def open_entries(self) -> list[Entry]:
        return list(self._open.values())

    def see(self, call: ToolUseId, tool: str, given: JsonObject, seen: Seen) -> list[Outcome]:
        """A call is seen, for the first time or again."""
        entry = self.find(call)
        if entry is not None:
            return self.see_again(entry, seen)
        entry = self._open[call] = Entry(call, tool, given, seen)
        outcomes: list[Outcome] = [CallOpened(as_call(entry))]
        if (orphan := self._orphans.pop(call, None)) is not None:
            outcomes += self.learn(call, orphan)
        return outcomes

    def see_again(self, entry: Entry, seen: Seen) -> list[Outcome]:
        turn = entry.seen.turn
        name = turn.id if turn else None
        entry.merge(seen)
        if turn is None or turn.id == name:
            return self._amended(entry)
        # The turn has its proper name now: that concerns all its calls.
        return self._placed_again(lambda other: other.seen.turn is turn)

    def learn(self, call: ToolUseId, learned: Learned) -> list[Outcome]:
        """Something is learned of a call, which may not have been seen yet."""
        entry = self.find(call)
        if entry is None:
            known = self._orphans.get(call)
            self._orphans[call] = known.plus(learned) if known else learned
            return []
        entry.evidence |= learned.evidence
        entry.ran = entry.ran or learned.ran
        entry.seen.time = entry.seen.time or learned.time
        arrived = self._read_response(entry, learned.response)
        if entry.status is None:
            return self._close(entry) if entry.evidence.settles else []
        outcomes = self._amended(entry)
        if arrived and entry.witness is not None:
            outcomes.append(WitnessArrived(call, entry.witness, entry.written))
        entry.forget()
        return outcomes

    def end(self, chosen: Callable[[Entry], bool], evidence: Evidence) -> list[Outcome]:
        """Close the open calls for which no result will come any more."""
        outcomes: list[Outcome] = []
        for entry in self.open_entries():
            if chosen(entry):
                entry.evidence |= evidence
                outcomes += self._close(entry)
        return outcomes

    def name_agent(self, parent: ToolUseId, agent: AgentId) -> list[Outcome]:
        """The sub-agent that a call started is known by name now."""
        outcomes: list[Outcome] = []
        for entry in [*self._open.values(), *self._newest()]:
            if entry.seen.parent == parent and entry.seen.agent != agent:
                entry.seen.agent = agent
                outcomes += self._amended(entry)
        return outcomes

    def name_session(self, session: Session) -> list[Outcome]:
        """The session of earlier calls is known by name now."""
        return self._placed_again(lambda entry: entry.seen.session is session)

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

    def _read_response(self, entry: Entry, response: object) -> bool:
        """Take over what the tool itself reports; whether it brought the first witness."""
        if entry.witnessed or response is None:
            return False
        try:
            entry.witness = parse_witness(entry.tool, response, entry.seen.cwd)
        except BadWitness:
            self._problems["bad-witness"] += 1
        if isinstance(response, dict):
            entry.written = entry.written or paths_of(response, entry.seen.cwd)
        entry.witnessed = entry.witness is not None
        return entry.witnessed

    def _close(self, entry: Entry) -> list[Outcome]:
        entry.status = status_of(entry.evidence)
        entry.placed = entry.place()
        action = as_action(entry, entry.status)
        del self._open[entry.id]
        self._finished[entry.id] = entry
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
            outcomes.append(StatusCorrected(entry.id, status, was))
        if (place := entry.place()) != entry.placed:
            entry.placed = place
            outcomes.append(ActionPlaced(entry.id, *place))
        return outcomes
