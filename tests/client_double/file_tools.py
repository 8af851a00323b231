"""Read, Edit, Write and NotebookEdit.

A call is first planned: why it cannot run (checked before any hook), or what it will write and report.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.client_double.change import Change
from tests.client_double.file_io import Decoded, read_text
from tests.client_double.notebook import plan_cell
from tests.client_double.patch import structured_patch
from tests.client_double.values import Outcome, failure

CURRENT = " (file state is current in your context — no need to Read it back)"
STRAIGHT = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})
# Files in which two blanks at the end of a line have a meaning.
KEEPS_TRAILING_BLANKS = {".md", ".mdx"}


def plan(tool: str, arguments: Mapping[str, Any], *, known: bool) -> Change | Outcome:
    """Plan the change of a call, or its failure. `known`: the model has read the file."""
    try:
        return PLANS[tool](arguments, known)
    except KeyError as error:
        return failure(f"InputValidationError: {tool} failed: the required parameter {error} is missing")
    except OSError as error:
        return failure(f"{error.strerror}: {error.filename}")


def read(arguments: Mapping[str, Any]) -> Outcome:
    path = Path(arguments["file_path"])
    try:
        decoded = read_text(path)
    except OSError as error:
        return failure(f"{error.strerror}: {path}")
    if decoded is None:
        return failure(f"File does not exist. Note: your current working directory is {Path.cwd()}.")
    lines = decoded.text.split("\n")
    content = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    file = {"filePath": str(path), "content": decoded.text, "numLines": len(lines)}
    return Outcome(content, {"type": "text", "file": {**file, "startLine": 1, "totalLines": len(lines)}})


def _plan_write(arguments: Mapping[str, Any], known: bool) -> Change | Outcome:
    path, content = Path(arguments["file_path"]), str(arguments["content"])
    decoded = read_text(path)
    before = decoded.text if decoded else None
    created = before is None
    text = f"File created successfully at: {path}" if created else _updated(path)
    result = {
        "type": "create" if created else "update",
        "filePath": str(path),
        "content": content,
        "structuredPatch": [] if before is None else structured_patch(before, content),
        "originalFile": before,
        "userModified": False,
    }
    return Change(path, before, content, content.encode(), text + CURRENT, result)


def _plan_edit(arguments: Mapping[str, Any], known: bool) -> Change | Outcome:
    path = Path(arguments["file_path"])
    old, new = str(arguments["old_string"]), str(arguments["new_string"])
    everywhere = bool(arguments.get("replace_all", False))
    decoded = read_text(path) or (None if old else Decoded("", "utf-8", crlf=False))
    if decoded is None:
        return failure(f"File does not exist. Note: your current working directory is {Path.cwd()}.")
    after = _replaced(decoded.text, old, new, path, everywhere=everywhere)
    if isinstance(after, Outcome):
        return after
    result = {
        "filePath": str(path),
        "oldString": old,
        "newString": new,
        "originalFile": decoded.text,
        "structuredPatch": structured_patch(decoded.text, after),
        "userModified": False,
        "replaceAll": everywhere,
        **({} if known else {"contentNotInModelContext": True}),
    }
    text = _updated(path) + (CURRENT if known else "")
    return Change(path, decoded.text, after, decoded.encode(after), text, result)


PLANS: dict[str, Callable[[Mapping[str, Any], bool], Change | Outcome]] = {
    "Write": _plan_write,
    "Edit": _plan_edit,
    "NotebookEdit": plan_cell,
}


def _updated(path: Path) -> str:
    return f"The file {path} has been updated successfully."


def _find(text: str, wanted: str) -> str | None:
    """The text to replace: as given, or with the file's curly quotes."""
    if wanted in text:
        return wanted
    place = text.translate(STRAIGHT).find(wanted.translate(STRAIGHT))
    return text[place : place + len(wanted)] if place >= 0 and wanted else None


def _shaped(new: str, old: str, found: str, path: Path) -> str:
    """The new text as the client writes it: no trailing blanks, quotes as curly as those it replaces."""
    if path.suffix not in KEEPS_TRAILING_BLANKS:
        new = "\n".join(line.rstrip(" \t") for line in new.split("\n"))
    if found != old:
        for curly in found:
            straight = curly.translate(STRAIGHT)
            if straight != curly:
                new = new.replace(straight, curly, 1)
    return new


def _replaced(text: str, old: str, new: str, path: Path, *, everywhere: bool) -> str | Outcome:
    if old == new:
        return failure("No changes to make: old_string and new_string are exactly the same.")
    if not old and not text:
        return new
    found = _find(text, old)
    if found is None:
        return failure(f"String to replace not found in file.\nString: {old}")
    times = text.count(found)
    if times > 1 and not everywhere:
        return failure(
            f"Found {times} matches of the string to replace, but replace_all is false.\nString: {old}"
        )
    new = _shaped(new, old, found, path)
    # Replacing a whole line with nothing also removes its newline.
    if not new and not found.endswith("\n") and found + "\n" in text:
        found += "\n"
    return text.replace(found, new) if everywhere else text.replace(found, new, 1)
