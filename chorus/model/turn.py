"""The turns, computed from outcomes: the answer, tokens, cost and errors of each turn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

from chorus.model.api.json_api import SessionSums, TokensJson, TurnJson
from chorus.model.ids import SessionId, TurnId
from chorus.model.json_lines import parse_json_lines
from chorus.model.lru import LruDict
from chorus.model.outcomes import (
    ErrorReported,
    MessageDelivered,
    ModelAnswered,
    Outcome,
    RequestRetried,
    SessionDescribed,
    SessionEnded,
    Tokens,
    TurnEnded,
    TurnRenamed,
    TurnReported,
    TurnStarted,
)

# The file of turns that have ended, in the watcher's directory.
TURNS_FILE = "turns.jsonl"
# For all sessions together; older turns are only in the file.
MAX_TURNS = 500
# In characters; real answers are far shorter.
MAX_ANSWER_LENGTH = 100_000

# The reason of a turn during which its client ended. The client never reports this itself.
CLIENT_ENDED = "client ended"

# The keys that every saved turn has. Older versions did not save the permission mode.
_SAVED_KEYS = TurnJson.__required_keys__ - {"mode"}

_Key = tuple[SessionId, TurnId]


@dataclass(slots=True)
class TurnRecord:
    session: SessionId
    turn: TurnId
    started: str
    message: str | None = None
    messages: list[str] = field(default_factory=list)  # ids of the messages it read
    state: str = "running"  # then done or failed
    answer: str | None = None
    error: str | None = None
    reason: str | None = None
    model: str | None = None
    mode: str | None = None
    used: dict[str, Tokens] = field(default_factory=dict)  # by message of the model
    total: Tokens | None = None  # as the client reports it at the end of the turn
    included: list["TurnRecord"] = field(default_factory=list)  # earlier turns that the total counts, too
    context: int | None = None
    window: int | None = None
    cost: float | None = None
    duration_ms: int | None = None
    timed_ms: int | None = None  # the sum over the client's results for this turn
    api_ms: int | None = None
    steps: int | None = None
    retries: int = 0
    ended: str | None = None

    @property
    def tokens(self) -> Tokens:
        if self.total is not None:
            return reduce(Tokens.minus, (record.tokens for record in self.included), self.total)
        return Tokens(*(sum(column) for column in zip(*self.used.values(), strict=True)))

    def as_json(self) -> TurnJson:
        return {
            "session": self.session,
            "turn": self.turn,
            "message": self.message,
            "messages": self.messages,
            "state": self.state,
            "answer": self.answer,
            "error": self.error,
            "reason": self.reason,
            "model": self.model,
            "mode": self.mode,
            "tokens": tokens_json(self.tokens),
            "context": self.context,
            "window": self.window,
            "cost_usd": _rounded(self.cost),
            "duration_ms": self.duration_ms,
            "api_ms": self.api_ms,
            "steps": self.steps,
            "retries": self.retries,
            "started": self.started,
            "ended": self.ended,
        }


def tokens_json(tokens: Tokens) -> TokensJson:
    return {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
    }


# The fields that one source of a turn may know and another may not.
_KEPT: tuple[
    Literal["message", "model", "mode", "context", "window", "cost_usd", "duration_ms", "api_ms"], ...
]
_KEPT = ("message", "model", "mode", "context", "window", "cost_usd", "duration_ms", "api_ms")


class TurnTable:
    def __init__(self) -> None:
        self._turns: LruDict[_Key, TurnRecord] = LruDict(MAX_TURNS)
        # The cost of each session so far, as its client counts it.
        self._costs: LruDict[SessionId, float] = LruDict(MAX_TURNS)
        self._modes: LruDict[SessionId, str] = LruDict(MAX_TURNS)
        self._api_ms: LruDict[SessionId, float] = LruDict(MAX_TURNS)

    def total_cost(self, session: SessionId) -> float | None:
        """Return the session's cost as the client last reported it."""
        return self._costs.get(session)

    def name_session(self, session: SessionId, unnamed: SessionId) -> None:
        """Move the turns of the stand-in id `unnamed` to `session`, the real id."""
        for record in self.of_session(unnamed):
            del self._turns[unnamed, record.turn]
            record.session = session
            self._turns[session, record.turn] = record

    def of_session(self, session: SessionId) -> list[TurnRecord]:
        return [record for record in self._turns.values() if record.session == session]

    def all(self) -> list[TurnRecord]:
        return list(self._turns.values())

    def feed(self, outcome: Outcome, *, time: str) -> TurnRecord | None:
        """Apply an outcome to its turn. Return the turn, if there is one."""
        match outcome:
            case TurnRenamed(session, old, new):
                return self._rename(session, old, new)
            case TurnStarted(session, turn, message):
                if record := self._find(session, turn, time):
                    record.message = message or record.message
                return record
            case MessageDelivered(session, turn, message):
                return self._add_message(session, turn, message, time)
            case ModelAnswered():
                return self._count(outcome, time)
            case SessionDescribed(session, mode=mode) if mode is not None:
                return self._set_mode(session, mode)
            case RequestRetried(session, turn):
                if record := self._find(session, turn, time):
                    record.retries += 1
                return record
            case ErrorReported(session, turn, reason):
                record = self._find(session, turn, time)
                if record is not None and record.state == "running":  # a later error is only the session's
                    record.error = reason
                return record
            case _:
                return self._finish(outcome, time)

    def _finish(self, outcome: Outcome, time: str) -> TurnRecord | None:
        match outcome:
            case TurnEnded(session, turn, error):
                return self._end(self._find(session, turn, time), error, time)
            case TurnReported():
                return self._report(outcome, time)
            case SessionEnded(session):
                return self._abandon(session, time)
        return None

    def _find(self, session: SessionId | None, turn: TurnId | None, time: str) -> TurnRecord | None:
        if session is None or turn is None:
            return None
        record = self._turns.get((session, turn))
        if record is None:
            record = self._turns[session, turn] = TurnRecord(session, turn, time)
            record.mode = self._modes.get(session)
        return record

    def _add_message(
        self, session: SessionId | None, turn: TurnId | None, message: str, time: str
    ) -> TurnRecord | None:
        record = self._find(session, turn, time)
        if record is None or any(message in one.messages for one in self.of_session(record.session)):
            return None
        record.messages.append(message)
        return record

    def _set_mode(self, session: SessionId, mode: str) -> TurnRecord | None:
        self._modes[session] = mode
        running = [record for record in self.of_session(session) if record.state == "running"]
        if running:
            running[-1].mode = mode
        return running[-1] if running else None

    def _rename(self, session: SessionId | None, old: TurnId, new: TurnId) -> TurnRecord | None:
        if session is None or (record := self._turns.pop((session, old), None)) is None:
            return None
        record.turn = new
        if (known := self._turns.get((session, new))) is not None:  # reported by another source
            record.message = record.message or known.message
            record.messages += [message for message in known.messages if message not in record.messages]
            record.used = {**known.used, **record.used}
            record.started = min(record.started, known.started)
        self._turns[session, new] = record
        return record

    def _count(self, answered: ModelAnswered, time: str) -> TurnRecord | None:
        record = self._find(answered.session, answered.turn, time)
        if record is None:
            return None
        known = record.used.get(answered.message)
        # The stream shows a message before it is complete; the transcript shows its final usage.
        if known is None or known.output < answered.tokens.output:
            record.used[answered.message] = answered.tokens
        if answered.agent is None:
            record.model, record.context = answered.model or record.model, answered.tokens.read
        return record

    def _end(self, record: TurnRecord | None, error: str | None, time: str) -> TurnRecord | None:
        if record is not None and record.state == "running":
            record.error = record.error or error
            record.state = "failed" if record.error is not None else "done"
            record.ended = time
        return record

    def _report(self, report: TurnReported, time: str) -> TurnRecord | None:
        cost = _since_last(self._costs, report.session, report.total_cost)
        api_ms = _since_last(self._api_ms, report.session, report.api_ms)
        record = self._find(report.session, report.turn, time)
        if record is None:
            return None
        for name in ("reason", "steps", "window"):
            value = getattr(report, name)
            if value is not None:
                setattr(record, name, value)
        # A turn that goes on after a background task has several results.
        if report.tokens is not None:
            record.total = report.tokens.plus(record.total or Tokens())
            known = (self._turns.get((record.session, turn)) for turn in report.includes)
            record.included += [one for one in known if one is not None and one not in record.included]
        cost = report.cost if report.cost is not None else cost
        record.cost = cost if record.cost is None else record.cost + (cost or 0.0)
        if api_ms is not None:
            record.api_ms = int(api_ms) + (record.api_ms or 0)
        if report.reason is not None and report.duration_ms is not None:
            record.timed_ms = report.duration_ms + (record.timed_ms or 0)
        record.duration_ms = record.timed_ms or report.duration_ms or record.duration_ms
        if report.answer is not None:
            record.answer, record.error = report.answer[:MAX_ANSWER_LENGTH], None
        if report.error is not None:
            record.error = report.error
        if report.answer is not None or report.error is not None or report.reason is not None:
            record.state = "failed" if record.error is not None else "done"
            record.ended = record.ended or time
        return record

    def _abandon(self, session: SessionId, time: str) -> TurnRecord | None:
        running = [record for record in self.of_session(session) if record.state == "running"]
        for record in running:
            record.state, record.ended, record.reason = "failed", time, CLIENT_ENDED
            record.error = record.error or "the client ended before the turn was over"
        return running[-1] if running else None


def sum_turns(turns: Sequence[TurnJson], total_cost: float | None = None) -> SessionSums:
    """Return the sums over a session's turns. `total_cost` is used if no turn has a cost."""

    def last(name: Literal["context", "window"]) -> int | None:
        return next((turn[name] for turn in reversed(turns) if turn[name] is not None), None)

    tokens = Tokens()
    for turn in turns:
        tokens = tokens.plus(Tokens(**turn["tokens"]))
    costs = [turn["cost_usd"] for turn in turns if turn["cost_usd"] is not None]
    durations = [turn["duration_ms"] for turn in turns if turn["duration_ms"] is not None]
    return {
        "tokens": tokens_json(tokens),
        "cost_usd": _rounded(sum(costs) if costs else total_cost),
        "context": last("context"),
        "window": last("window"),
        "turns": len(turns),
        "failed": sum(turn["state"] == "failed" for turn in turns),
        "retries": sum(turn["retries"] for turn in turns),
        "duration_ms": sum(durations) if durations else None,
    }


def join_turn(saved: TurnJson, known: TurnJson) -> TurnJson:
    """Merge two records of one turn: `saved` by an earlier watcher, and `known` to this watcher.

    If `known` has more tokens, the turn went on after it was saved: the result is `known`, otherwise `saved`.
    Some fields that are None get the value of the other record. The result has the messages of both records,
    and the earlier start.
    """
    went_on = _count_tokens(known) > _count_tokens(saved)
    newer, older = (known, saved) if went_on else (saved, known)
    joined: TurnJson = {**newer}
    for name in _KEPT:
        if joined[name] is None:
            joined[name] = older[name]
    joined["messages"] = list(dict.fromkeys([*saved["messages"], *known["messages"]]))
    joined["started"] = min(saved["started"], known["started"])
    return joined


def _count_tokens(turn: TurnJson) -> int:
    used = turn["tokens"]
    return used["input"] + used["output"] + used["cache_read"] + used["cache_write"]


def _since_last(
    totals: LruDict[SessionId, float], session: SessionId | None, total: float | None
) -> float | None:
    """Return how much a session's total has grown since the last call, and store the new total in `totals`.

    Return None if the session or the total is not known. A total that is lower than before comes from a
    restarted client, which counts from zero.
    """
    if session is None or total is None:
        return None
    before = totals.get(session, 0.0)
    totals[session] = total
    return total - before if before <= total else total


def read_turns(lines: Iterable[str]) -> list[TurnJson]:
    """Return the turns of a saved file. The last line about a turn counts."""
    found: dict[tuple[object, object], TurnJson] = {}
    for value in parse_json_lines(lines):
        if value.keys() >= _SAVED_KEYS:
            found.pop((value["session"], value["turn"]), None)
            found[value["session"], value["turn"]] = {"mode": None, **value}  # type: ignore[typeddict-item]  # checked above
    return list(found.values())


def _rounded(cost: float | None) -> float | None:
    """Round a sum in dollars, to remove the noise of binary fractions."""
    return None if cost is None else round(cost, 9)
