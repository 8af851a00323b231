"""Text from files, commands and models, made harmless to show.

Receives any text; gives text of one line in which every character is one the terminal prints as
itself. What would act (escape sequences, bidirectional overrides) or hide (zero-width characters,
tags, lone surrogates) is shown as a sign of its own. Never drops a character in silence: what is cut
off for length is counted.
"""

import re
import unicodedata

# Far wider than any terminal, and short enough that a line of a megabyte costs nothing to draw.
LONGEST_LINE = 2000
TAB_WIDTH = 4

# More marks on one letter than any writing system stacks: they draw over the lines around them.
MOST_MARKS = 3

_TAME = re.compile(r"[\x20-\x7e]*")
# Cc control, Cf format (bidi, zero-width, tags), Cs surrogate, Co private, Cn unassigned, Zl and Zp
# line ends of Unicode's own, Zs blanks that are not the blank.
_SIGN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
# Characters that print as nothing although their category says letter, mark or symbol.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


def inert(text: str, *, limit: int = LONGEST_LINE) -> str:
    """`text` as one harmless line; beyond `limit` characters it says how many are left out."""
    if len(text) <= limit:
        return _tame(text)
    return f"{_tame(text[:limit])}… (+{len(text) - limit:,} characters)"


def inert_lines(text: str, *, most: int) -> list[str]:
    """The lines of `text`, each harmless, tabs as blanks; the last one counts what is left out."""
    lines = text.split("\n", most)
    rest = lines.pop() if len(lines) > most else ""
    shown = [inert(expand_tabs(line)) for line in lines]
    if rest:
        shown.append(f"… (+{rest.count(chr(10)) + 1:,} lines)")
    return shown


def expand_tabs(line: str) -> str:
    return line[: LONGEST_LINE * 2].expandtabs(TAB_WIDTH) + line[LONGEST_LINE * 2 :] if "\t" in line else line


def _tame(text: str) -> str:
    if _TAME.fullmatch(text):
        return text
    shown, marks = [], 0
    for c in text:
        marks = marks + 1 if not c.isascii() and unicodedata.category(c) in {"Mn", "Me"} else 0
        shown.append(_sign(c) if marks <= MOST_MARKS else f"<U+{ord(c):04X}>")
    return "".join(shown)


def _sign(c: str) -> str:
    code = ord(c)
    if 0x20 <= code < 0x7F:
        return c
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"  # a byte of a name that is not UTF-8
    if unicodedata.category(c) in _SIGN_CATEGORIES or _BLANK.match(c):
        return f"<U+{code:04X}>"
    return c
