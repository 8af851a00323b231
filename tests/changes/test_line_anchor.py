import pytest

from chorus.changes.line_anchor import follow_lines

FILE = b"a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    ("after", "lines", "now", "changed"),
    [
        (FILE, range(1, 3), range(1, 3), False),
        (b"x\ny\n" + FILE, range(1, 3), range(3, 5), False),
        (b"b\nc\nd\ne\n", range(1, 3), range(0, 2), False),
        (b"a\nx\nb\nc\nd\ne\n", range(1, 3), range(2, 4), False),
        (b"a\nb\nc\nx\nd\ne\n", range(1, 3), range(1, 3), False),
        (b"a\nb\nx\nc\nd\ne\n", range(1, 3), range(1, 4), True),
        (b"a\nB\nc\nd\ne\n", range(1, 3), range(1, 3), True),
        (b"a\nb\nC\nC2\nd\ne\n", range(1, 3), range(1, 4), True),
        (b"X\nY\nZ\nc\nd\ne\n", range(1, 3), range(0, 4), True),
        (b"a\nb\nX\ne\n", range(1, 3), range(1, 3), True),
        (b"a\nd\ne\n", range(1, 3), range(1, 1), True),
        (b"A\nB\nC\nd\ne\n", range(1, 2), range(1, 2), True),
        (b"new\nA\nB\nC\nd\nE\nF\n", range(3, 4), range(4, 5), False),
        (b"", range(1, 3), range(0, 0), True),
    ],
)
def test_lines_are_followed_through_later_changes(
    after: bytes, lines: range, now: range, changed: bool
) -> None:
    assert follow_lines(FILE, after, lines) == (now, changed)
