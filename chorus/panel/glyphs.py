"""The signs the panel draws with, in Unicode and in ASCII.

Receives the environment's word on what the terminal can show; gives the ASCII stand-in of everything
else. One table for the panel's own signs and for what the toolkit draws by itself.
"""

import unicodedata
from collections.abc import Mapping

from chorus.text.width import cell_width

STATUS = {
    "committed": "○",
    "kept": "✓",
    "reverted": "↺",
    "noop": "·",
    "failed": "✗",
    "denied": "⊘",
    "outside": "~",
    "landed": "▲",
    "done": " ",
}
STATE = {"working": "●", "waiting": "◆", "idle": "○", "gone": "·"}
STATE_WORDS = {"working": "working", "waiting": "waits for you", "idle": "idle", "gone": "gone"}

_ASCII = str.maketrans({
    "○": "o", "●": "*", "◆": "!", "✓": "+", "↺": "<", "✗": "x", "⊘": "-", "▲": "^", "·": ".", "…": "~",
    "▾": "v", "▸": ">", "↳": "'", "→": ">", "←": "<", "↑": "^", "↓": "v", "−": "-", "–": "-", "—": "-",
    "│": "|", "┃": "|", "▌": "|", "▎": "|", "▏": "|", "▐": "|", "─": "-", "━": "-", "╌": "-", "═": "=",
    "╭": "+", "╮": "+", "╰": "+", "╯": "+", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+",
    "┬": "+", "┴": "+", "┼": "+", "▔": "-", "▀": "-", "█": "#", "▉": "|", "▊": "|", "▋": "|", "▍": "|",
    "“": '"', "”": '"', "‘": "'", "’": "'", "❯": ">", "␛": "^", "␡": "^", "⏎": "<", "🔎": ">",
    "▕": "|", **dict.fromkeys("▁▂▃▄▅▆▇", " "),
})  # fmt: skip


# What Python itself puts into LC_CTYPE when it finds the C locale: it says nothing of the terminal.
_COERCED = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})


def wants_ascii(environment: Mapping[str, str]) -> bool:
    """Whether the terminal is not known to show Unicode: its locale says so, or it is a console."""
    if environment.get("TERM") in {"linux", "vt100", "vt220", "dumb"}:
        return True
    ctype, lang = environment.get("LC_CTYPE", ""), environment.get("LANG", "")
    if ctype in _COERCED and lang in {"", "C", "POSIX"}:
        ctype = ""
    return "utf" not in (environment.get("LC_ALL") or ctype or lang).lower()


def to_ascii(text: str) -> str:
    """`text` in ASCII, as many cells wide as before."""
    if text.isascii():
        return text
    return "".join(c if c.isascii() else _stand_in(c) for c in text.translate(_ASCII))


def _stand_in(c: str) -> str:
    if 0x2400 <= ord(c) < 0x2420:
        return "^"  # a control character's picture
    plain = unicodedata.normalize("NFKD", c)[:1]
    return (plain if plain.isascii() and plain.isprintable() else "?").ljust(cell_width(c), "?")[
        : cell_width(c)
    ]
