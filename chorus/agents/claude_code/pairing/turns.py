"""Find the user message that a tool call belongs to.

Hooks and transcripts give messages an id, the prompt id. The prompt id is also the id of the turn. If several
turns have the same prompt id, the later ones have a number after the id. The stream gives no ids, so its
turns are numbered. A turn that starts because a background task ended counts as part of the turn before.
"""

from collections import deque
from dataclasses import dataclass

from chorus.model.ids import TurnId
from chorus.model.lru import LruDict

# Late results name the prompt id of an earlier turn, at most this many turns back.
MAX_TURNS = 1024
# Messages sent into one turn after its first message. A fork copies old messages under one id: only the
# newest are kept.
MAX_TURNS_PER_PROMPT_ID = 64
# Messages that wait while the agent works. A user types a handful.
MAX_QUEUED = 64


@dataclass(slots=True, eq=False)
class Turn:
    id: TurnId  # the prompt id, `PROMPT_ID.NUMBER` or a number
    prompt_id: TurnId | None = None
    message: str | None = None


class Turns:
    """The turns of one session."""

    def __init__(self) -> None:
        self.current: Turn | None = None
        self._count = 0
        # A prompt id has several turns if messages are sent while the agent works on the first message.
        self._by_prompt_id: LruDict[TurnId, list[Turn]] = LruDict(MAX_TURNS)
        self.queued: deque[str] = deque(maxlen=MAX_QUEUED)  # messages that no turn has taken yet
        self._announced: Turn | None = None  # its message is known, but its init has not come yet
        self._running: deque[Turn] = deque(maxlen=MAX_QUEUED)  # turns without a result yet
        # The running turn and the turns of messages sent into it: one result ends them all.
        self._together: list[Turn] = []
        self._has_inits = False
        self._ended_tasks = 0
        self._continued = False  # the running turn was started by the end of a background task
        self.renamed: list[tuple[TurnId, TurnId]] = []  # old and new id of turns, not reported yet

    @property
    def is_running(self) -> bool:
        return bool(self._running)

    @property
    def ending(self) -> Turn | None:
        """The turn that the next result belongs to."""
        return self._running[0] if self._running else self.current

    def of_prompt_id(self, prompt_id: TurnId) -> Turn:
        """Return the newest turn of a prompt id, or a new turn if the id is unknown."""
        turns = self._by_prompt_id.touch(prompt_id)
        if turns is None:
            turns = self._by_prompt_id[prompt_id] = [self._new(prompt_id, None)]
        return turns[-1]

    def on_named_message(self, prompt_id: TurnId, text: str, *, live: bool) -> Turn | None:
        """Handle a message that has an id. Return the turn it starts; None if the turn is known.

        `live`: the message was sent just now, so it may be the running turn's message.
        """
        turns = self._by_prompt_id.touch(prompt_id) or []
        for turn in turns:
            if turn.message in (None, text):
                turn.message = text
                return None
        running = self.current
        if not turns and live and running is not None and self._may_have_message(running, text):
            running.message = text
            self._rename(running, prompt_id)
            return None
        sent = self._find_together(text) if turns else None
        if sent is not None and sent.prompt_id is None:
            self._rename(sent, prompt_id, number=len(turns) + 1)
            return None
        # If the id has turns already, the message was sent while the agent worked on the first one, or it was
        # copied by a fork, which gives all old messages the same id.
        turn = self._new(prompt_id, text, number=len(turns) + 1)
        self._by_prompt_id[prompt_id] = [*turns[-MAX_TURNS_PER_PROMPT_ID:], turn]
        if live and not turns:
            self._announced = turn
        return turn

    def on_queued_message(self, text: str, prompt_id: TurnId | None) -> Turn | None:
        """Handle a queued message that reached the working agent. Return its turn; None if the turn is known.

        `prompt_id` is the id of the message before, if the source gives one.
        """
        prompt_id = prompt_id or (self.current.prompt_id if self.current is not None else None)
        if prompt_id is not None:
            return self.on_named_message(prompt_id, text, live=False)
        return None if self._find_together(text) is not None else self._new(None, text, number=2)

    def on_message(self, text: str, *, echo: bool, delivered: bool) -> Turn | None:
        """Handle a message without an id. Return its turn; None if it is queued or already known.

        `echo`: another source may have shown the message. `delivered`: the agent reads the message now, even
        in the middle of a turn.
        """
        running = self.current if self.is_running else None
        if running is not None and self._has_inits and not self._continued:
            if running.message is None:
                running.message = text
                return running
            sent = self._find_together(text) if echo else None
            if sent is not None:
                self._running[-1] = sent if delivered else self._running[-1]
                return None
            if delivered:
                return self._switch_message(text)
        elif running is not None or not self._has_inits:
            self._continued = False
            self._announced = self._new(None, text)
            self._running.clear()
            return self._announced
        self.queued.append(text)
        return None

    def reading(self, text: str) -> Turn | None:
        """Return the turn of a message sent while the agent works; the current turn if no other is found."""
        return self._find_together(text) or self.current

    def ended_before(self, turn: Turn | None) -> list[Turn]:
        """Return the turns that started before this turn and end with the same result."""
        if len(self._together) < 2:
            return []
        return self._together[: self._together.index(turn)] if turn in self._together else []

    def add_unnamed(self, text: str) -> Turn:
        return self._new(None, text)

    def continue_with(self, prompt_id: TurnId) -> None:
        """Handle a prompt id that came without a message. If the id is unknown, the current turn gets it."""
        if prompt_id not in self._by_prompt_id and self.current is not None:
            self._by_prompt_id[prompt_id] = [self.current]

    def on_init(self) -> Turn | None:
        """Handle `system/init`. Return the turn it starts; None if the turn is known."""
        self._has_inits = True
        if self._announced is None and not self.queued and self._ended_tasks and self.current is not None:
            self._ended_tasks -= 1
            self._continued = True
            self._running.append(self.current)
            return None
        self._running.clear()
        return self._start_next()

    def unfinished(self) -> list[Turn]:
        """Return the turns that get no result because `system/init` starts a turn. Call before `on_init`."""
        if not self._running or (self._announced is None and not self.queued and self._ended_tasks):
            return []
        running = [turn for turn in self._running if turn is not self._announced]
        return [*(early for turn in running for early in self.ended_before(turn)), *running]

    def ensure_running(self) -> Turn | None:
        """Start a turn if none is running. Return the turn if it is new."""
        return None if self._running else self._start_next()

    def start_queued(self) -> Turn | None:
        """Start the turn of the next queued message, unless a turn is running. Return the turn if it is new.

        Older streams need this: they have a single init for all turns.
        """
        return self._start_next() if self.queued and not self.is_running else None

    def on_result(self, queued: int | None = None) -> bool:
        """Handle a result. Return whether no turn is running any more.

        `queued`: the number of messages that still wait, if the client reports it.
        """
        while queued is not None and len(self.queued) > max(queued, 0):
            self.queued.popleft()
        if self._running:
            self._running.popleft()
        return not self._running

    def on_task_end(self) -> None:
        """Count an ended task. For each, one `system/init` without a message continues the current turn."""
        self._ended_tasks = min(self._ended_tasks + 1, MAX_QUEUED)

    def join(self, turn: Turn, prompt_id: TurnId) -> None:
        """Give a prompt id to a turn without one. If a turn with this id is known, it is the same turn."""
        turn.message = turn.message or self._by_prompt_id.get(prompt_id, [turn])[0].message
        self._rename(turn, prompt_id)
        if turn in self._together:
            # The turns of messages sent into this one, which another source has shown already.
            self._together += [one for one in self._by_prompt_id[prompt_id] if one not in self._together]

    def _rename(self, turn: Turn, prompt_id: TurnId, *, number: int = 1) -> None:
        name, turns = _name(prompt_id, number), self._by_prompt_id.get(prompt_id, [])
        self.renamed.append((turn.id, name))
        turn.id, turn.prompt_id = name, prompt_id
        self._by_prompt_id[prompt_id] = [*turns[: number - 1], turn, *turns[number:]]

    def _switch_message(self, text: str) -> Turn:
        """Start a turn for a message that the agent reads during a turn. One result will end both turns."""
        if text in self.queued:
            self.queued.remove(text)
        self._running[-1] = turn = self._new(None, text, number=2)
        return turn

    def _find_together(self, text: str) -> Turn | None:
        return next((turn for turn in self._together if turn.message == text), None)

    def _start_next(self) -> Turn | None:
        self._continued = False
        announced, self._announced = self._announced, None
        if announced is not None and announced is self.current:
            if self.queued and self.queued[0] == announced.message:
                self.queued.popleft()
            self._running.append(announced)
            return None
        turn = self._new(None, self.queued.popleft() if self.queued else None)
        self._running.append(turn)
        return turn

    def _may_have_message(self, turn: Turn, text: str) -> bool:
        current = self.is_running or turn is self._announced
        return current and turn.prompt_id is None and turn.message in (None, text)

    def _new(self, prompt_id: TurnId | None, message: str | None, *, number: int = 1) -> Turn:
        """Start a turn. If its message was sent during another turn, `number` is 2 or more."""
        self._count += 1
        name = TurnId(str(self._count)) if prompt_id is None else _name(prompt_id, number)
        self.current = turn = Turn(name, prompt_id, message)
        self._together = [turn] if number == 1 else [*self._together[1 - MAX_QUEUED :], turn]
        return turn


def _name(prompt_id: TurnId, number: int) -> TurnId:
    return prompt_id if number == 1 else TurnId(f"{prompt_id}.{number}")
