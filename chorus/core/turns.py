"""Which user message a tool call belongs to.

Hooks and transcripts name each message (`prompt_id`): that name is the turn's id. The stream does not:
there a turn begins with `system/init`, and the message is told before it, after it or not at all, so
turns are counted. A turn that a background task's end starts has no message of its own and counts as
part of the one before.
"""

from collections import deque
from dataclasses import dataclass

from chorus.core.ids import TurnId
from chorus.core.lru import Recent

# Late results name the prompt of an earlier turn; nobody looks further back than this.
TURNS_KEPT = 1024
# Messages typed while the agent works. A person types a handful.
WAITING_KEPT = 64


@dataclass(slots=True)
class Turn:
    id: TurnId  # the prompt's, or a number
    prompt: TurnId | None = None
    message: str | None = None

    def name(self, prompt: TurnId) -> None:
        self.id = self.prompt = prompt


class Turns:
    """The turns of one session."""

    def __init__(self) -> None:
        self.current: Turn | None = None
        self._count = 0
        self._by_prompt: Recent[TurnId, Turn] = Recent(TURNS_KEPT)
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
        """The turn of a prompt, also of one whose message was never seen."""
        turn = self._by_prompt.touch(prompt)
        if turn is None:
            turn = self._by_prompt[prompt] = self._new(prompt, None)
        return turn

    def hear_prompt(self, prompt: TurnId, text: str, *, live: bool) -> Turn | None:
        """A message with a name. The turn it starts, or None if the turn is known already.

        `live` says that the message was sent just now: then it may be that of the running turn.
        """
        known = self._by_prompt.touch(prompt)
        if known is not None and known.message in (None, text):
            known.message = text
            return None
        running = self.current
        if known is None and live and running is not None and self._may_be(running, text):
            running.name(prompt)
            running.message = text
            self._by_prompt[prompt] = running
            return None
        # A forked session's transcript names all its old messages alike: count them.
        turn = self._by_prompt[prompt] = self._new(prompt if known is None else None, text)
        if live:
            self._announced = turn
        return turn

    def hear(self, text: str, *, echo: bool) -> Turn | None:
        """A message without a name. The turn it starts, or None if it waits or is an echo."""
        running = self.current if self.running else None
        if running is not None and self._has_inits and not self._continued:
            if running.message is None:
                running.message = text
                return running
            if not (echo and running.message == text):
                self._waiting.append(text)
            return None
        if self._has_inits and running is None:
            self._waiting.append(text)
            return None
        self._continued = False
        self._announced = self._new(None, text)
        self._unanswered.clear()
        return self._announced

    def count(self, text: str) -> Turn:
        """A message without a name where every message starts a turn: an old transcript, an old hook."""
        return self._new(None, text)

    def go_on(self, prompt: TurnId) -> None:
        """A prompt that is no message: what it leads to belongs to the turn before."""
        if prompt not in self._by_prompt and self.current is not None:
            self._by_prompt[prompt] = self.current

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

    def end(self) -> bool:
        """A result came. Whether no turn is running any more."""
        if self._unanswered:
            self._unanswered.popleft()
        return not self._unanswered

    def notice(self) -> None:
        """A background task ended: the client will begin to work without a message."""
        self._notices = min(self._notices + 1, WAITING_KEPT)

    def join(self, turn: Turn, prompt: TurnId) -> None:
        """A turn without a name is that of this prompt: one call was seen in both."""
        turn.message = turn.message or self.named(prompt).message
        turn.name(prompt)
        self._by_prompt[prompt] = turn

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

    def _new(self, prompt: TurnId | None, message: str | None) -> Turn:
        self._count += 1
        self.current = Turn(prompt or TurnId(str(self._count)), prompt, message)
        return self.current
