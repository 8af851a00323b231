"""A recording as a pane of some width shows it, and the check that it still gives its table."""

import json
from collections import Counter
from functools import cache

from chorus.agents.claude_code.terminal import Reassembler
from tests.agents.recordings import RECORDINGS, actions_of, in_table, parse, read_values, tables
from tests.agents.terminal.tmux_rows import capture

WIDTHS = range(20, 301)
TABLE = tables()
# What a client printed, read or wrote; the captures of panes are wrapped already.
NAMES = [name for name in TABLE if not name.startswith("tmux/")]
# A stream of this size takes a second at one width.
LARGE = 200_000


@cache
def lines_of(name: str) -> list[str]:
    """The lines as they were printed. A hook's input is one line; it was recorded for people to read."""
    path = RECORDINGS / name
    if path.suffix == ".json":
        return [json.dumps(value, separators=(",", ":"), ensure_ascii=False) for value in read_values(path)]
    return [line for line in path.read_text().split("\n") if line]


def size_of(name: str) -> int:
    return (RECORDINGS / name).stat().st_size


def check_wrapped(name: str, width: int, *, keep_blanks: bool = False) -> None:
    """Nothing is lost or altered, what is in doubt is marked, and the actions are those of the table."""
    lines = lines_of(name)
    reassembler = Reassembler(width=width, allow_inexact=True)
    shown = capture(lines, width, keep_blanks=keep_blanks)
    documents = reassembler.feed(shown.encode()) + reassembler.close()
    assert len(documents) == len(lines), f"{name} at {width}"
    doubts = 0
    for line, document in zip(lines, documents, strict=True):
        if document.exact:
            assert document.text.decode() == line, f"{name} at {width}"
        else:
            doubts += 1
            assert not line.isascii(), f"{name} at {width}"
    expected = Counter({"ambiguous-wrap": doubts}) if doubts else Counter()
    assert +reassembler.problems == expected, f"{name} at {width}"
    rows = actions_of(parse(document.value) for document in documents).values()
    assert list(map(in_table, rows)) == TABLE[name], f"{name} at {width}"
