"""Lines followed through a change of their file."""

import pytest

from chorus.changes.diff import Hunk, hunks
from chorus.changes.line_merge import LineRange
from chorus.changes.line_trace import follow_line, follow_stretch, inserts_at, trace_lines_back

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


def test_a_stretch_grows_with_what_is_added_to_it_and_moves_with_what_is_above() -> None:
    empty = LineRange(2, 2)
    above, at, below = Hunk(0, 0, 0, 3), Hunk(2, 2, 5, 6), Hunk(4, 5, 8, 8)
    assert follow_stretch(empty, [above, at, below]) == LineRange(5, 6)
    assert follow_stretch(empty, [above]) == LineRange(5, 5)
    assert inserts_at(empty, [above, at])
    assert not inserts_at(empty, [above, below])
    assert not inserts_at(LineRange(4, 5), [below])  # it only removes
