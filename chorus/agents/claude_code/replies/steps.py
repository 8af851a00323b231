"""The steps keys are pressed in, and the ones several answers share.

A step is one key (or one text) and what the screen must show before another may follow. Only what the
screen offers is ever pressed: a number drawn before a label, `Tab` while the footer names it.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from chorus.agents.claude_code.dialogs.labels import TAB_TO_AMEND
from chorus.model.prompt import Entry, Option, Prompt

# Longer than this, a text may not fit its field, and what does not show cannot be checked.
_LONGEST_TEXT = 400


class Stop(Exception):
    """No key can be given for this; the text says why."""


def _never(_: Prompt) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Step:
    key: str
    reached: Callable[[Prompt], bool]
    # What the screen may show on the way there.
    passes: Callable[[Prompt], bool] = _never
    # Whether it may be unreadable on the way: the choice says already what its footer does not yet.
    half_drawn: bool = False
    literal: bool = False
    final: bool = False


# Takes the prompt as it stands before each key. A script ends with a final step; a part of one gives
# the prompt as it stands then, or the key that is due.
Script = Generator[Step, Prompt, None]
Part = Generator[Step, Prompt, Prompt]


def final(key: str) -> Step:
    """The key after which the dialog has to go."""
    return Step(key, _never, final=True)


def take_option(present: Prompt, index: int, text: str | None) -> Script:
    """Take the option at `index`, with words where it takes words."""
    option = present.options[index]
    if text is None:
        yield from _take_bare(present, index)
    elif option.text == "instead":
        yield from write_into(present, option, option.key, text)
        yield final("Enter")
    elif option.text == "behind":
        present = yield from _mark(present, index)
        if not _offers_words(present):
            raise Stop(f"this dialog takes no words with {option.label!r}")
        yield from write_into(present, option, "Tab", text)
        yield final("Enter")
    else:
        raise Stop(f"{option.label!r} takes no words: leave them out, then write to the session")


def write_into(present: Prompt, option: Option, opening: str, text: str) -> Part:
    """Open an option's text field with `opening`, and write; the field then shows the text."""
    wanted = squeezed(text)

    def empty(prompt: Prompt) -> bool:
        return _same(prompt, present) and prompt.entry == Entry(option.key, "", True)

    def written(prompt: Prompt) -> bool:
        return _so_far(prompt) == wanted

    def partly(prompt: Prompt) -> bool:
        so_far = _so_far(prompt)
        return so_far is not None and wanted.startswith(so_far)

    def _so_far(prompt: Prompt) -> str | None:
        entry = prompt.entry
        if not _same(prompt, present) or entry is None or entry.key != option.key or not entry.active:
            return None
        return squeezed(entry.text)

    yield Step(opening, empty, half_drawn=True)
    return (yield Step(text, written, partly, literal=True))


def _take_bare(present: Prompt, index: int) -> Script:
    """A number or a named key at once; in a list without numbers, walk to it and press Enter."""
    option = present.options[index]
    if option.text == "instead":
        raise Stop(f"{option.label!r} wants words of your own")
    while " " in present.options[index].key:
        move, _, rest = present.options[index].key.partition(" ")
        present = yield _walk(present, move, index, rest)
    yield final(present.options[index].key)


def _walk(present: Prompt, move: str, index: int, rest: str) -> Step:
    return Step(move, lambda prompt: _same(prompt, present) and prompt.options[index].key == rest)


def _mark(present: Prompt, index: int) -> Part:
    """Move the mark to an option of a numbered list, one row at a time, until words are offered there."""
    keys = [option.key for option in present.options]
    if present.selected not in keys:
        raise Stop("no option is marked")
    at = keys.index(present.selected)
    while at != index:
        at, move = (at + 1, "Down") if at < index else (at - 1, "Up")
        present = yield _marked(present, move, keys[at], offers_words=at == index)
    return present


def _marked(present: Prompt, move: str, key: str, *, offers_words: bool) -> Step:
    """The rows are drawn from above: the mark may have left one, and not come to the other or the footer."""

    def arrived(prompt: Prompt) -> bool:
        there = _same(prompt, present) and prompt.selected == key
        return there and (_offers_words(prompt) or not offers_words)

    def on_the_way(prompt: Prompt) -> bool:
        return _same(prompt, present) and prompt.selected in (None, key)

    return Step(move, arrived, on_the_way)


def _offers_words(prompt: Prompt) -> bool:
    return TAB_TO_AMEND in prompt.footer


def _same(one: Prompt, other: Prompt) -> bool:
    return one.fingerprint == other.fingerprint


def check_text(text: str) -> None:
    """Only words that can be typed: a control character or a newline would act as a key."""
    if not text.strip() or not text.isprintable():
        raise Stop("the text must be one line of printable characters")
    if len(text) > _LONGEST_TEXT:
        raise Stop(f"the text is longer than {_LONGEST_TEXT} characters")


def squeezed(text: str) -> str:
    """Without blanks: where a text wraps is the pane's business."""
    return "".join(text.split())
