"""What the client says one action did to one file, worked out as text.

Receives the report and the input of an action. Gives the text before and after, where they can be told.
The client's text is not the file: it reads CRLF as LF, undecodable bytes as U+FFFD, and prints the tabs
at the start of a patch line as two blanks each. Never guesses: what does not fit exactly is not told.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorus.model.action import Action, FileReport, ReportHunk

NO_NEWLINE = "\\"  # starts the patch line that says the line above has no newline
_TABS = re.compile(r"^\t+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str
    everywhere: bool


@dataclass(frozen=True, slots=True)
class ReportedEdit:
    """`before` is None where it is not told; `created` says that there was no file."""

    before: str | None = None
    created: bool = False
    after: str | None = None
    hunks: tuple[ReportHunk, ...] = ()
    swaps: tuple[Replacement, ...] = ()


NO_REPORT = ReportedEdit()


def reported_edit(action: Action, file: FileReport | None) -> ReportedEdit:
    """What `action` claims about the file its report is about."""
    if file is None:
        return NO_REPORT
    return ReportedEdit(file.before, file.created, file.after, file.hunks, tuple(_swaps(action.input)))


def text_after(claim: ReportedEdit, before: str | None) -> str | None:
    """The text the claim makes of `before` (None: no file), or None where that cannot be told."""
    if claim.after is not None:
        return claim.after
    start = before or ""
    patched = apply_hunks(start, claim.hunks) if claim.hunks else None
    return patched if patched is not None else _swapped(claim, start)


def apply_hunks(text: str, hunks: Sequence[ReportHunk]) -> str | None:
    """The patched text; None where a line of the patch is not in its place."""
    lines = _lines(text)
    out: list[str] = []
    done = 0
    for hunk in hunks:
        old, new = _sides(hunk.lines)
        start = hunk.old_start - 1 if hunk.old_lines else hunk.old_start
        if start < done or lines[start : start + len(old)] != old:
            return None
        out += lines[done:start]
        out += new
        done = start + len(old)
    return "".join(out + lines[done:])


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _sides(patch: Sequence[str]) -> tuple[list[str], list[str]]:
    old: list[str] = []
    new: list[str] = []
    touched: list[list[str]] = []
    for line in patch:
        if line.startswith(NO_NEWLINE):
            for side in touched:
                side[-1] = side[-1].removesuffix("\n")
            continue
        touched = [side for side, marks in ((old, " -"), (new, " +")) if line[:1] in marks]
        for side in touched:
            side.append(line[1:] + "\n")
    return old, new


def _swapped(claim: ReportedEdit, start: str) -> str | None:
    """The strings exchanged, believed only where the patch, tabs shown as it shows them, agrees."""
    text = start
    for swap in claim.swaps:
        if not swap.old or swap.old not in text:
            return None
        text = text.replace(swap.old, swap.new, -1 if swap.everywhere else 1)
    agreed = apply_hunks(_shown(start), claim.hunks) if claim.hunks else None
    return text if agreed == _shown(text) else None


def _shown(text: str) -> str:
    return _TABS.sub(lambda tabs: "  " * len(tabs[0]), text)


def _swaps(inputs: Mapping[str, Any]) -> Iterable[Replacement]:
    edits = inputs.get("edits")
    for edit in edits if isinstance(edits, list) else [inputs]:
        if isinstance(edit, Mapping):
            old, new = edit.get("old_string"), edit.get("new_string")
            if isinstance(old, str) and isinstance(new, str):
                yield Replacement(old, new, bool(edit.get("replace_all")))
