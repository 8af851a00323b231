"""Hunks applied to the one content give the other."""

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from chorus.changes.diff import MAX_EDITS, Hunk, common_ends, hunks, split_lines

lines = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"\r\n", b"one\n", b"two\n"]), max_size=30)
contents = st.builds(lambda body, last: b"".join(body) + last, lines, st.sampled_from([b"", b"x", b"a"]))


def applied(before: bytes, after: bytes, found: tuple[Hunk, ...]) -> bytes:
    old, new = split_lines(before), split_lines(after)
    out: list[bytes] = []
    done = 0
    for hunk in found:
        out += old[done : hunk.before_start] + new[hunk.after_start : hunk.after_end]
        done = hunk.before_end
    return b"".join(out + old[done:])


@given(contents, contents)
def test_hunks_turn_the_one_into_the_other(before: bytes, after: bytes) -> None:
    assert applied(before, after, hunks(before, after)) == after


@given(contents, contents)
def test_two_hunks_have_an_unchanged_line_between_them(before: bytes, after: bytes) -> None:
    found = hunks(before, after)
    assert all(a.before_end < b.before_start for a, b in pairwise(found))
    assert all(hunk.removed or hunk.added for hunk in found)


@given(contents)
def test_equal_contents_have_no_hunks(content: bytes) -> None:
    assert hunks(content, content) == ()


@given(contents)
def test_lines_joined_are_the_content(content: bytes) -> None:
    assert b"".join(split_lines(content)) == content
    assert all(line.count(b"\n") <= 1 for line in split_lines(content))


@given(contents, contents)
def test_common_ends_are_whole_lines_of_both(a: bytes, b: bytes) -> None:
    head, tail = common_ends(a, b)
    assert a[:head] == b[:head]
    assert a[len(a) - tail :] == b[len(b) - tail :]
    assert head + tail <= min(len(a), len(b))
    for side in (a, b):
        middle = side[head : len(side) - tail]
        assert b"".join([*split_lines(side[:head]), *split_lines(middle)]) == side[: len(side) - tail]
        assert not middle or tail == 0 or middle.endswith(b"\n")


def test_common_ends_of_long_runs_of_equal_lines_are_whole_and_do_not_overlap() -> None:
    """Around the lengths of the slices that are compared at once."""
    counts = (0, 1, 31, 32, 33, 63, 64, 65, 96, 97, 200, 500)
    for first, second, third in product(counts, repeat=3):
        a, b = b"l\n" * first, b"l\n" * second + b"m\n" + b"l\n" * third
        head = min(first, second)
        tail = min(third, first - head)
        for found in (common_ends(a, b), common_ends(b, a)):
            assert found == (2 * head, 2 * tail), (first, second, third)


def test_equal_contents_are_all_common() -> None:
    assert common_ends(b"a\nb", b"a\nb") == (3, 0)
    assert hunks(b"a\nb", b"a\nb") == ()


def test_lines_that_occur_often_are_still_matched() -> None:
    before, after = b"x\na\na\nb\na\na\nb\n", b"a\na\nb\nb\na\na\ny\n"
    found = hunks(before, after)
    assert applied(before, after, found) == after
    assert sum(hunk.removed + hunk.added for hunk in found) == 4


def test_one_changed_line_in_many_is_one_hunk() -> None:
    before = [b"line %d\n" % i for i in range(20_000)]
    after = [*before[:10_000], b"changed\n", *before[10_001:]]
    assert hunks(b"".join(before), b"".join(after)) == (Hunk(10_000, 10_001, 10_000, 10_001),)


def test_scattered_changes_are_scattered_hunks() -> None:
    before = [b"line %d\n" % i for i in range(300)]
    after = [*before[:50], *before[60:200], b"new\n", *before[200:]]
    assert hunks(b"".join(before), b"".join(after)) == (Hunk(50, 60, 50, 50), Hunk(200, 200, 190, 191))


def test_a_missing_final_newline_is_a_change_of_the_last_line() -> None:
    assert hunks(b"a\nb\n", b"a\nb") == (Hunk(1, 2, 1, 2),)


def test_a_stretch_with_too_many_edits_counts_as_replaced() -> None:
    """Lines that occur twice on each side, all out of order: no anchors, and too many edits to search."""
    size = MAX_EDITS + 50
    before = [b"%d\n" % (i % size) for i in range(2 * size)]
    after = before[::-1]
    found = hunks(b"".join(before), b"".join(after))
    assert applied(b"".join(before), b"".join(after), found) == b"".join(after)


def test_equal_ends_between_two_anchors_are_matched() -> None:
    before, after = b"once\nx\n-\n-\nlast\ny\n", b"once\n+\n-\nlast\nz\n"
    assert [(h.removed, h.added) for h in hunks(before, after)] == [(2, 1), (1, 1)]
