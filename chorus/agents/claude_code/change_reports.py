"""The paths in a tool's input and result, and the client's report of what a call changed."""

import posixpath
from collections.abc import Mapping
from typing import Any

from chorus.model.action import ChangeReport, FileReport, ReportHunk
from chorus.model.tools import EDIT_TOOLS, PATH_KEYS

# The keys that name a path in a tool's input, and those in its result.
_PATH_KEYS = (*PATH_KEYS, "filePath", "notebookPath")
_ANY_PATH_KEY = frozenset(_PATH_KEYS)
_TEXT = {str}


class InvalidReport(ValueError):
    """The client's report of a change has an unexpected form."""


def paths_of(tool_input: Mapping[str, Any], cwd: str | None) -> tuple[str, ...]:
    """Return the resolved path that a tool's input or result names; empty if there is no path."""
    if _ANY_PATH_KEY.isdisjoint(tool_input):
        return ()
    for key in _PATH_KEYS:
        path = tool_input.get(key)
        if isinstance(path, str) and path:
            return (resolve(path, cwd),)
    return ()


def resolve(path: str, cwd: str | None) -> str:
    """Resolve a path against `cwd` without reading the disk.

    A leading `~` stays as it is, because only the client knows its home directory.
    """
    # The client nearly always names an absolute path with nothing to resolve.
    if path[0] == "/" and path[-1] != "/" and "/." not in path and "//" not in path:
        return path
    if path[0] == "~":
        return path
    return posixpath.normpath(posixpath.join(cwd or "", path))


def parse_report(tool: str, response: object, cwd: str | None) -> ChangeReport | None:
    """Parse the report in a tool's result, if there is one. Raises InvalidReport."""
    if not isinstance(response, dict):
        return None
    if isinstance(diff := response.get("bashEditDiff"), dict):
        return _parse_bash(diff, cwd)
    if tool not in EDIT_TOOLS:
        return None
    paths = paths_of(response, cwd)
    if not paths:
        return None
    before = _text(response, "originalFile", "original_file", "originalFileContents")
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
    named = [file.path for file in files] + [resolve(_checked_path(path), cwd) for path in changed]
    return ChangeReport(files, tuple(dict.fromkeys(named)), complete=not more)


def _parse_file(file: object, cwd: str | None) -> FileReport:
    if not isinstance(file, dict):
        raise InvalidReport("bashEditDiff.files")
    path = resolve(_checked_path(file.get("filePath")), cwd)
    created, deleted = file.get("created") is True, file.get("deleted") is True
    return FileReport(path, created=created, hunks=_parse_hunks(file.get("hunks")), deleted=deleted)


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
    # `map(type, ...)` runs at C speed: a patch may have a hundred thousand lines.
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


def _checked_path(path: object) -> str:
    if not isinstance(path, str) or not path:
        raise InvalidReport("bashEditDiff path")
    return path
