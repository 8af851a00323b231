"""The state that the handlers of pairing share: calls, sessions, pending requests, counts of problems."""

from collections import Counter, deque
from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from chorus.agents.claude_code.events.base import JsonObject, Known
from chorus.agents.claude_code.pairing.calls import CallEntry, CallTable, CallUpdate
from chorus.agents.claude_code.pairing.evidence import Evidence
from chorus.agents.claude_code.pairing.sessions import (
    MAX_AGENTS_PER_SESSION,
    EventContext,
    SessionContext,
    SessionRegistry,
    Trust,
)
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.agents.interface import Source
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId
from chorus.model.lru import LruDict, RecentKeys
from chorus.model.outcomes import BackgroundTaskEnded, Outcome, TurnStarted

# Events that start or end something (init, result, message), remembered by uuid so that repeats are ignored.
MAX_BOUNDARIES = 8192
# Messages of the model whose tokens were counted, and messages of the user. All events of one message come
# close together, unless a stream is read again after a restart.
MAX_MESSAGES = 2048
# Ended background tasks, by id.
MAX_TASKS = 4096
# Unanswered control requests. The client asks one at a time; hooks ask a few per call.
MAX_REQUESTS = 4096
# Calls of one agent in one turn that a permission request may be about: those of one message, and some more.
MAX_PENDING_CALLS = 16
# Kinds of problems that are counted separately; a stream with more of them is noise.
MAX_KINDS = 1000
# Names for enum members: an attribute lookup takes longer than most steps here.
_STREAM, _FROM_TRANSCRIPT, _TRANSCRIPT = Source.STREAM, Source.TRANSCRIPT, Trust.TRANSCRIPT
_ShownMessage: TypeAlias = tuple[Turn | None, tuple[Source, ...]]
_UNSEEN: _ShownMessage = (None, ())


@dataclass(slots=True)
class ShownCall:
    """A tool call as one event shows it."""

    call: ToolUseId | None
    tool: str
    input: JsonObject


class ControlRequest(NamedTuple):
    """A request of the control protocol for a decision. `by_hook`: a hook callback, not a prompt."""

    call: ToolUseId | None
    by_hook: bool


class PairingState:
    def __init__(self) -> None:
        self.unknown: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()
        self.sessions = SessionRegistry()
        self.in_callback = False  # while the hook event inside a callback of the control protocol is handled
        self.shared_sessions: Set[SessionId] = frozenset()  # those that several clients are in
        self.calls = CallTable(self.problems)
        self.requests: LruDict[str, ControlRequest] = LruDict(MAX_REQUESTS)  # unanswered, by request id
        self._pending: LruDict[tuple[SessionId | None, AgentId | None, TurnId | None], deque[ShownCall]] = (
            LruDict(MAX_AGENTS_PER_SESSION)
        )
        self._boundaries: RecentKeys[str] = RecentKeys(MAX_BOUNDARIES)
        # For each message: the turn in which its first source shows it, and the sources that have shown it.
        self._messages: LruDict[tuple[SessionContext, str], _ShownMessage] = LruDict(MAX_MESSAGES)
        self._ended_tasks: RecentKeys[str] = RecentKeys(MAX_TASKS)

    def count(self, counter: Counter[str], kind: str) -> None:
        counter[kind if kind in counter or len(counter) < MAX_KINDS else "other"] += 1

    def is_repeat(self, event: Known) -> bool:
        """Return whether an event with this uuid was handled before, and remember the uuid."""
        uuid = event.uuid
        return uuid is not None and not self._boundaries.add(uuid)

    def is_known(self, key: str) -> bool:
        """Return whether this key was seen before, and remember it."""
        return not self._boundaries.add(key)

    def set_hooked(self, session: SessionContext) -> None:
        """Remember that hooks report the start of calls in this session.

        Hook callbacks do not count, because they may be registered for some tools only.
        """
        session.hooked = session.hooked or not self.in_callback

    def turn_of(self, event: Known, context: EventContext) -> Turn | None:
        turns, prompt_id = context.session.turns, event.prompt_id
        if prompt_id is not None:
            return turns.of_prompt_id(prompt_id)
        if context.agent is None or event.parent is None:
            return turns.current
        # A background sub-agent may outlive the turn that started it, but still works for that turn.
        started = self.calls.find(event.parent)
        return started.turn if started is not None else turns.current

    def transcript_turn(self, event: Known, context: EventContext) -> Turn | None:
        """Return the turn of a transcript line.

        A line without a prompt id gets the turn of the transcript's last prompt id. The session's current
        turn may be wrong for the line: if a hook has already reported the next message, the current turn is a
        later one.
        """
        prompt_id = context.session.transcript_prompt_id
        if event.prompt_id is None and prompt_id is not None:
            return context.session.turns.of_prompt_id(prompt_id)
        return self.turn_of(event, context)

    def add_answer(self, event: Known, context: EventContext, message: str) -> tuple[bool, Turn | None]:
        """Add a message of the model. Return whether it is new in this source and, if so, its turn."""
        session, source = context.session, context.source
        key = (session, message)
        shown, sources = self._messages.get(key, _UNSEEN)
        if source in sources:
            return False, None
        in_transcript = source is _FROM_TRANSCRIPT and context.agent is None
        turn = self.transcript_turn(event, context) if in_transcript else self.turn_of(event, context)
        if context.agent is None:
            turn = _join_turns(session, shown, turn)
        self._messages[key] = (shown or turn, (*sources, source))
        return True, turn

    def add_user_message(self, context: EventContext, message: str, turn: Turn | None) -> None:
        """Remember the turn in which a source shows the user's message with the uuid `message`."""
        key = (context.session, message)
        shown, sources = self._messages.get(key, _UNSEEN)
        if context.source not in sources:
            _join_turns(context.session, shown, turn)
            self._messages[key] = (shown or turn, (*sources, context.source))

    def remember_pending(self, event: Known, session: SessionContext, shown: ShownCall) -> None:
        """Remember a call for a later permission request that does not name its call."""
        key = (session.id, event.agent, event.prompt_id)
        pending = self._pending.touch(key)
        if pending is None:
            pending = self._pending[key] = deque(maxlen=MAX_PENDING_CALLS)
        if shown.call and shown not in pending:
            pending.append(shown)

    def pending_calls(self, event: Known, session: SessionContext) -> list[ShownCall]:
        return list(self._pending.touch((session.id, event.agent, event.prompt_id)) or ())

    def add_call(
        self, event: Known, context: EventContext, shown: ShownCall, message_id: str | None = None
    ) -> list[Outcome]:
        """Add a tool call that an event shows, or merge it into the known call."""
        call, session, source, agent = shown.call, context.session, context.source, context.agent
        if not call:
            self.count(self.problems, "call-without-id")
            return []
        known = self.calls.find(call)
        outcomes: list[Outcome] = []
        if known is None and not self.calls.is_past(call):
            if source is _STREAM and agent is None and (turn := session.turns.ensure_running()) is not None:
                outcomes.append(TurnStarted(session.id, turn.id, turn.message))
        elif known is not None and context.trust is _TRANSCRIPT and known.session is not session:
            # Transcripts copy the lines of the session they were forked or resumed from.
            self.sessions.link(session.id, known.session.id, "fork")
        seen = CallEntry(
            call, shown.tool, shown.input, session, context.trust, (source,), self.turn_of(event, context),
            event.prompt_id, agent, event.parent, context.lead_text.before(message_id), event.time,
            event.cwd or session.cwd, client=context.client,
        )  # fmt: skip
        return outcomes + self.calls.add(seen, known)

    def update_call(
        self, event: Known, context: EventContext, call: ToolUseId | None, update: CallUpdate
    ) -> list[Outcome]:
        """Apply an update from an event that shows the result of a call."""
        if not call:
            self.count(self.problems, "result-without-id")
            return []
        context.lead_text.has_result = True
        if update.evidence & Evidence.REJECTED and context.source is _STREAM:
            context.session.rejected.add(call)
        if event.prompt_id is None or (entry := self.calls.find(call)) is None:
            return self.calls.update(call, update)
        turn = context.session.turns.of_prompt_id(event.prompt_id)
        return self.calls.set_prompt_id(entry, turn, event.prompt_id) + self.calls.update(call, update)

    def end_calls(
        self, context: EventContext, evidence: int = Evidence.TURN_OVER, *, agent: AgentId | None = None,
        all_agents: bool = False, except_prompt_id: TurnId | None = None,
        only_prompt_id: TurnId | None = None, before: str | None = None,
    ) -> list[Outcome]:  # fmt: skip
        """Close the open calls of `agent` (None: the main agent) in the session; or of all agents.

        A source closes only calls that it has shown itself. In a session that several clients share, an event
        closes only calls of its own client.
        """
        if not self.calls.any_open:
            return []

        def is_over(entry: CallEntry) -> bool:
            if entry.session is not context.session or context.source not in entry.sources:
                return False
            if context.session.id in self.shared_sessions and (
                not context.client or entry.client != context.client
            ):
                return False  # another client in the same session may still run it
            if except_prompt_id is not None and entry.prompt_id == except_prompt_id:
                return False
            if only_prompt_id is not None and entry.prompt_id not in (None, only_prompt_id):
                return False
            if before is not None and entry.time is not None and entry.time >= before:
                return False
            return all_agents or entry.agent == agent

        return self.calls.close_if(is_over, evidence)

    def only_open_call(self, context: EventContext, tool: str | None) -> ToolUseId | None:
        """Return the agent's open call; None if the agent has no open call or several.

        With `tool`, calls of other tools do not count. Denied calls do not count.
        """
        found = [
            entry.id
            for entry in self.calls.open_calls()
            if entry.session is context.session
            and entry.agent == context.agent
            and tool in (None, entry.tool)
            and not entry.evidence & Evidence.DENIED
        ]
        return found[0] if len(found) == 1 else None

    def start_turn(self, context: EventContext, turn: Turn | None) -> list[Outcome]:
        """Report that a turn has started. `turn` is None if the turn is already known."""
        context.lead_text.clear()  # the text belonged to the turn before
        return [TurnStarted(context.session.id, turn.id, turn.message)] if turn is not None else []

    def set_agent(self, call: ToolUseId, agent: AgentId) -> list[Outcome]:
        if self.sessions.agents.touch(call) == agent:
            return []
        self.sessions.agents[call] = agent
        return self.calls.set_agent(call, agent)

    def end_task(
        self, session: SessionId | None, task: str, call: ToolUseId | None, time: str | None
    ) -> list[Outcome]:
        if not self._ended_tasks.add(task):
            return []
        return [BackgroundTaskEnded(session, call, task, time)]


def _join_turns(session: SessionContext, shown: Turn | None, turn: Turn | None) -> Turn | None:
    """Join the turns in which two sources show the same message, if they can be one turn.

    Return the joined turn, or `turn` if nothing was joined.
    """
    if shown is None or turn is None:
        return turn
    named, unnamed = (turn, shown) if shown.prompt_id is None else (shown, turn)
    if unnamed.prompt_id is not None or named.prompt_id is None or named.id != named.prompt_id:
        return turn
    session.turns.join(unnamed, named.prompt_id)
    return unnamed


# The handler for each type of event.
Handlers: TypeAlias = dict[type[Known], Callable[[PairingState, Any, EventContext], list[Outcome]]]
