"""What a tool can write, which paths it names, and what the client says it changed.

Pure string work on the tool's input and result. Nothing here is a substitute for the disk: a witness
helps to tell changes apart, it never provides bytes.
"""

import posixpath
from collections.abc import Mapping
from typing import Any

from chorus.model.action import ChangeReport, FileReport, ReportHunk
from chorus.model.tools import EDIT_TOOLS, PATH_KEYS

# As an input spells them, and as a result does.
_PATH_KEYS = (*PATH_KEYS, "filePath", "notebookPath")
_TEXT = {str}


class InvalidReport(ValueError):
    """What the client says about a change is not in the shape it should have."""


def paths_of(given: Mapping[str, Any], cwd: str | None) -> tuple[str, ...]:
    """The file an input names, in full where the session's directory is known. No tool names two."""
    for key in _PATH_KEYS:
        path = given.get(key)
        if isinstance(path, str) and path:
            return (resolve(path, cwd),)
    return ()


def resolve(path: str, cwd: str | None) -> str:
    """As the client resolves it, by words alone. `~` stays: whose home it is, only the client knows."""
    # Absolute, with nothing in it to resolve, is what the client nearly always names.
    if path[0] == "/" and path[-1] != "/" and "/." not in path and "//" not in path:
        return path
    if path[0] == "~":
        return path
    return posixpath.normpath(posixpath.join(cwd or "", path))


def parse_report(tool: str, response: object, cwd: str | None) -> ChangeReport | None:
    """What a result tells about changes; None where it tells nothing."""
    if not isinstance(response, dict):
        return None
    if isinstance(diff := response.get("bashEditDiff"), dict):
        return _parse_bash(diff, cwd)
    if tool not in EDIT_TOOLS:
        return None
    paths = paths_of(response, cwd)
    if not paths:
        return None
    before = _text(response, "originalFile", "original_file")
    after = _text(response, "content", "updated_file")
    hunks = _parse_hunks(response.get("structuredPatch"))
    if before is None and after is None and not hunks:
        return None
    created = response.get("type") == "create"
    return ChangeReport((FileReport(paths[0], before, created, after, hunks),), paths[:1])


def _parse_bash(diff: Mapping[str, Any], cwd: str | None) -> ChangeReport | None:
    listed, more = diff.get("files", []), diff.get("moreFiles", 0)
    changed = diff.get("changedFiles", [])
    if not isinstance(listed, list) or not isinstance(changed, list) or not isinstance(more, int):
        raise InvalidReport("bashEditDiff")
    if diff.get("skipped") or (diff.get("unavailable") and not listed):
        return None
    files = tuple(_parse_file(file, cwd) for file in listed)
    named = [file.path for file in files] + [resolve(_checked(path), cwd) for path in changed]
    return ChangeReport(files, tuple(dict.fromkeys(named)), complete=not more)


def _parse_file(file: object, cwd: str | None) -> FileReport:
    if not isinstance(file, dict):
        raise InvalidReport("bashEditDiff.files")
    path = resolve(_checked(file.get("filePath")), cwd)
    return FileReport(path, created=file.get("created") is True, hunks=_parse_hunks(file.get("hunks")))


def _parse_hunks(value: object) -> tuple[ReportHunk, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidReport("structuredPatch")
    return tuple(map(_parse_hunk, value))


def _parse_hunk(value: object) -> ReportHunk:
    if not isinstance(value, dict):
        raise InvalidReport("structuredPatch")
    lines = value.get("lines")
    # `map(type, …)` runs at C speed: a patch may have a hundred thousand lines.
    if not isinstance(lines, list) or not set(map(type, lines)) <= _TEXT:
        raise InvalidReport("structuredPatch")
    old, new = value.get("oldStart"), value.get("newStart")
    olds, news = value.get("oldLines"), value.get("newLines")
    if not (
        isinstance(old, int) and isinstance(new, int) and isinstance(olds, int) and isinstance(news, int)
    ):
        raise InvalidReport("structuredPatch")
    return ReportHunk(old, olds, new, news, lines)


def _text(response: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        value = response.get(key)
        if isinstance(value, str):
            return value
        if value is not None:
            raise InvalidReport(key)
    return None


def _checked(path: object) -> str:
    if not isinstance(path, str) or not path:
        raise InvalidReport("bashEditDiff path")
    return path
