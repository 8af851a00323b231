"""The summary of a change: the first line of a commit, and one line per file."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from chorus.changes.diff import hunks
from chorus.model.action import Action
from chorus.model.commits.commit_message import SUBJECT_LENGTH, shorten
from chorus.model.commits.commit_subject import change_phrase
from chorus.model.review_state import REVERT_TOOL
from chorus.model.tools import COMMAND_KEY
from chorus.text.sanitize import printable


class ChangeKind(Enum):
    CREATED = "new"
    DELETED = "deleted"
    MODIFIED = "modified"
    MODE = "mode"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file. The counts are None if its lines were not counted.

    For a modified file, `line` is the first added line with words. If there is none, it is the first removed
    line with words.
    """

    path: str
    change: ChangeKind
    added: int | None = None
    removed: int | None = None
    line: str | None = None


# The longest reason for a failure in a commit's first line. The line begins with what was tried.
MAX_REASON_LENGTH = 44

# For this many files, the changed lines are counted and each file gets a line in the message. Of further
# files, only the number is given.
MAX_FILES = 50

# How much of a changed line is read for the summary.
MAX_LINE_BYTES = 400

# The marks of a list, a heading or a comment before the words of a changed line.
_MARKS = re.compile(r"^(?:(?:[#>*+-]+|//+)\s+)+")
_MARKDOWN = re.compile(r"^(?:[#>*+-]+\s+)+|[*`]|:$")


def describe_file(path: str, change: ChangeKind, before: bytes | None, after: bytes | None) -> FileChange:
    """Count the changed lines. In a modified file, find the line for the summary."""
    old, new = before or b"", after or b""
    if b"\0" in old or b"\0" in new:
        return FileChange(path, change)
    found = hunks(old, new)
    added, removed = sum(hunk.added for hunk in found), sum(hunk.removed for hunk in found)
    if not found or change is not ChangeKind.MODIFIED:
        return FileChange(path, change, added, removed)
    spans_new = [(hunk.after_start, hunk.after_end) for hunk in found]
    spans_old = [(hunk.before_start, hunk.before_end) for hunk in found]
    line = _first_telling(new, spans_new) or _first_telling(old, spans_old)
    return FileChange(path, change, added, removed, line)


def summarise(action: Action, files: Sequence[FileChange]) -> str:
    """Return the first line of a commit."""
    if action.status == "failed" and action.failure:
        why = shorten(action.failure, MAX_REASON_LENGTH)
        return f"{shorten(_tool_and_files(action, files), SUBJECT_LENGTH - len(why) - 2)}: {why}"
    if action.tool == REVERT_TOOL and action.lead_text:
        return shorten(action.lead_text)  # Chorus's own words, which may quote code
    return first_words(action.lead_text) or shorten(_tool_and_files(action, files))


def first_words(lead_text: str | None) -> str | None:
    """Return the first change that the lead text describes, without Markdown; None if there is none."""
    for line in (lead_text or "").splitlines():
        text = _MARKDOWN.sub("", line.strip()).rstrip(" :")
        phrase = change_phrase(text) if any(char.isalnum() for char in text) else None
        if phrase is not None:
            return shorten(phrase)
    return None


def render_file(file: FileChange) -> str:
    """Return a line such as `src/app.py: +3 −1`."""
    return f"{printable(file.path)}: {_amount(file)}"


def render_amount(files: Iterable[FileChange]) -> str:
    """Return the total of all counted lines, such as `+3 −1`."""
    counted = [(file.added, file.removed or 0) for file in files if file.added is not None]
    return f"+{sum(added or 0 for added, _ in counted)} −{sum(removed for _, removed in counted)}"


def _tool_and_files(action: Action, files: Sequence[FileChange]) -> str:
    command = action.input.get(COMMAND_KEY)
    if isinstance(command, str):
        tail = f" ({count_files(len(files))})" if files else ""
        return f"{action.tool}: {shorten(command, SUBJECT_LENGTH - len(action.tool) - 2 - len(tail))}{tail}"
    if not files:
        return " ".join([action.tool, *(_base_name(path) for path in action.paths)])
    if len(files) == 1:
        return f"{action.tool} {_base_name(files[0].path)}: {files[0].line or _amount(files[0])}"
    return f"{action.tool}: {count_files(len(files))}, {render_amount(files)}"


def count_files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def render_files(files: Sequence[FileChange]) -> tuple[str, ...]:
    """Return one line for each file up to `MAX_FILES`, and one line with the number of other files."""
    lines = tuple(render_file(file) for file in files[:MAX_FILES])
    more = len(files) - MAX_FILES
    return (*lines, f"and {more} more") if more > 0 else lines


def count_changed_lines(files: Sequence[FileChange]) -> tuple[int, int] | None:
    """Count the added and the removed lines. Leave out files whose lines were not counted.

    Return None if there are more than `MAX_FILES` files, or if no file is counted.
    """
    if len(files) > MAX_FILES:
        return None
    counted = [(f.added, f.removed) for f in files if f.added is not None and f.removed is not None]
    return (sum(a for a, _ in counted), sum(r for _, r in counted)) if counted else None


def _amount(file: FileChange) -> str:
    counts = "binary" if file.added is None else f"+{file.added} −{file.removed}"
    if file.change is ChangeKind.MODIFIED:
        return counts
    word: str = file.change.value
    return word if file.change in (ChangeKind.MODE, ChangeKind.LINK) else f"{word}, {counts}"


def _first_telling(data: bytes, spans: Iterable[tuple[int, int]]) -> str | None:
    """Return the first line with words in these ranges, without indentation and marks."""
    for start, end in spans:
        for line in data.split(b"\n", end)[start:end]:
            # A longer line is cut anyway.
            words = " ".join(line[:MAX_LINE_BYTES].decode("utf-8", "replace").split())
            text = _MARKS.sub("", printable(words))
            if any(char.isalnum() for char in text):
                return text
    return None


def _base_name(path: str) -> str:
    return printable(path.rsplit("/", 1)[-1])
