"""A prompt as lines: its title, what it is about, its question and its options.

Receives a prompt and the space there is; gives the lines in three parts, so that the question and
the options stay in sight however long the command or diff between them is. All of it is inert.
"""

import re
from dataclasses import dataclass

from chorus.model.tools import EDIT_TOOLS
from chorus.panel import equivalents
from chorus.panel.clock import render_time
from chorus.panel.items import Option, Prompt
from chorus.panel.pane import Pieces
from chorus.text.sanitize import sanitize, sanitize_lines
from chorus.text.width import cell_width, cut, pad, wrap

# A command or diff longer than this is read in the session's own pane.
MOST_BODY_LINES = 2000
# A question longer than this is scrolled with what it is about; the options stay in sight.
MOST_QUESTION_LINES = 6
MOST_LABEL_LINES = 4
MEANING_STYLES = {"allow": "done", "allow-always": "warning", "deny": "failed"}
# The key that means the same whatever number the option has.
LETTERS = {"allow": "a", "allow-always": "A", "deny": "d"}
UNKNOWN_KINDS = frozenset({"unknown", "none", ""})

_RULE_LINE = re.compile(r"\s*[╌─]+\s*")
_DIFF_LINE = re.compile(r"\s*\d*\s?([+-])")


@dataclass(frozen=True, slots=True)
class PromptLines:
    head: list[Pieces]
    body: list[Pieces]
    foot: list[Pieces]
    # Which line of `foot` answers with which option.
    options: dict[int, Option]


def render_prompt(prompt: Prompt, width: int, *, whose: str, place: str, keys: bool) -> PromptLines:
    """`whose`: the session in words; `place`: which of several prompts this is; `keys`: say them too."""
    question = [part for part in wrap(sanitize(prompt.question), width) if part.strip()]
    body = _render_body(prompt, width)
    if len(question) > MOST_QUESTION_LINES:
        body += [[(part, "title")] for part in question]
        question = [*question[: MOST_QUESTION_LINES - 1], "…"]
    foot: list[Pieces] = [[(part, "title")] for part in question]
    options = _add_options(foot, prompt, width)
    if keys or prompt.kind in UNKNOWN_KINDS:
        foot.append(render_keys(prompt, width))
    return PromptLines(_render_head(prompt, width, whose, place), body, foot, options)


def render_keys(prompt: Prompt, width: int) -> Pieces:
    """Which keys answer this prompt."""
    if prompt.kind in UNKNOWN_KINDS:
        return [(cut("Not a prompt Chorus knows: answer it in its own pane.", width), "warning")]
    keys = []
    if prompt.option("allow"):
        keys.append(("a", "approve"))
    if prompt.option("allow-always"):
        keys.append(("A", "always"))
    if prompt.option("deny"):
        keys += [("d", "deny"), ("D", "deny, and say why")]
    pieces: Pieces = []
    used = 0
    for key, word in keys:
        used += len(key) + len(word) + 4
        if used - 3 > width:
            return pieces
        pieces += [(key, "key"), (f" {word}   ", "muted")]
    command = sanitize(equivalents.answer(prompt.id, "allow")) if prompt.option("allow") else ""
    if used + cell_width(command) < width:
        pieces += [(" " * (width - used - cell_width(command)), ""), (command, "command")]
    return pieces


def _render_head(prompt: Prompt, width: int, whose: str, place: str) -> list[Pieces]:
    title = sanitize(prompt.title) or sanitize(prompt.tool) or "A question"
    room = max(width - cell_width(title) - 2, 0)
    named = "  ".join(part for part in (place, sanitize(whose)) if part)
    timed = "  ".join(part for part in (named, render_time(prompt.since)) if part)
    right = timed if cell_width(timed) <= room else cut(named, room)  # half a time says nothing
    head: list[Pieces] = [[(pad(title, width - cell_width(right)), "waiting"), (right, "muted")]]
    if prompt.path:
        head.append([(cut(sanitize(prompt.path), width), "strong")])
    return head


def _render_body(prompt: Prompt, width: int) -> list[Pieces]:
    lines: list[Pieces] = []
    is_diff = prompt.tool in EDIT_TOOLS
    for line in (
        sanitize_lines(prompt.body.strip("\n"), max_lines=MOST_BODY_LINES) if prompt.body.strip() else []
    ):
        if _RULE_LINE.fullmatch(line):
            continue  # drawn by the client around what it shows
        sign = _DIFF_LINE.match(line) if is_diff else None
        style = {"+": "plus", "-": "minus"}[sign[1]] if sign else ("" if is_diff else "strong")
        lines += [[(part, style)] for part in wrap(line, width)]
    return lines


def _add_options(foot: list[Pieces], prompt: Prompt, width: int) -> dict[int, Option]:
    """Add a line or more for each option; say which line is which option's."""
    options: dict[int, Option] = {}
    for option in prompt.options:
        key = sanitize(option.key)
        lead = f" {key} "
        letter = "" if prompt.kind in UNKNOWN_KINDS else LETTERS.get(option.meaning, "")
        letter = f"  {letter}" if letter and prompt.option(option.meaning) is option else ""
        label = wrap(sanitize(option.label), max(width - cell_width(lead) - len(letter), 8))
        for index, part in enumerate(label[:MOST_LABEL_LINES]):
            options[len(foot)] = option
            shown = (lead, "key") if index == 0 else (" " * cell_width(lead), "")
            foot.append([shown, (part, MEANING_STYLES.get(option.meaning, ""))])
            if index == 0:
                foot[-1].append((letter, "key"))
        if len(label) > MOST_LABEL_LINES:
            foot[-1].append((" …", "muted"))
    return options
