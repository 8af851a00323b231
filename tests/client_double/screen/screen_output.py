"""The output of a conversation on a screen: events become blocks, questions become dialogs.

Called from the conversation's threads; the drawing thread reads the state under the same lock.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from tests.client_double import file_tools as filetools
from tests.client_double.change import Change
from tests.client_double.hooks import Reply
from tests.client_double.output import Answer, Question, TurnEnd
from tests.client_double.permissions import EDITS
from tests.client_double.screen.blocks import (
    INTERRUPTED,
    AssistantText,
    Block,
    ClientLine,
    ToolCall,
    UserText,
)
from tests.client_double.screen.dialog_queue import DialogQueue, QueuedDialog
from tests.client_double.screen.dialogs import dialog_for
from tests.client_double.screen.fixed_dialogs import LEAVE_PLAN, FixedDialog
from tests.client_double.screen.frame import State
from tests.client_double.screen.open_dialog import Content, OpenDialog
from tests.client_double.screen.questions import Questionnaire
from tests.client_double.script import Show
from tests.client_double.session import Session
from tests.client_double.values import Call, Json, Message, Outcome

DOING = ("Pondering", "Weaving", "Humming", "Tinkering")
DONE = ("Pondered", "Wove", "Hummed", "Tinkered")


class ScreenOutput:
    def __init__(
        self,
        session: Session,
        state: State,
        options: Mapping[str, Sequence[str]],
        changed: Callable[[], None],
    ) -> None:
        self.asking = DialogQueue(state, changed)
        self.lock = self.asking.lock
        self._session = session
        self._state = state
        self._options = options
        self._changed = changed
        self._calls: dict[str, ToolCall] = {}
        self._turns = 0

    def begin_work(self) -> None:
        with self.lock:
            self._state.working_since = time.monotonic()
            self._state.doing = DOING[self._turns % len(DOING)]
        self._changed()

    def clear(self) -> None:
        with self.lock:
            self._state.blocks[:] = [UserText("/clear")]
            self._calls.clear()
        self._changed()

    def session_starts(self, source: str) -> None:
        pass

    def session_started(self, source: str, replies: Sequence[Reply]) -> None:
        self._changed()

    def turn_began(self, message: Message, origin: Json | None) -> None:
        self.begin_work()
        if origin is None:
            self._add(UserText(message.content))

    def model_said(self, message: Message) -> None:
        block = message.content[0]
        if message.call is not None:
            called = ToolCall(message.call, self._session.cwd, self._session.mode == "auto")
            self._calls[message.call.id] = called
            if message.agent is None:
                self._add(called)
        elif block["type"] == "text" and message.agent is None:
            self._add(AssistantText(block["text"]))

    def user_said(self, message: Message) -> None:
        text = message.content[0]["text"]
        if not text.startswith("[Request interrupted"):
            self._add(UserText(text))
        elif text == "[Request interrupted by user]":
            self._add(ClientLine(f"  ⎿  {INTERRUPTED}"))

    def agent_began(self, message: Message) -> None:
        self._changed()

    def call_ended(self, message: Message) -> None:
        assert message.call is not None
        assert message.outcome is not None
        with self.lock:
            called = self._calls[message.call.id]
            called.outcome = message.outcome
            called.auto = self._session.mode == "auto"
            if called.change is None:
                called.change = _change_of(message.call, message.outcome)
        self._changed()

    def hook_failed(self, event: str, subject: str, problem: str) -> None:
        self._add(ClientLine(f"  ⎿  {event}:{subject} hook error\n     {problem}"))

    def ask(self, question: Question, hooks: Callable[[], Answer | None]) -> Answer:
        asked = self._asked_for(question)
        self._calls[question.call.id].change = question.change
        self.asking.put(asked)

        def run_hooks() -> None:
            answer = hooks()
            if answer is not None and question.settle(answer):
                self.asking.withdraw(asked)

        threading.Thread(target=run_hooks, daemon=True).start()
        question.answered.wait()
        assert question.answer is not None
        return question.answer

    def show(self, dialog: Show) -> None:
        answers = tuple(Answer(False) for _ in dialog.options)
        asked = QueuedDialog("shown", FixedDialog(dialog, answers), lambda answer: None)
        self.asking.put(asked)
        asked.gone.wait()

    def emit(self, event: Json) -> None:
        pass  # a screen prints no events

    def task(self, subtype: str, fields: Json) -> None:
        self._changed()

    def turn_ended(self, end: TurnEnd) -> None:
        with self.lock:
            self._state.working_since = None
            moment = datetime.now().strftime("%-I:%M %p")
            done = DONE[self._turns % len(DONE)]
            self._state.blocks.append(ClientLine(f"✻ {done} for {int(end.seconds)}s · done {moment}"))
            self._turns += 1
        self._changed()

    def _asked_for(self, question: Question) -> QueuedDialog:
        call = question.call
        if call.tool == "AskUserQuestion":
            form = Questionnaire(list(call.input["questions"]))
            return QueuedDialog(form.name, form, question.settle)
        if call.tool == "ExitPlanMode":
            answers = (Answer(True, switch_mode="default"), Answer(False))
            placard = FixedDialog(LEAVE_PLAN, answers, at_the_bottom=True)
            return QueuedDialog(call.tool, placard, question.settle, at_the_bottom=True)
        dialog = dialog_for(question, self._session.cwd, self._options)
        return QueuedDialog(dialog.name, OpenDialog(dialog, _content(call, question.change)), question.settle)

    def _add(self, block: Block) -> None:
        with self.lock:
            self._state.blocks.append(block)
        self._changed()


def _content(call: Call, change: Change | None) -> Content | None:
    if call.tool not in EDITS or change is None:
        return None
    if call.tool == "Write" and change.before is None:
        return Content(call.tool, text=change.after)
    return Content(call.tool, tuple(change.patch))


def _change_of(call: Call, outcome: Outcome) -> Change | None:
    """The change of a call that was not asked about."""
    if call.tool not in filetools.PLANS:
        return None
    if outcome.refusal:
        planned = filetools.plan(call.tool, call.input, known=True)
        return planned if isinstance(planned, Change) else None
    result = outcome.result
    if outcome.is_error or "filePath" not in result:
        return None
    path = Path(result["filePath"])
    return Change(path, result["originalFile"], path.read_text(errors="replace"), b"", "", result)
