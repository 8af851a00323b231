"""Words and symbols for statuses, states and times, and their ASCII forms.

This module does not load Textual, because the plain log uses it too.
"""

import unicodedata
from collections.abc import Mapping
from datetime import datetime

from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width

STATUS_SYMBOLS = {
    "committed": "○",
    "kept": "✓",
    "reverted": "↺",
    "undone": "↶",
    "noop": "·",
    "failed": "✗",
    "denied": "⊘",
    "outside": "~",
    "landed": "▲",
    "done": " ",
}
# Every other status is its own word.
_STATUS_WORDS = {"committed": "open", "noop": "changed nothing", "outside": "outside change"}
STATE_SYMBOLS = {"working": "●", "waiting": "◆", "idle": "○", "gone": "·"}
STATE_LABELS = {"working": "working", "waiting": "waiting for you", "idle": "idle", "gone": "ended"}

_ASCII = str.maketrans({
    "○": "o", "●": "*", "◆": "!", "✓": "+", "↺": "<", "✗": "x", "⊘": "-", "▲": "^", "·": ".", "…": "~",
    "▾": "v", "▸": ">", "↳": "'", "→": ">", "←": "<", "↑": "^", "↓": "v", "−": "-", "–": "-", "—": "-",
    "│": "|", "┃": "|", "▌": "|", "▎": "|", "▏": "|", "▐": "|", "─": "-", "━": "-", "╌": "-", "═": "=",
    "╭": "+", "╮": "+", "╰": "+", "╯": "+", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+",
    "┬": "+", "┴": "+", "┼": "+", "▔": "-", "▀": "-", "█": "#", "▉": "|", "▊": "|", "▋": "|", "▍": "|",
    "“": '"', "”": '"', "‘": "'", "’": "'", "❯": ">", "␛": "^", "␡": "^", "⏎": "<", "🔎": "> ",
    "▕": "|", "↶": "<", "✎": "*", **dict.fromkeys("▁▂▃▄▅▆▇", " "),
})  # fmt: skip

# What Python itself puts into LC_CTYPE when it finds the C locale: it says nothing about the terminal.
_COERCED = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})


def status_word(status: str) -> str:
    return _STATUS_WORDS.get(status) or sanitize(status)


def render_time(iso: str) -> str:
    """Return the local hours and minutes; empty if `iso` is not a time."""
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return ""
    return moment.astimezone().strftime("%H:%M")


def render_duration(since: str, until: str) -> str:
    """Return `40s`, `12m`, `2h05m` or `3d`; empty if `since` or `until` is not a time."""
    try:
        seconds = (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
    except (ValueError, TypeError):
        return ""
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if seconds < 60:
        return f"{max(int(seconds), 0)}s"
    if minutes < 60:
        return f"{minutes}m"
    return f"{hours}h{minutes % 60:02}m" if hours < 48 else f"{hours // 24}d"


def wants_ascii(environment: Mapping[str, str]) -> bool:
    """Return True if the locale is not UTF-8, or if the terminal is known to lack Unicode."""
    if environment.get("TERM") in {"linux", "vt100", "vt220", "dumb"}:
        return True
    ctype, lang = environment.get("LC_CTYPE", ""), environment.get("LANG", "")
    if ctype in _COERCED and lang in {"", "C", "POSIX"}:
        ctype = ""
    return "utf" not in (environment.get("LC_ALL") or ctype or lang).lower()


def to_ascii(text: str) -> str:
    """Return `text` in ASCII, as many cells wide as before."""
    if text.isascii():
        return text
    return "".join(char if char.isascii() else _ascii_form(char) for char in text.translate(_ASCII))


def _ascii_form(char: str) -> str:
    if 0x2400 <= ord(char) < 0x2420:
        return "^"  # the picture of a control character
    width = cell_width(char)
    plain = unicodedata.normalize("NFKD", char)[:1]
    return (plain if plain.isascii() and plain.isprintable() else "?").ljust(width, "?")[:width]
