"""Which user message a tool call belongs to.

Hooks and transcripts name each message (`prompt_id`): that name is the turn's id. The stream does not:
there a turn begins with `system/init`, and the message is told before it, after it or not at all, so
turns are counted. A turn that a background task's end starts has no message of its own and counts as
part of the one before.
"""

from collections import deque
from dataclasses import dataclass

from chorus.model.ids import TurnId
from chorus.model.lru import LruDict

# Late results name the prompt of an earlier turn; nobody looks further back than this.
TURNS_KEPT = 1024
# Messages sent into one turn, beside the first; of a fork's old messages, the newest.
TURNS_OF_A_PROMPT = 64
# Messages typed while the agent works. A person types a handful.
WAITING_KEPT = 64


@dataclass(slots=True)
class Turn:
    id: TurnId  # the prompt's, or a number
    prompt: TurnId | None = None
    message: str | None = None


class Turns:
    """The turns of one session."""

    def __init__(self) -> None:
        self.current: Turn | None = None
        self._count = 0
        # A prompt has several turns when a message is sent while the agent works on another.
        self._by_prompt: LruDict[TurnId, list[Turn]] = LruDict(TURNS_KEPT)
        self._waiting: deque[str] = deque(maxlen=WAITING_KEPT)
        self._announced: Turn | None = None  # its message is known, its init has not come yet
        self._unanswered: deque[Turn] = deque(maxlen=WAITING_KEPT)  # begun, and no result yet
        self._has_inits = False
        self._notices = 0
        self._continued = False  # the running turn was started by a background task's end

    @property
    def running(self) -> bool:
        return bool(self._unanswered)

    def named(self, prompt: TurnId) -> Turn:
        """The newest turn of a prompt, also of one whose message was never seen."""
        turns = self._by_prompt.touch(prompt)
        if turns is None:
            turns = self._by_prompt[prompt] = [self._new(prompt, None)]
        return turns[-1]

    def hear_prompt(self, prompt: TurnId, text: str, *, live: bool) -> Turn | None:
        """A message with a name. The turn it starts, or None if the turn is known already.

        `live` says that the message was sent just now: then it may be that of the running turn.
        """
        turns = self._by_prompt.touch(prompt) or []
        for turn in turns:
            if turn.message in (None, text):
                turn.message = text
                return None
        running = self.current
        if not turns and live and running is not None and self._may_be(running, text):
            running.message = text
            self.name(running, prompt)
            return None
        # Sent while the agent worked on the first; or copied by a fork, which names all old messages alike.
        turn = self._new(prompt, text, number=len(turns) + 1)
        self._by_prompt[prompt] = [*turns[-TURNS_OF_A_PROMPT:], turn]
        if live and not turns:
            self._announced = turn
        return turn

    def hear_meanwhile(self, text: str) -> Turn | None:
        """A message that reaches the agent while it works. The turn it starts, unless that is known."""
        if self.current is not None and self.current.prompt is not None:
            return self.hear_prompt(self.current.prompt, text, live=False)
        return None if self.current is not None and self.current.message == text else self._new(None, text)

    def hear(self, text: str, *, echo: bool, delivered: bool) -> Turn | None:
        """A message without a name. The turn it starts, or None if it waits or is an echo.

        `delivered` says that the agent gets it now, in the middle of its work if it works.
        """
        running = self.current if self.running else None
        if running is not None and self._has_inits and not self._continued:
            if running.message is None:
                running.message = text
                return running
            if echo and running.message == text:
                return None
            if delivered:
                return self._deliver(text)
        elif running is not None or not self._has_inits:
            self._continued = False
            self._announced = self._new(None, text)
            self._unanswered.clear()
            return self._announced
        self._waiting.append(text)
        return None

    def count(self, text: str) -> Turn:
        """A message without a name where every message starts a turn: an old transcript, an old hook."""
        return self._new(None, text)

    def go_on(self, prompt: TurnId) -> None:
        """A prompt that is no message: what it leads to belongs to the turn before."""
        if prompt not in self._by_prompt and self.current is not None:
            self._by_prompt[prompt] = [self.current]

    def begin(self) -> Turn | None:
        """The client begins to work. The turn this starts, or None if it is known already."""
        self._has_inits = True
        if self._announced is None and not self._waiting and self._notices and self.current is not None:
            self._notices -= 1
            self._continued = True
            self._unanswered.append(self.current)
            return None
        self._unanswered.clear()
        return self._work()

    def work(self) -> Turn | None:
        """The agent does something. The turn this starts, if none is running."""
        return None if self.running else self._work()

    def end(self, waiting: int | None = None) -> bool:
        """A result came. Whether no turn is running any more.

        `waiting` is how many messages the client says it still has; the others it has dealt with.
        """
        while waiting is not None and len(self._waiting) > max(waiting, 0):
            self._waiting.popleft()
        if self._unanswered:
            self._unanswered.popleft()
        return not self._unanswered

    def notice(self) -> None:
        """A background task ended: the client will begin to work without a message."""
        self._notices = min(self._notices + 1, WAITING_KEPT)

    def join(self, turn: Turn, prompt: TurnId) -> None:
        """A turn without a name is that of this prompt: one call was seen in both."""
        turn.message = turn.message or self.named(prompt).message
        self.name(turn, prompt)

    def name(self, turn: Turn, prompt: TurnId) -> None:
        turn.id = turn.prompt = prompt
        self._by_prompt[prompt] = [turn, *self._by_prompt.get(prompt, [])[1:]]

    def _deliver(self, text: str) -> Turn:
        """The running turn goes on under another message: one result will end both."""
        if text in self._waiting:
            self._waiting.remove(text)
        self._unanswered[-1] = turn = self._new(None, text)
        return turn

    def _work(self) -> Turn | None:
        self._continued = False
        announced, self._announced = self._announced, None
        if announced is not None and announced is self.current:
            if self._waiting and self._waiting[0] == announced.message:
                self._waiting.popleft()
            self._unanswered.append(announced)
            return None
        turn = self._new(None, self._waiting.popleft() if self._waiting else None)
        self._unanswered.append(turn)
        return turn

    def _may_be(self, turn: Turn, text: str) -> bool:
        current = self.running or turn is self._announced
        return current and turn.prompt is None and turn.message in (None, text)

    def _new(self, prompt: TurnId | None, message: str | None, *, number: int = 1) -> Turn:
        self._count += 1
        name = prompt or str(self._count)
        self.current = Turn(TurnId(name if number == 1 else f"{name}.{number}"), prompt, message)
        return self.current
