"""What stands around objects on a terminal: escape sequences, control characters, prompts.

Receives rows of bytes. Tells where in a row an object may begin, and whether an object may be followed by
what follows it. Never decides that an object is there.
"""

import re

_OSC = rb"\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)"
_DEVICE_STRING = rb"\x1b[PX^_][^\x1b]*+\x1b\\"
_CHARSET = rb"\x1b[()*+][0-9A-Za-z]"
_MODE = rb"\x1b\[[<=>?][0-9;:]*+[@-~]"
_COLOUR = rb"\x1b\[[0-9;:]*+m"
_OTHER_ESCAPE = rb"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b[ -~]"
_BYTE_ORDER_MARK = rb"\xef\xbb\xbf"

# These move no cursor, so the text around them is whole even when one falls inside an object.
_HARMLESS = re.compile(b"|".join((_OSC, _DEVICE_STRING, _CHARSET, _MODE, _COLOUR, rb"[\x0e\x0f]")))
# Nothing of this is seen. It may stand before and behind an object, not inside one.
_INVISIBLE = b"|".join((_OSC, _DEVICE_STRING, _CHARSET, _OTHER_ESCAPE, rb"[\x00-\x1f\x7f]", _BYTE_ORDER_MARK))
_UNSEEN = re.compile(_INVISIBLE)
_UNSEEN_OR_BLANK = re.compile(rb"(?:" + _INVISIBLE + rb"|\x20)*+")
# `dev@host:~/proj$ `: a job in the background prints its first event right behind it.
_PROMPT_ENDS = tuple(f"{sign} ".encode() for sign in "$#%>❯➜»λ")
# A prompt right behind an object; its first byte is none that could go on with an enclosing array or object.
_PROMPT = re.compile(rb'[^\s,:\]}{"][^{}"]{0,200}?(?:' + b"|".join(map(re.escape, _PROMPT_ENDS)) + rb")")
_RETURNS = re.compile(rb"\r++\n?")
# Longer than any prompt with its colours; what comes later in a row is not at its start.
_LEAD_LIMIT = 1000


def tidy_rows(rows: bytes) -> bytes:
    """The rows without escape sequences that change nothing, each ending in one newline."""
    if b"\r" in rows:
        rows = rows.replace(b"\r\n", b"\n")
        rows = _RETURNS.sub(b"\n", rows) if b"\r" in rows else rows
    return _HARMLESS.sub(b"", rows) if b"\x1b" in rows else rows


def find_start(row: bytes, at: int = 0) -> int | None:
    """Where an object may begin: at once, behind what is invisible, or behind a prompt."""
    if row[at : at + 1] == b"{":
        return at
    brace = row.find(b"{", at, at + _LEAD_LIMIT)
    if brace < 0:
        return None
    lead = _UNSEEN.sub(b"", row[at:brace])
    if not lead:
        return brace
    prompt = lead.endswith(_PROMPT_ENDS) and b'"' not in lead and row[brace + 1 : brace + 2] == b'"'
    return brace if prompt else None


def find_glued(row: bytes, died: int) -> int | None:
    """Where the next object begins when one was cut off without a newline, and a scan died at `died`.

    The brace is refused itself, or it was taken into a string and the quote behind it for that string's
    end, or a backslash stands before it, or a prompt does. Its quote may stand in the next row.
    """
    few = row[max(0, died - _LEAD_LIMIT) : died]
    taken = died - len(few) + len(few.rstrip(b" \t")) - 2
    for brace in (died, taken, died + 1, find_start(row, died) or 0):
        if brace > 0 and row[brace : brace + 2] in (b'{"', b"{"):
            return brace
    return None


def find_next(row: bytes, ended: int) -> int | None:
    """Where the next object begins in a row in which one ended."""
    seen = _skip_unseen(row, ended)
    return seen if row[seen : seen + 2] == b'{"' else find_start(row, ended)


def nothing_follows(row: bytes, at: int) -> bool:
    return _skip_unseen(row, at) == len(row)


def may_follow(row: bytes, at: int) -> bool:
    """Whether an object that ends at `at` may be followed by the rest of its row.

    An object inside an array is followed by a comma or a bracket: it is part of something whose
    beginning scrolled away. A next object, or a prompt, follows one that was cut off from its newline.
    """
    return nothing_follows(row, at) or find_next(row, at) is not None or _PROMPT.match(row, at) is not None


def _skip_unseen(row: bytes, at: int) -> int:
    found = _UNSEEN_OR_BLANK.match(row, at)
    assert found is not None  # the run may be empty
    return found.end()
