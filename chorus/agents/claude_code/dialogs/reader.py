"""A screen in, a prompt out.

Receives captured text and the rules. Gives a typed prompt, or `Unknown` for something no rule fits,
or `Nothing`, each with the account of how it came about. Pure: the same text gives the same reading.
"""

from dataclasses import dataclass

from chorus.agents.claude_code.dialogs.dialog import NoDialog, Unreadable, find_dialog
from chorus.agents.claude_code.dialogs.rule_match import Trial, match_dialog
from chorus.agents.claude_code.dialogs.rules import PromptRules
from chorus.agents.claude_code.dialogs.screen import is_capture, parse_screen
from chorus.model.prompt import Nothing, Prompt, Unknown


@dataclass(frozen=True, slots=True)
class Reading:
    found: Prompt | Unknown | Nothing
    trials: tuple[Trial, ...] = ()


def read_screen(text: str, rules: PromptRules, *, width: int | None = None) -> Reading:
    """Say what this screen asks. `width` is the pane's; without it the widest row tells."""
    if not is_capture(text):
        return Reading(Unknown("this is no captured screen: it moves the cursor"))
    dialog = find_dialog(parse_screen(text, width))
    if isinstance(dialog, NoDialog):
        return Reading(Nothing(dialog.reason))
    if isinstance(dialog, Unreadable):
        if any(quiet.fullmatch(dialog.ending) for quiet in rules.quiet):
            return Reading(Nothing("the screen shows something and asks nothing"))
        return Reading(Unknown(dialog.reason))
    prompt, trials = match_dialog(dialog, rules)
    return Reading(prompt or Unknown("no rule fits this dialog"), trials)


def explain(reading: Reading) -> list[str]:
    """The account of a reading, in sentences for a person."""
    lines = [f"{trial.rule}: no, {trial.problem}" for trial in reading.trials if trial.problem is not None]
    found = reading.found
    if isinstance(found, Prompt):
        return [*lines, f"{found.rule}: yes, in every part; this is a prompt of kind {found.kind}"]
    return [*lines, f"{'unknown' if isinstance(found, Unknown) else 'none'}: {found.reason}"]
