"""Lines followed through a change of their file."""

import pytest

from chorus.changes.diff import hunks
from chorus.changes.line_trace import changed_lines, follow_line, removed_lines, trace_lines_back

OLD = b"a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    ("new", "line", "expected"),
    [
        (OLD, 2, (2, False)),
        (b"x\n" + OLD, 2, (3, False)),  # shifted by what is above
        (b"a\nb\nc\nD\ne\n", 3, (3, True)),
        (b"a\nX\nY\nZ\ne\n", 3, (3, True)),  # of a replaced run, each by its position
        (b"a\nX\ne\n", 3, (1, True)),
        (b"a\nc\nd\ne\n", 1, (1, True)),  # removed: where the next line is
        (b"a\nc\nd\ne\n", 4, (3, False)),
        (b"a\nb\nc\nd\nE\n", 0, (0, False)),
    ],
)
def test_a_line_is_followed_to_the_new_file(new: bytes, line: int, expected: tuple[int, bool]) -> None:
    assert follow_line(line, hunks(OLD, new)) == expected


def test_lines_are_traced_back_to_where_they_were_or_to_this_change() -> None:
    new = b"x\na\nb\nC\nd\ne\n"
    kept, written = trace_lines_back({line: line for line in range(6)}, hunks(OLD, new))
    assert kept == {1: 0, 2: 1, 4: 3, 5: 4}
    assert written == {0: 0, 3: 3}
    assert trace_lines_back({0: 0}, ()) == ({0: 0}, {})


def test_the_lines_of_a_change_are_those_it_removed_and_added() -> None:
    new = b"a\nB\nc\ne\nf"
    assert changed_lines(OLD, new, hunks(OLD, new)) == [b"b", b"B", b"d", b"f"]


def test_a_removed_line_is_one_that_no_new_line_replaces() -> None:
    assert removed_lines(hunks(OLD, b"a\nX\ne\n")) == {2, 3}
    assert removed_lines(hunks(OLD, b"x\n" + OLD)) == set()
