"""Give one answer with keys, one key per view of the pane.

For each view, `KeyRelay` returns one effect: press a key, wait, answered, or refused. It returns the first
key only if the pane shows exactly the prompt that was answered. Each further key follows only when the screen
shows the effect of the key before.
"""

from chorus.agents.claude_code.replies.key_sequences import KeySequence, KeyStep, plan_keys
from chorus.agents.interface import (
    Answered,
    CannotAnswer,
    DialogStillShown,
    PaneView,
    PressKey,
    Refused,
    RelayEffect,
    Wait,
)
from chorus.model.answer import PromptAnswer
from chorus.model.prompt import NoPrompt, Prompt, UnknownPrompt


class KeyRelay:
    def __init__(self, answer: PromptAnswer) -> None:
        self._answer = answer
        self._keys: KeySequence | None = None
        self._step: KeyStep | None = None
        self._before: Prompt | None = None  # the prompt as shown before the current step
        self._end: Answered | Refused | None = None
        self._still_shown = False
        self._retrying = False
        self.sent = 0

    def observe(self, view: PaneView) -> RelayEffect:
        if self._end is None:
            effect = self._next_effect(view)
            if isinstance(effect, Answered | Refused):
                self._end = effect
            return effect
        return self._end

    def expire(self) -> Answered | Refused | DialogStillShown:
        if self._end is None:
            if self._step is None or not self._step.final:
                self._end = self._refuse("the screen did not change in time")
            elif self._still_shown:
                return DialogStillShown()
            else:
                self._end = Answered()
        return self._end

    def key_not_sent(self, reason: str) -> Refused:
        self.sent -= 1
        self._end = refused = self._refuse(reason)
        return refused

    def retry_last_key(self) -> bool:
        """Note that the last key was not sent. Return whether to look at the pane again.

        Return False for the first key, because the screen may now show another prompt with the same question.
        Return False for `Tab`. The footer offers this key and is drawn last, so the screen was complete.
        """
        assert self._step is not None
        if self.sent < 2 or self._step.key == "Tab":
            return False
        self.sent -= 1
        self._retrying = True
        return True

    def _next_effect(self, view: PaneView) -> RelayEffect:
        step = self._step
        if step is not None and self._retrying:
            return self._retry(step, view)
        if step is not None and step.final:
            return self._verify(view)
        problem = _problem(view, self._answer)
        if problem is not None:
            return self._refuse(problem)
        if step is not None and step.may_be_unreadable and isinstance(view.found, UnknownPrompt):
            return Wait()
        if not isinstance(view.found, Prompt):
            return self._refuse(f"the prompt is gone: {view.found.reason}")
        if step is None:
            return self._begin(view.found)
        if step.is_done(view.found):
            return self._advance(view.found)
        assert self._before is not None
        if _input_state(view.found) == _input_state(self._before) or step.is_in_progress(view.found):
            return Wait()
        return self._refuse("the dialog has changed in the meantime")

    def _begin(self, shown: Prompt) -> RelayEffect:
        decided = self._answer.prompt
        if shown.fingerprint != decided.fingerprint:
            return self._refuse(f"another prompt is shown: {shown.title}: {shown.question}")
        if shown.text_field is not None:
            return self._refuse("someone is typing into this dialog")
        try:
            self._keys = plan_keys(self._answer.answer, decided, shown)
        except CannotAnswer as problem:
            return self._refuse(str(problem))
        return self._advance(shown)

    def _advance(self, shown: Prompt) -> RelayEffect:
        assert self._keys is not None
        try:
            step = next(self._keys) if self._step is None else self._keys.send(shown)
        except CannotAnswer as problem:
            return self._refuse(str(problem))
        self._step, self._before = step, shown
        self._still_shown = step.final
        self.sent += 1
        return PressKey(step.key, step.literal)

    def _retry(self, step: KeyStep, view: PaneView) -> RelayEffect:
        """Return the last key again, unless the dialog has changed."""
        problem = _problem(view, self._answer)
        if problem is not None:
            return self._refuse(problem)
        if isinstance(view.found, UnknownPrompt):
            return Wait()
        assert self._before is not None
        if isinstance(view.found, NoPrompt) or _input_state(view.found) != _input_state(self._before):
            return self._refuse("the dialog has changed in the meantime")
        self._retrying = False
        self.sent += 1
        return PressKey(step.key, step.literal)

    def _verify(self, view: PaneView) -> RelayEffect:
        """Check that the dialog disappears after the last key."""
        assert self._before is not None
        if view.in_mode or view.scrolled:
            return Wait()
        if view.dead or view.pane != self._answer.pane or view.process != self._answer.process:
            return Answered()
        same = isinstance(view.found, Prompt) and view.found.fingerprint == self._before.fingerprint
        self._still_shown = same
        # An unreadable screen may be the same dialog, half drawn.
        return Wait() if same or isinstance(view.found, UnknownPrompt) else Answered()

    def _refuse(self, reason: str) -> Refused:
        return Refused(reason, self.sent)


def _problem(view: PaneView, answer: PromptAnswer) -> str | None:
    """Return why no key may be sent to this pane, whatever it shows; None if a key may be sent."""
    if view.pane != answer.pane:
        return f"this is pane {view.pane}, but the prompt was in pane {answer.pane}"
    if view.dead:
        return "the pane is dead"
    if view.process != answer.process:
        return "the client that asked is not in the foreground of the pane"
    if view.in_mode:
        return "the pane is in copy mode"
    if view.scrolled:
        return "the pane is scrolled back"
    return None


def _input_state(prompt: Prompt) -> object:
    """Return the parts of a prompt that change while it is being answered."""
    return (prompt.fingerprint, prompt.selected, prompt.text_field, prompt.checked)
