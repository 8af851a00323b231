"""The text around objects on a terminal: escape sequences, control characters, shell prompts."""

import re

_OSC = rb"\x1b\][^\x07\x1b]*+(?:\x07|\x1b\\)"
_DEVICE_STRING = rb"\x1b[PX^_][^\x1b]*+\x1b\\"
_CHARSET = rb"\x1b[()*+][0-9A-Za-z]"
_MODE = rb"\x1b\[[<=>?][0-9;:]*+[@-~]"
_COLOUR = rb"\x1b\[[0-9;:]*+m"
_OTHER_ESCAPE = rb"\x1b\[[0-?]*+[ -/]*+[@-~]|\x1b[ -~]"
_BYTE_ORDER_MARK = rb"\xef\xbb\xbf"

# These do not move the cursor, so the text around them is intact even inside an object.
_HARMLESS = re.compile(b"|".join((_OSC, _DEVICE_STRING, _CHARSET, _MODE, _COLOUR, rb"[\x0e\x0f]")))
# These are invisible. They may be before and after an object, but not inside one.
_INVISIBLE = b"|".join((_OSC, _DEVICE_STRING, _CHARSET, _OTHER_ESCAPE, rb"[\x00-\x1f\x7f]", _BYTE_ORDER_MARK))
_INVISIBLE_RUN = re.compile(_INVISIBLE)
_INVISIBLE_OR_BLANK_RUN = re.compile(rb"(?:" + _INVISIBLE + rb"|\x20)*+")
# `dev@host:~/proj$ `: a background job prints its first event right after the shell prompt.
_PROMPT_ENDS = tuple(f"{sign} ".encode() for sign in "$#%>❯➜»λ")
# A shell prompt right after an object; its first byte cannot continue an enclosing array or object.
_PROMPT = re.compile(rb'[^\s,:\]}{"][^{}"]{0,200}?(?:' + b"|".join(map(re.escape, _PROMPT_ENDS)) + rb")")
_RETURNS = re.compile(rb"\r++\n?")
# Longer than any shell prompt with its colours.
_MAX_LEAD = 1000


def tidy_rows(rows: bytes) -> bytes:
    """Remove harmless escape sequences, and end each row in one newline."""
    if b"\r" in rows:
        rows = rows.replace(b"\r\n", b"\n")
        rows = _RETURNS.sub(b"\n", rows) if b"\r" in rows else rows
    return _HARMLESS.sub(b"", rows) if b"\x1b" in rows else rows


def find_start(row: bytes, at: int = 0) -> int | None:
    """Return where an object may start at or after `at`; None if nowhere.

    Only invisible bytes or a shell prompt may be before the object.
    """
    if row[at : at + 1] == b"{":
        return at
    brace = row.find(b"{", at, at + _MAX_LEAD)
    if brace < 0:
        return None
    lead = _INVISIBLE_RUN.sub(b"", row[at:brace])
    if not lead:
        return brace
    prompt = lead.endswith(_PROMPT_ENDS) and b'"' not in lead and row[brace + 1 : brace + 2] == b'"'
    return brace if prompt else None


def find_start_after_cut(row: bytes, failed: int) -> int | None:
    """Return where the next object starts after one that was cut off without a newline; None if not found.

    `failed` is where the scan of the cut object failed, usually near the next object's brace. If the object
    was cut off inside a string, the scan read the brace as text and failed after the next quote.
    """
    few = row[max(0, failed - _MAX_LEAD) : failed]
    taken = failed - len(few) + len(few.rstrip(b" \t")) - 2
    for brace in (failed, taken, failed + 1, find_start(row, failed) or 0):
        if brace > 0 and row[brace : brace + 2] in (b'{"', b"{"):
            return brace
    return None


def find_next(row: bytes, ended: int) -> int | None:
    """Return where the next object starts after an object that ended at `ended`; None if nowhere."""
    seen = _skip_invisible(row, ended)
    return seen if row[seen : seen + 2] == b'{"' else find_start(row, ended)


def ends_row(row: bytes, at: int) -> bool:
    return _skip_invisible(row, at) == len(row)


def may_follow(row: bytes, at: int) -> bool:
    """Return whether the text from `at` on may follow an object that ends there.

    A comma or a bracket may not follow: the object is then a part of a larger object, whose beginning
    scrolled away.
    """
    return ends_row(row, at) or find_next(row, at) is not None or _PROMPT.match(row, at) is not None


def _skip_invisible(row: bytes, at: int) -> int:
    found = _INVISIBLE_OR_BLANK_RUN.match(row, at)
    assert found is not None  # the run may be empty
    return found.end()
