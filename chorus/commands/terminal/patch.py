"""Patches and other text in colour, as `git diff` would show them to this user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chorus.commands.terminal.git_settings import RESET, diff_colours, read_diff, wants_colour
from chorus.text.sanitize import printable

if TYPE_CHECKING:
    from chorus.model.json_api import ActionJson


def paint(text: str, code: str | None, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour and code else text


def render_action_patch(action: ActionJson) -> Iterator[str]:
    """Yield the lines of an action's patch, made with the user's diff settings."""
    commit = action["timeline"]
    yield from render_patch((commit and read_diff(f"{commit}^", commit)) or action["patch"])


def render_patch(patch: str) -> Iterator[str]:
    """Yield the lines of a patch, without control characters, coloured if the user's git would."""
    colours = diff_colours() if wants_colour("diff") else None
    in_header = False
    for line in patch.split("\n")[: -1 if patch.endswith("\n") else None]:
        in_header = line.startswith("diff ") or (in_header and not line.startswith("@@"))
        text = printable(line, keep="\t")
        colour = colours[_kind_of(line, in_header=in_header)] if colours else ""
        yield f"{colour}{text}{RESET}" if colour else text


def _kind_of(line: str, *, in_header: bool) -> str:
    if in_header:
        return "meta"
    kinds = {"@": "frag", "+": "new", "-": "old"}
    return kinds.get(line[:1], "context")
