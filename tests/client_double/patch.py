"""The difference of two texts as the client reports it: hunks with three lines of context.

Pure. Gives `structuredPatch` and the counts a screen shows.
"""

from difflib import SequenceMatcher
from typing import Any

CONTEXT = 3
NO_NEWLINE = "\\ No newline at end of file"

Hunk = dict[str, Any]


def structured_patch(before: str, after: str) -> list[Hunk]:
    old, new = _lines(before), _lines(after)
    return [_hunk(old, new, group) for group in _groups(old, new)]


def count_lines(hunks: list[Hunk]) -> tuple[int, int]:
    """How many lines were added and removed."""
    lines = [line for hunk in hunks for line in hunk["lines"]]
    return sum(line[:1] == "+" for line in lines), sum(line[:1] == "-" for line in lines)


# A line is its text, with the marker of a missing newline behind it where there is one.
Line = tuple[str, ...]
Opcode = tuple[str, int, int, int, int]


def _lines(text: str) -> list[Line]:
    lines: list[Line] = [(line,) for line in text.split("\n")]
    if lines[-1] == ("",):
        lines.pop()
    else:
        lines[-1] = (*lines[-1], NO_NEWLINE)
    return lines


def _groups(old: list[Line], new: list[Line]) -> list[list[Opcode]]:
    # Matching is slow on long texts, and an edit leaves nearly everything equal: cut the ends off.
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    lead = min(head, CONTEXT)
    start, rest = head - lead, min(tail, CONTEXT)
    matcher = SequenceMatcher(
        None,
        old[start : len(old) - tail + rest],
        new[start : len(new) - tail + rest],
        autojunk=False,
    )
    return [
        [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in group]
        for group in matcher.get_grouped_opcodes(CONTEXT)
    ]


def _hunk(old: list[Line], new: list[Line], group: list[Opcode]) -> Hunk:
    lines: list[str] = []
    for tag, a, b, c, d in group:
        if tag == "equal":
            lines += _marked(" ", old[a:b])
        else:
            lines += _marked("-", old[a:b]) + _marked("+", new[c:d])
    first, last = group[0], group[-1]
    return {
        "oldStart": first[1] + 1 if last[2] > first[1] else first[1],
        "oldLines": last[2] - first[1],
        "newStart": first[3] + 1 if last[4] > first[3] else first[3],
        "newLines": last[4] - first[3],
        "lines": lines,
    }


def _marked(mark: str, lines: list[Line]) -> list[str]:
    return [part if at else mark + part for line in lines for at, part in enumerate(line)]
