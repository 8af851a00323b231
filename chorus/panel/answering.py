"""Answering the prompt that is shown, and no other.

Receives key presses with the time they were made; asks the agent to answer the very prompt that stood
on screen then, by id and fingerprint. A press that comes too soon after the prompt changed, or while
an answer is on its way, does nothing and says so.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from chorus.errors import ChorusError
from chorus.panel import equivalents
from chorus.panel.bars import Said
from chorus.panel.deny_form import DenyForm, WordsForm
from chorus.panel.items import Option, Prompt
from chorus.panel.prompt_card import PromptCard
from chorus.panel.prompt_lines import UNKNOWN_KINDS
from chorus.panel.work import start_work

if TYPE_CHECKING:
    from chorus.panel.app import Panel

WORDS = {"allow": "approved", "allow-always": "approved", "deny": "denied", "option": "answered"}


@dataclass(frozen=True, slots=True)
class Decision:
    prompt: Prompt
    decision: str
    option: str | None = None
    message: str | None = None

    @property
    def about(self) -> str:
        """What was answered; where the dialog offers more than a yes or a no, the choice in its own words."""
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
        if self.decision == "option" and self.message is not None:
            return equivalents.words(self.prompt.id, self.prompt.kind, self.message)
        return equivalents.answer(self.prompt.id, self.decision, option=self.option, message=self.message)


class Answering:
    def __init__(self, panel: "Panel", card: PromptCard) -> None:
        self._panel = panel
        self._card = card
        # Prompts with an answer on its way: a second press must not reach the prompt that follows.
        self._sent: set[tuple[str, str]] = set()

    def approve(self, pressed: float) -> None:
        self._decide("allow", pressed)

    def always(self, pressed: float) -> None:
        self._decide("allow-always", pressed)

    def deny(self, pressed: float) -> None:
        self._decide("deny", pressed)

    def option(self, key: str, pressed: float) -> None:
        if prompt := self._ready_prompt(pressed):
            if key == prompt.words:
                self._ask_for_words(prompt, WordsForm, Decision(prompt, "option", option=key))
            elif any(option.key == key for option in prompt.options):
                self._send(Decision(prompt, "option", option=key))
            else:
                self._panel.say(Said(f"this prompt has no option {key}", "warning"))

    def choose(self, option: Option, pressed: float) -> None:
        self.option(option.key, pressed)

    def deny_saying(self, pressed: float) -> None:
        prompt = self._ready_prompt(pressed)
        if prompt is not None and self._has(prompt, "deny"):
            self._ask_for_words(prompt, DenyForm, Decision(prompt, "deny"))

    def _ask_for_words(self, prompt: Prompt, form: type[DenyForm], decision: Decision) -> None:
        def sent(message: str | None) -> None:
            if message is not None:
                self._send(replace(decision, message=message))

        self._panel.push_screen(
            form(self._panel.look, prompt, lambda: self._panel.model.prompts.get(prompt.id)), sent
        )

    def _decide(self, meaning: str, pressed: float) -> None:
        prompt = self._ready_prompt(pressed)
        if prompt is not None and self._has(prompt, meaning):
            self._send(Decision(prompt, meaning))

    def _has(self, prompt: Prompt, meaning: str) -> bool:
        if prompt.option(meaning) is None:
            self._panel.say(Said(f"no option of this prompt means {meaning}: press its number", "warning"))
            return False
        return True

    def _ready_prompt(self, pressed: float) -> Prompt | None:
        """The prompt this press is meant for, or None, having said why."""
        shown = self._card.shown
        if shown is None:
            why = "nothing is asked"
        elif self._card.small:
            self._panel.unfold_prompt()
            why = "here is the prompt: press again to answer it"
        elif not self._card.ready(pressed):
            why = "the prompt has just changed: look, then press again"
        elif (shown.prompt.id, shown.prompt.fingerprint) in self._sent:
            why = "the answer is on its way"
        elif shown.prompt.kind in UNKNOWN_KINDS:
            why = "not a prompt Chorus knows: answer it in its own pane"
        else:
            return shown.prompt
        self._panel.say(Said(why, "warning"))
        return None

    def _send(self, decision: Decision) -> None:
        start_work(self._panel, "answers", self._answer, decision)

    async def _answer(self, decision: Decision) -> None:
        prompt = decision.prompt
        mark = (prompt.id, prompt.fingerprint)
        self._sent.add(mark)
        self._card.set_note("answering…")
        arguments = {
            "prompt": prompt.id,
            "fingerprint": prompt.fingerprint,
            "decision": decision.decision,
            "option": decision.option,
            "message": decision.message,
            "by": "panel",
        }
        known = {name: value for name, value in arguments.items() if value is not None}
        try:
            await self._panel.ask("answer", known, label="answering")
        except ChorusError as error:
            self._sent.discard(mark)
            self._panel.say_error(error, decision.command)
            self._card.set_note("")
        else:
            said = f"{WORDS[decision.decision]}: {decision.about}"
            self._panel.say(Said(said, "done", decision.command))
