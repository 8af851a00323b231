"""The client's report of what one action did to one file, as text before and after.

The client reads CRLF as LF and undecodable bytes as U+FFFD. It prints each tab at the start of a patch line
as two blanks. A report that does not fit exactly is ignored.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorus.model.action import Action, FileReport, ReportHunk, WriteScope

NO_NEWLINE = "\\"  # starts the patch line that says the line above has no newline
_SWAPPED = {"+": "-", "-": "+"}
_TABS = re.compile(r"^\t+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Replacement:
    """One `old_string`/`new_string` pair of a tool's input."""

    old: str
    new: str
    everywhere: bool


@dataclass(frozen=True, slots=True)
class ReportedEdit:
    """The client's report about one path. `before` and `after` are the whole text; None if unknown.

    `anywhere`: the call may write to any path, so the report may include changes that others made during the
    call.
    """

    before: str | None = None
    created: bool = False  # there was no file before
    after: str | None = None
    hunks: tuple[ReportHunk, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    anywhere: bool = False
    deleted: bool = False  # there was no file after


NO_REPORT = ReportedEdit()
ANY_CHANGE = ReportedEdit(anywhere=True)


def reported_edit(action: Action, file: FileReport | None) -> ReportedEdit:
    anywhere = action.write_scope is WriteScope.ANYWHERE
    if file is None:
        return ANY_CHANGE if anywhere else NO_REPORT
    replacements = () if anywhere else tuple(_replacements(action.input))
    return ReportedEdit(
        file.before, file.created, file.after, file.hunks, replacements, anywhere, file.deleted
    )


def text_after(report: ReportedEdit, before: str | None) -> str | None:
    """Return the text after the change was applied to `before`; None if that text is not certain.

    `before` is None if there is no file.
    """
    if report.after is not None:
        return report.after
    start = before or ""
    patched = apply_hunks(start, report.hunks) if report.hunks else None
    return patched if patched is not None else _replaced(report, start)


def text_before(report: ReportedEdit, after: str) -> str | None:
    """Return the text from which the change made `after`; None if that text is not certain."""
    if report.before is not None or not report.hunks:
        return report.before
    return apply_hunks(after, tuple(map(_reverse, report.hunks)))


def _reverse(hunk: ReportHunk) -> ReportHunk:
    swapped = [_SWAPPED.get(line[:1], line[:1]) + line[1:] for line in hunk.lines]
    return ReportHunk(hunk.new_start, hunk.new_lines, hunk.old_start, hunk.old_lines, swapped)


def apply_hunks(text: str, hunks: Sequence[ReportHunk]) -> str | None:
    """Return the patched text; None if a line of the patch is not where it should be."""
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


def _replaced(report: ReportedEdit, start: str) -> str | None:
    """Apply the replacements.

    Return None if a replacement does not fit, or if the client's patch does not confirm the result.
    """
    text = start
    for replacement in report.replacements:
        if not replacement.old or replacement.old not in text:
            return None
        text = text.replace(replacement.old, replacement.new, -1 if replacement.everywhere else 1)
    agreed = apply_hunks(_with_printed_tabs(start), report.hunks) if report.hunks else None
    return text if agreed == _with_printed_tabs(text) else None


def _with_printed_tabs(text: str) -> str:
    return _TABS.sub(lambda tabs: "  " * len(tabs[0]), text)


def _replacements(tool_input: Mapping[str, Any]) -> Iterable[Replacement]:
    edits = tool_input.get("edits")
    for edit in edits if isinstance(edits, list) else [tool_input]:
        if isinstance(edit, Mapping):
            old, new = edit.get("old_string"), edit.get("new_string")
            if isinstance(old, str) and isinstance(new, str):
                yield Replacement(old, new, bool(edit.get("replace_all")))
