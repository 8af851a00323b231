"""The interface between a conversation and its output: a screen, or a stream of events."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tests.client_double.change import Change
from tests.client_double.hooks import Reply
from tests.client_double.permissions import Verdict
from tests.client_double.script import Show
from tests.client_double.values import Call, Json, Message


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, and who gave it."""

    allow: bool
    always: bool = False
    switch_mode: str | None = None
    feedback: str | None = None
    interrupts: bool = False
    by_hook: bool = False
    by_default: bool = False  # no one could be asked
    updated_input: Json | None = None
    answers: Json | None = None
    message: str | None = None


@dataclass(slots=True, eq=False)
class Question:
    """A question that waits for an answer. The first answer counts."""

    call: Call
    verdict: Verdict
    change: Change | None = None
    answered: threading.Event = field(default_factory=threading.Event)
    answer: Answer | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def settle(self, answer: Answer) -> bool:
        with self._lock:
            if self.answer is not None:
                return False
            self.answer = answer
        self.answered.set()
        return True


@dataclass(frozen=True, slots=True)
class TurnEnd:
    text: str
    seconds: float
    replies: int
    results: int
    denials: Sequence[Json]
    interrupted: bool = False
    origin: Json | None = None


class Output(Protocol):
    def session_starts(self, source: str) -> None:
        """Called before the SessionStart hooks."""

    def session_started(self, source: str, replies: Sequence[Reply]) -> None: ...

    def turn_began(self, message: Message, origin: Json | None) -> None: ...

    def model_said(self, message: Message) -> None: ...

    def user_said(self, message: Message) -> None: ...

    def agent_began(self, message: Message) -> None: ...

    def ask(self, question: Question, hooks: Callable[[], Answer | None]) -> Answer:
        """Wait for an answer; the hooks are run meanwhile, and the first answer counts."""

    def call_ended(self, message: Message) -> None: ...

    def hook_failed(self, event: str, subject: str, problem: str) -> None: ...

    def show(self, dialog: Show) -> None:
        """Show a dialog and wait until it is answered."""

    def emit(self, event: Json) -> None: ...

    def task(self, subtype: str, fields: Json) -> None: ...

    def turn_ended(self, end: TurnEnd) -> None: ...
