"""tmux's little language: words quoted for its parser, formats kept from expanding."""

import re
from collections.abc import Sequence

_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,-]+")


def quote(word: str) -> str:
    """The word as tmux's command parser reads it back, whatever it holds except NUL."""
    if _PLAIN.fullmatch(word):
        return word
    escaped = "".join(_ESCAPES.get(character, character) for character in word)
    return f'"{escaped}"'


def render_line(commands: Sequence[Sequence[str]]) -> str:
    """Commands as one line; tmux runs them in one go, with nobody else's in between."""
    return " ; ".join(" ".join(quote(word) for word in command) for command in commands)


def escape_format(text: str) -> str:
    """Text that goes through tmux's format and date expansion and comes out as it is."""
    return text.replace("#", "##").replace("%", "%%")


# Inside double quotes tmux still reads these; a raw newline would end a control-mode command.
_ESCAPES = {'"': '\\"', "\\": "\\\\", "$": "\\$", "\n": "\\n", "\r": "\\r", "\t": "\\t", "~": "\\~"}
