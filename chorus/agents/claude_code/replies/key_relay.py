"""One decision, carried out key by key.

Receives the decision once, then what the pane shows, again and again. Gives one effect for each look:
a key to press now, wait, done, or refuse. A key is only ever given for the very screen it was asked about,
each key once, and the next one only after the screen shows what the last one should have done. Never
retries, never presses on a guess; the clock belongs to the caller, who says when it has waited enough.
"""

from dataclasses import dataclass

from chorus.agents.claude_code.replies.key_script import plan_script
from chorus.agents.claude_code.replies.steps import Script, Step, Stop
from chorus.model.answer import Decision
from chorus.model.ids import PaneId
from chorus.model.prompt import Nothing, Prompt, Unknown


@dataclass(frozen=True, slots=True)
class Observation:
    """The pane at one moment."""

    pane: PaneId
    # Which process a key would reach, told apart from any other; empty when that is not the client.
    process: str
    found: Prompt | Unknown | Nothing
    dead: bool = False
    in_mode: bool = False  # copy mode, or another mode of tmux's: keys would go there
    scrolled: bool = False


@dataclass(frozen=True, slots=True)
class Press:
    """Send this now: one key by its tmux name, or (`literal`) text as it is."""

    key: str
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Look again; send nothing."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The answer was given and the dialog is gone."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """Over, without the answer given. `sent` counts the keys that had already been pressed."""

    reason: str
    sent: int = 0


@dataclass(frozen=True, slots=True)
class StillThere:
    """The last key was pressed, and the same dialog is still drawn. Nothing more is sent."""


Effect = Press | Wait | Verified | Refuse


class Relay:
    def __init__(self, decision: Decision) -> None:
        self._decision = decision
        self._script: Script | None = None
        self._step: Step | None = None
        self._before: Prompt | None = None
        self._end: Verified | Refuse | None = None
        self._still_there = False
        self._held_back = False
        self.sent = 0

    def observe(self, seen: Observation) -> Effect:
        """Take one look at the pane; say what to do about it now."""
        if self._end is None:
            effect = self._look(seen)
            if isinstance(effect, Verified | Refuse):
                self._end = effect
            return effect
        return self._end

    def expire(self) -> Verified | Refuse | StillThere:
        """The caller has waited enough: end here, whatever the screen may show later."""
        if self._end is None:
            if self._step is None or not self._step.final:
                self._end = self._refuse("the screen did not change in time")
            elif self._still_there:
                return StillThere()
            else:
                self._end = Verified()
        return self._end

    def not_sent(self, reason: str) -> Refuse:
        """The key given last did not go out: the pane changed before it could. End here."""
        self.sent -= 1
        self._end = refused = self._refuse(reason)
        return refused

    def hold_back(self) -> bool:
        """The key given last did not go out: the screen was still being drawn. Whether to look again.

        Not for the first key: the same question may have come back, and nothing would tell the two apart.
        Not for `Tab`, which waits for the footer, the last that is drawn.
        """
        assert self._step is not None
        if self.sent < 2 or self._step.key == "Tab":
            return False
        self.sent -= 1
        self._held_back = True
        return True

    def _look(self, seen: Observation) -> Effect:
        step = self._step
        if step is not None and self._held_back:
            return self._give_again(step, seen)
        if step is not None and step.final:
            return self._verify(seen)
        problem = _problem(seen, self._decision)
        if problem is not None:
            return self._refuse(problem)
        if step is not None and step.half_drawn and isinstance(seen.found, Unknown):
            return Wait()
        if not isinstance(seen.found, Prompt):
            return self._refuse(f"the prompt is gone: {seen.found.reason}")
        if step is None:
            return self._begin(seen.found)
        if step.reached(seen.found):
            return self._advance(seen.found)
        if _posture(seen.found) == _posture(self._before) or step.passes(seen.found):
            return Wait()
        return self._refuse("the dialog changed in between")

    def _begin(self, present: Prompt) -> Effect:
        decided = self._decision.prompt
        if present.fingerprint != decided.fingerprint:
            return self._refuse(f"another prompt is shown: {present.title}: {present.question}")
        if present.entry is not None:
            return self._refuse("somebody is typing into this dialog")
        try:
            self._script = plan_script(self._decision.answer, decided, present)
        except Stop as stop:
            return self._refuse(str(stop))
        return self._advance(present)

    def _advance(self, present: Prompt) -> Effect:
        assert self._script is not None
        try:
            step = next(self._script) if self._step is None else self._script.send(present)
        except Stop as stop:
            return self._refuse(str(stop))
        self._step, self._before = step, present
        self._still_there = step.final
        self.sent += 1
        return Press(step.key, step.literal)

    def _give_again(self, step: Step, seen: Observation) -> Effect:
        """The key that was held back, for the dialog as it stood."""
        problem = _problem(seen, self._decision)
        if problem is not None:
            return self._refuse(problem)
        if isinstance(seen.found, Unknown):
            return Wait()
        if isinstance(seen.found, Nothing) or _posture(seen.found) != _posture(self._before):
            return self._refuse("the dialog changed in between")
        self._held_back = False
        self.sent += 1
        return Press(step.key, step.literal)

    def _verify(self, seen: Observation) -> Effect:
        """After the last key: the dialog has to go. A client that left took it along."""
        assert self._before is not None
        if seen.in_mode or seen.scrolled:
            return Wait()
        if seen.dead or seen.pane != self._decision.pane or seen.process != self._decision.process:
            return Verified()
        same = isinstance(seen.found, Prompt) and seen.found.fingerprint == self._before.fingerprint
        self._still_there = same
        # What cannot be read may be the same dialog, half drawn.
        return Wait() if same or isinstance(seen.found, Unknown) else Verified()

    def _refuse(self, reason: str) -> Refuse:
        return Refuse(reason, self.sent)


def _problem(seen: Observation, decision: Decision) -> str | None:
    """Why no key may go to this pane, whatever it shows."""
    if seen.pane != decision.pane:
        return f"this is pane {seen.pane}, the prompt was in {decision.pane}"
    if seen.dead:
        return "the pane is dead"
    if seen.process != decision.process:
        return "the client is not in the pane's foreground, or is another one"
    if seen.in_mode:
        return "the pane is in copy mode"
    if seen.scrolled:
        return "the pane is scrolled back"
    return None


def _posture(prompt: Prompt | None) -> object:
    """What of a prompt moves while it is being answered."""
    return None if prompt is None else (prompt.fingerprint, prompt.selected, prompt.entry, prompt.ticked)
