"""The prompts of one pane over time: each appearance of a prompt is answered at most once.

The first answer for an appearance gets a key relay. Later answers are refused, unless that relay ended
without sending a key.
"""

from dataclasses import replace

from chorus.agents.claude_code.replies.key_relay import KeyRelay
from chorus.agents.interface import AnswerRelay, PaneView, PromptAppearance, Refused
from chorus.model.answer import PromptAnswer
from chorus.model.prompt import NoPrompt, Prompt


class PromptAppearances:
    def __init__(self) -> None:
        self.current: PromptAppearance | None = None
        self._serial = 0

    def observe(self, view: PaneView) -> PromptAppearance | None:
        """Update the current appearance from the pane's screen, and return it.

        Copy mode does not end an appearance. An unreadable screen does not end it either, because the screen
        may be half drawn.
        """
        if view.dead:
            self.current = None
        elif not (view.in_mode or view.scrolled):
            if isinstance(view.found, Prompt):
                self._show(view.found, view.process)
            elif isinstance(view.found, NoPrompt):
                self.current = None
        return self.current

    def claim(self, answer: PromptAnswer, serial: int) -> KeyRelay | Refused:
        """Claim the appearance for this answer, or refuse it as too late."""
        current = self.current
        if current is None:
            return Refused("the prompt is gone")
        if current.serial != serial or current.prompt.fingerprint != answer.prompt.fingerprint:
            return Refused(f"another prompt is shown: {current.prompt.title}: {current.prompt.question}")
        if current.claimed:
            return Refused("this prompt is already answered")
        self.current = replace(current, claimed=True)
        return KeyRelay(answer)

    def release(self, relay: AnswerRelay, serial: int) -> None:
        if relay.sent == 0 and self.current is not None and self.current.serial == serial:
            self.current = replace(self.current, claimed=False)

    def begin_new_appearance(self) -> None:
        """Count the prompt shown now as a new appearance, because it is about another call."""
        if self.current is not None:
            self._serial += 1
            self.current = replace(self.current, serial=self._serial, claimed=False)

    def mark_answered(self) -> None:
        if self.current is not None:
            self.current = replace(self.current, claimed=True)

    def _show(self, prompt: Prompt, process: str) -> None:
        current = self.current
        if (
            current is not None
            and current.process == process
            and current.prompt.fingerprint == prompt.fingerprint
        ):
            self.current = replace(current, prompt=prompt)
            return
        self._serial += 1
        self.current = PromptAppearance(self._serial, prompt, process)
