"""Guess which names a change removes from a file, and which of them are still mentioned.

No language is parsed: good enough for a warning, never for a decision.
"""

import re
from collections.abc import Iterable, Sequence

from chorus.changes.diff import hunks, split_lines

# Larger files are not looked at.
MAX_BYTES = 2**20

_WORD = rb"[A-Za-z_$][\w$]*"
_NAME = re.compile(_WORD)
_KEYWORDS = (
    rb"def|class|function|func|fn|struct|enum|union|interface|trait|type|typedef|module|namespace|const|let|var|val"
    rb"|static|macro_rules!|#define"
)
_DEFINITION = re.compile(rb"(?:^|[\s;(])(?:" + _KEYWORDS + rb")\s+(?:\([^)]{0,200}\)\s*)?(" + _WORD + rb")")
_ASSIGNMENT = re.compile(rb"^\s*(" + _WORD + rb")\s*(?::[^=]*)?:?=(?![=>])")
_IMPORT = re.compile(rb"^\s*(?:from\s.*\simport|import|use)\s(.*)$")
_IMPORT_WORDS = frozenset({b"as", b"from", b"import", b"type", b"static"})


def lost_names(now: bytes, new: bytes) -> frozenset[bytes]:
    """Return the names that `now` defines and `new` does not.

    Return none if a text is too large, or if `now` is binary.
    """
    if max(len(now), len(new)) > MAX_BYTES or b"\0" in now:
        return frozenset()
    before, after = split_lines(now), split_lines(new)
    removed = [line for hunk in hunks(now, new) for line in before[hunk.before_start : hunk.before_end]]
    names = _defined(removed)
    return names - _defined(after) if names else names


def added_mentions(before: bytes, after: bytes, new: bytes, names: Iterable[bytes]) -> list[bytes]:
    """Return those of the `names` that added lines mention, sorted.

    An added line was added from `before` to `after`. It counts only if it is still in `new`.
    """
    lines, left = split_lines(after), frozenset(split_lines(new))
    added = (line for hunk in hunks(before, after) for line in lines[hunk.after_start : hunk.after_end])
    mentioned = {name for line in added if line in left for name in _NAME.findall(line)}
    return sorted(mentioned.intersection(names))


def _defined(lines: Sequence[bytes]) -> frozenset[bytes]:
    found: set[bytes] = set()
    for line in lines:
        found.update(_DEFINITION.findall(line))
        if assigned := _ASSIGNMENT.match(line):
            found.add(assigned[1])
        if imported := _IMPORT.match(line):
            found.update(set(_NAME.findall(imported[1])) - _IMPORT_WORDS)
    return frozenset(found)
