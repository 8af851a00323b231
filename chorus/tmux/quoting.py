"""Quote arguments for tmux's command parser and escape text for its formats."""

import re
from collections.abc import Sequence

_PLAIN = re.compile(r"[A-Za-z0-9_./:=@%+,-]+")


def quote(word: str) -> str:
    """Quote any argument without NUL for tmux's command parser."""
    if _PLAIN.fullmatch(word):
        return word
    escaped = "".join(_ESCAPES.get(character, character) for character in word)
    return f'"{escaped}"'


def render_line(commands: Sequence[Sequence[str]]) -> str:
    """Join commands into one line. No command of another client runs between the commands of a line."""
    return " ; ".join(" ".join(quote(word) for word in command) for command in commands)


def escape_format(text: str) -> str:
    """Escape text so that tmux's format and date expansion leave it unchanged."""
    return text.replace("#", "##").replace("%", "%%")


# tmux interprets these inside double quotes; a raw newline would end a control-mode command.
_ESCAPES = {'"': '\\"', "\\": "\\\\", "$": "\\$", "\n": "\\n", "\r": "\\r", "\t": "\\t", "~": "\\~"}
