"""Patches and other text in colour, by the user's git settings."""

from __future__ import annotations

from collections.abc import Iterator

from chorus.commands.terminal.git_settings import RESET, diff_colours, wants_colour
from chorus.output import Styled, harmless, style


def paint(text: str, code: str | None, colour: bool) -> str:
    return style(text, code=code) if colour else text


def render_patch(patch: str) -> Iterator[str]:
    """Yield the lines of a patch, coloured if the user's git settings ask for colour."""
    colours = diff_colours() if wants_colour("diff") else None
    in_header = False
    for line in patch.split("\n")[: -1 if patch.endswith("\n") else None]:
        in_header = line.startswith("diff ") or (in_header and not line.startswith("@@"))
        colour = colours[_kind_of(line, in_header=in_header)] if colours else ""
        yield Styled(f"{colour}{harmless(line)}{RESET}") if colour else line


def _kind_of(line: str, *, in_header: bool) -> str:
    if in_header:
        return "meta"
    kinds = {"@": "frag", "+": "new", "-": "old"}
    return kinds.get(line[:1], "context")
