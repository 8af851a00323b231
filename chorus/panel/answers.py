"""Answer the prompt that is shown, and no other.

The request names that prompt by id and fingerprint. A key pressed too soon after the prompt has changed is
refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from chorus.errors import ChorusError
from chorus.model.api.json_api import AnswerJson
from chorus.model.api.requests import AnswerArguments, Decision, QuestionArgument
from chorus.model.prompt import NOT_RECOGNISED, OPTION_NAMES
from chorus.panel import command_lines
from chorus.panel.background import start_task
from chorus.panel.forms.answers_form import AnswersForm
from chorus.panel.forms.message_form import AnswerForm, DenyForm
from chorus.panel.state.items import PendingPrompt
from chorus.panel.widgets.bars import StatusLine
from chorus.panel.widgets.prompt_card import UNKNOWN_KINDS, PromptCard

APPROVALS = frozenset({"allow", "allow-always"})
_DONE_WORDS = {"allow": "approved", "allow-always": "approved", "deny": "denied"}


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    prompt: PendingPrompt
    decision: Decision
    option: str | None = None
    message: str | None = None
    answers: tuple[QuestionArgument, ...] = ()

    @property
    def label(self) -> str:
        """The name of the answer for the status line: the option's label, or the prompt's title or tool."""
        options = self.prompt.options
        if self.decision == "allow-always":
            options = tuple(option for option in options if option.meaning == self.decision)
        elif self.decision == "option" and self.message is None:
            options = tuple(option for option in options if option.key == self.option)
        else:
            options = ()
        return options[0].label if options else self.prompt.title or self.prompt.tool

    @property
    def command(self) -> str:
        if self.decision == "answers":
            return command_lines.answer_all(self.prompt.id, self.answers)
        if self.decision == "option" and self.message is not None:
            return command_lines.answer_text(self.prompt.id, self.prompt.kind, self.message)
        return command_lines.answer(self.prompt.id, self.decision, option=self.option, message=self.message)


class PromptSource(Protocol):
    """The pending prompts, by id."""

    @property
    def prompts(self) -> Mapping[str, PendingPrompt]: ...


class AnswerClient(Protocol):
    """Sends an answer to the watcher."""

    async def request(
        self, do: Literal["answer"], arguments: AnswerArguments, *, label: str
    ) -> AnswerJson: ...


class Answers:
    """Handles the keys that answer a prompt. `show_prompt`: makes a hidden prompt visible."""

    def __init__(
        self,
        card: PromptCard,
        status: StatusLine,
        model: PromptSource,
        client: AnswerClient,
        show_prompt: Callable[[], None],
    ) -> None:
        self._card = card
        self._status = status
        self._model = model
        self._client = client
        self._show_prompt = show_prompt
        # Prompts whose answer is being sent or was accepted: a second key press must not send another.
        self._sent: set[tuple[str, str]] = set()

    def approve(self, pressed: float) -> None:
        self._decide("allow", pressed)

    def always(self, pressed: float) -> None:
        self._decide("allow-always", pressed)

    def deny(self, pressed: float) -> None:
        self._decide("deny", pressed)

    def deny_with_message(self, pressed: float) -> None:
        prompt = self._ready_prompt(pressed)
        if prompt is not None and self._has(prompt, "deny"):
            self._open_form(DenyForm, PanelAnswer(prompt, "deny"))

    def option(self, digit: str, pressed: float) -> None:
        if prompt := self._ready_prompt(pressed):
            option = next((option for option in prompt.options if option.digit == digit), None)
            if option is None:
                self._status.show(f"this prompt has no option {digit}", "warning")
            elif prompt.takes_several_answers:
                self._open_answers_form(prompt)
            elif option.key == prompt.text_option:
                self._open_form(AnswerForm, PanelAnswer(prompt, "option", option=option.key))
            elif self._may_choose(option.meaning):
                self._send(PanelAnswer(prompt, "option", option=option.key))

    def _open_form(self, form: type[DenyForm], answer: PanelAnswer) -> None:
        def submit(message: str | None) -> None:
            if message is not None:
                self._send(replace(answer, message=message))

        prompt = answer.prompt
        shown = form(self._card.active_palette, prompt, lambda: self._model.prompts.get(prompt.id))
        self._card.app.push_screen(shown, submit)

    def _open_answers_form(self, prompt: PendingPrompt) -> None:
        def submit(answers: list[QuestionArgument] | None) -> None:
            if answers:
                self._send(PanelAnswer(prompt, "answers", answers=tuple(answers)))

        palette = self._card.active_palette
        shown = AnswersForm(palette, prompt, lambda: self._model.prompts.get(prompt.id))
        self._card.app.push_screen(shown, submit)

    def _decide(self, meaning: Decision, pressed: float) -> None:
        prompt = self._ready_prompt(pressed)
        if prompt is not None and self._has(prompt, meaning) and self._may_choose(meaning):
            self._send(PanelAnswer(prompt, meaning))

    def _may_choose(self, meaning: str) -> bool:
        """Return True if an option with this meaning may be chosen now.

        An approval is refused until all of the prompt has been on the screen.
        """
        if meaning not in APPROVALS or (unread := self._card.show_unread()) is None:
            return True
        self._status.show(unread, "warning")
        return False

    def _has(self, prompt: PendingPrompt, meaning: str) -> bool:
        if prompt.option(meaning) is None:
            name = OPTION_NAMES[meaning]
            self._status.show(f"this prompt has no {name} option; press an option's number", "warning")
            return False
        return True

    def _ready_prompt(self, pressed: float) -> PendingPrompt | None:
        """Return the prompt that a key pressed at this time may answer. If there is none, show the reason."""
        shown = self._card.shown
        if shown is None:
            why = "no prompt is pending"
        elif self._card.small:
            self._show_prompt()
            why = "the prompt was hidden: read it, then press again"
        elif not self._card.ready(pressed):
            why = "the prompt has just changed: read it, then press again"
        elif (shown.prompt.id, shown.prompt.fingerprint) in self._sent:
            why = "the answer is already being sent"
        elif shown.prompt.kind in UNKNOWN_KINDS:
            why = NOT_RECOGNISED
        else:
            return shown.prompt
        self._status.show(why, "warning")
        return None

    def _send(self, answer: PanelAnswer) -> None:
        start_task(self._card, "answers", self._request, answer)

    async def _request(self, answer: PanelAnswer) -> None:
        prompt = answer.prompt
        sent = (prompt.id, prompt.fingerprint)
        self._sent.add(sent)
        self._card.set_banner("answering…")
        arguments: AnswerArguments = {
            "prompt": prompt.id,
            "fingerprint": prompt.fingerprint,
            "decision": answer.decision,
            "by": "panel",
        }
        if answer.option is not None:
            arguments["option"] = answer.option
        if answer.message is not None:
            arguments["message"] = answer.message
        if answer.answers:
            arguments["answers"] = list(answer.answers)
        try:
            await self._client.request("answer", arguments, label="answering")
        except ChorusError as error:
            self._sent.discard(sent)
            self._status.show_error(error, answer.command)
            self._card.set_banner("")
        else:
            self._status.show(
                f"{_DONE_WORDS.get(answer.decision, 'answered')}: {answer.label}", "done", answer.command
            )
