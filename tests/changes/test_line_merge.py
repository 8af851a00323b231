"""Merging one file by line: only changes of the same line conflict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorus.changes.line_merge import LineRange, Overlap, PlacedChange, Positions, merge_lines, place_change
from chorus.changes.line_places import LinePlaces


def text(*lines: str, newline: bool = True) -> bytes:
    return "\n".join(lines).encode() + (b"\n" if newline and lines else b"")


BASE = ("one", "two", "three", "four")


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (("ONE", "two", "three", "four"), ("one", "TWO", "three", "four"), ("ONE", "TWO", "three", "four")),
        (("one", "two", "THREE", "four"), ("one", "TWO", "three", "four"), ("one", "TWO", "THREE", "four")),
        (("ONE", "two", "THREE", "four"), ("one", "TWO", "three", "four"), ("ONE", "TWO", "THREE", "four")),
        (("one", "+", *BASE[1:]), ("one", "TWO", *BASE[2:]), ("one", "+", "TWO", *BASE[2:])),
        (("one", "two", "+", *BASE[2:]), ("one", "TWO", *BASE[2:]), ("one", "TWO", "+", *BASE[2:])),
        (("two", "three", "four"), ("one", "TWO", "three", "four"), ("TWO", "three", "four")),
        (("one", "three", "four"), ("one", "two", "THREE", "four"), ("one", "THREE", "four")),
        ((*BASE, "five"), ("one", "two", "three", "FOUR"), ("one", "two", "three", "FOUR", "five")),
        (("zero", *BASE), ("ONE", "two", "three", "four"), ("zero", "ONE", "two", "three", "four")),
        (("one", "four"), ("one", "two", "three", "FOUR"), ("one", "FOUR")),
        (("one", "TWO", "three", "four"), ("one", "TWO", "THREE", "four"), ("one", "TWO", "THREE", "four")),
        (("one", "three", "four"), ("one", "three", "FOUR"), ("one", "three", "FOUR")),
    ],
    ids=[
        "line above", "line below", "lines on both sides", "inserted above", "inserted below",
        "deleted above", "deleted above the next", "appended", "prepended", "two deleted above",
        "same change and one more", "same deletion and one more",
    ],
)  # fmt: skip
def test_changes_that_touch_do_not_conflict(
    ours: tuple[str, ...], theirs: tuple[str, ...], merged: tuple[str, ...]
) -> None:
    assert merge_lines(text(*BASE), text(*ours), text(*theirs)) == text(*merged)


def test_a_line_changed_by_both_is_an_overlap_that_names_it() -> None:
    ours, theirs = text("one", "2", "3", "four"), text("one", "II", "III", "IV")
    assert merge_lines(text(*BASE), ours, theirs) == Overlap((LineRange(1, 3),))


def test_separate_overlaps_are_separate_ranges() -> None:
    ours, theirs = text("1", "two", "3", "four"), text("I", "two", "III", "four")
    assert merge_lines(text(*BASE), ours, theirs) == Overlap((LineRange(0, 1), LineRange(2, 3)))


def test_binary_content_is_one_unit() -> None:
    assert merge_lines(b"a\0\nb\n", b"a\0\nB\n", b"A\0\nb\n") == Overlap(())
    assert merge_lines(b"a\0\nb\n", b"a\0\nb\n", b"A\0\nb\n") == b"A\0\nb\n"
    assert merge_lines(b"a\0\nb\n", b"A\0\nb\n", b"a\0\nb\n") == b"A\0\nb\n"


def test_changes_far_apart_are_merged_whichever_comes_first() -> None:
    first, last = text("ONE", "two", "three", "four"), text("one", "two", "three", "FOUR")
    assert merge_lines(text(*BASE), first, last) == text("ONE", "two", "three", "FOUR")
    assert merge_lines(text(*BASE), last, first) == text("ONE", "two", "three", "FOUR")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"a", b"a\nb", b"a\n", b"a\nb\n"),  # ours appends, theirs adds the final newline
        (b"a", b"a\n", b"a\nb", b"a\nb\n"),
        (b"a\n", b"a", b"a\nb\n", b"a\nb"),  # ours removes it
        (b"a\nb", b"a\nb\nc", b"a\nB", b"a\nB\nc"),
        (b"a\nb\nc", b"a\nb\nc\nd", b"A\nb\nc", b"A\nb\nc\nd"),
        (b"", b"x\n", b"y\n", b"x\ny\n"),
        (b"a\r\nb\r\n", b"a\r\nB\r\n", b"A\r\nb\r\n", b"A\r\nB\r\n"),
    ],
)
def test_the_last_newline_is_merged_by_itself(base: bytes, ours: bytes, theirs: bytes, merged: bytes) -> None:
    assert merge_lines(base, ours, theirs) == merged


@pytest.mark.parametrize(
    ("ours", "theirs", "order", "merged"),
    [
        (("y",), ("x",), ("x", "y"), ("x", "y")),
        (("y",), ("x",), ("y", "x"), ("y", "x")),
        (("y",), ("x",), (), ("y", "x")),
        (("a", "c"), ("b", "d"), ("a", "b", "c", "d"), ("a", "b", "c", "d")),
        (("a", "lost"), ("b",), ("a", "b"), ("a", "lost", "b")),
        (("same",), ("same",), (), ("same",)),
        (("same", "x"), ("y", "same"), ("same", "x", "y", "same"), ("same", "x", "y", "same")),
        (("x",), ("x", "y"), (), ("x", "y")),
        (("x", "y"), ("y",), (), ("x", "y")),
    ],
)
def test_insertions_at_one_point_keep_the_order_on_disk(
    ours: tuple[str, ...], theirs: tuple[str, ...], order: tuple[str, ...], merged: tuple[str, ...]
) -> None:
    around = ("begin", "end")
    sides = [text(around[0], *side, around[1]) for side in (ours, theirs, order)]
    result = merge_lines(text(*around), sides[0], sides[1], order=sides[2])
    assert result == text(around[0], *merged, around[1])


def test_context_holds_only_the_lines_the_other_side_changes() -> None:
    disk = text("one", "user's first", "two", "user's second", "three")
    lane = text("one", "two", "three")
    after = text("one", "changed by the agent", "two", "user's second", "three", "added by the agent")
    assert merge_lines(disk, lane, after) == Overlap((LineRange(1, 2),))
    assert place_change(disk, lane, after) == PlacedChange(
        text("one", "changed by the agent", "two", "three", "added by the agent"),
        text("one", "user's first", "two", "three"),
        (1,),
    )


def test_context_restores_a_line_the_user_changed() -> None:
    placed = place_change(text("a", "user", "c"), text("a", "b", "c"), text("a", "agent", "c"))
    assert placed == PlacedChange(text("a", "agent", "c"), text("a", "user", "c"), (1,))


def test_a_change_that_needs_nothing_of_others_has_no_context() -> None:
    far, near = text("a", "b", "c", "d", "E"), text("a", "b", "c", "D", "e")
    base = text("a", "b", "c", "d", "e")
    assert place_change(base, base, far) == PlacedChange(far)
    assert place_change(base, text("A", "b", "c", "d", "e"), far) == PlacedChange(
        text("A", "b", "c", "d", "E")
    )
    assert place_change(base, near, far) == PlacedChange(text("a", "b", "c", "D", "E"))


def test_the_removal_of_a_line_that_is_not_there_is_placed_after_that_line() -> None:
    """So that it is removed from a branch which has it."""
    disk, lane = text("a", "user", "b"), text("a", "b")
    assert place_change(disk, lane, text("a", "b")) == PlacedChange(lane, disk, (1,))


def history(*versions: tuple[str, ...]) -> Positions:
    """The positions of lines after these versions of a file."""
    places = LinePlaces()
    for version in versions:
        places.move([line.encode() for line in version])
    return lambda: places


def test_the_history_of_a_file_tells_an_inserted_line_from_a_changed_one() -> None:
    """Two lines where one was: the contents alone do not tell which of them is the new one."""
    base, lane = text("user", "B", "c"), text("b", "c")
    after = text("user", "agent", "c")
    inserted_above = history(("b", "c"), ("user", "b", "c"), ("user", "B", "c"))
    assert place_change(base, lane, after, positions=inserted_above) == PlacedChange(
        text("agent", "c"), text("B", "c"), (1,)
    )
    inserted_below = history(("b", "c"), ("user", "c"), ("user", "B", "c"))
    assert place_change(base, lane, after, positions=inserted_below) == PlacedChange(
        text("b", "agent", "c"), text("b", "B", "c"), (1,)
    )
    between = text("user", "agent", "B", "c")
    assert merge_lines(base, lane, between, positions=inserted_above) == text("agent", "b", "c")
    assert merge_lines(base, lane, between, positions=inserted_below) == text("b", "agent", "c")


def test_the_history_is_asked_only_where_two_changes_touch() -> None:
    def refuse() -> dict[bytes, int]:
        raise AssertionError("asked")

    base = text("a", "b", "c", "d", "e", "f", "g")
    ours = text("1", "2", "b", "c", "d", "e", "f", "7")
    theirs = text("a", "b", "c", "D", "e", "f", "g")
    assert isinstance(merge_lines(base, ours, theirs, positions=refuse), bytes)
    removed, other = text("b", "c", "d", "e", "f", "g"), text("a", "c", "d", "e", "f", "g")
    assert merge_lines(base, removed, other, positions=refuse) == text("c", "d", "e", "f", "g")


def test_lines_inserted_at_one_point_keep_the_order_of_their_places() -> None:
    positions = history(("a", "z"), ("a", "one", "z"), ("a", "one", "two", "z"), ("a", "z"))
    ours, theirs = text("a", "two", "z"), text("a", "one", "z")
    assert merge_lines(text("a", "z"), ours, theirs, positions=positions) == text("a", "one", "two", "z")
    assert merge_lines(text("a", "z"), ours, text("a", "one", "two", "z"), positions=positions) == text(
        "a", "one", "two", "z"
    )


def test_two_lines_that_stood_at_one_place_conflict() -> None:
    positions = history(("a", "z"), ("a", "first", "z"), ("a", "second", "z"), ("a", "z"))
    ours, theirs = text("a", "first", "z"), text("a", "second", "z")
    clash = Overlap((LineRange(1, 1),), frozenset({1}))
    assert merge_lines(text("a", "z"), ours, theirs, positions=positions) == clash
    placed = place_change(text("a", "z"), ours, theirs, positions=positions)
    assert placed == PlacedChange(theirs, text("a", "z"))


# Each base line is kept, changed or removed by a side, and each gap may get lines. Every line has a text of
# its own, so the expected result follows from who did what to which line.
UNIT = st.tuples(st.sampled_from("kcr"), st.sampled_from("kcr"), st.sampled_from(["", "o", "t", "ot", "to"]))


@given(st.lists(UNIT, max_size=12), st.booleans())
def test_every_pair_of_line_edits_merges_as_line_identity_says(
    units: list[tuple[str, str, str]], newline: bool
) -> None:
    base, ours, theirs, merged, overlaps = [], [], [], [], []
    for index, (mine, other, inserts) in enumerate(units):
        names = {"o": f"ours {index}", "t": f"theirs {index}"}
        ours += [names["o"]] if "o" in inserts else []
        theirs += [names["t"]] if "t" in inserts else []
        merged += [names[who] for who in inserts]
        base.append(f"base {index}")
        ours += {"k": [f"base {index}"], "c": [f"ours' {index}"], "r": []}[mine]
        theirs += {"k": [f"base {index}"], "c": [f"theirs' {index}"], "r": []}[other]
        if "k" in (mine, other):
            changed = other if mine == "k" else mine
            owner = "theirs'" if mine == "k" else "ours'"
            merged += {"k": [f"base {index}"], "c": [f"{owner} {index}"], "r": []}[changed]
        else:  # both removed it: an overlap if one of them put another line in its place
            overlaps.append(index)
    result = merge_lines(
        text(*base, newline=newline),
        text(*ours, newline=newline),
        text(*theirs, newline=newline),
        order=text(*merged, newline=newline),
    )
    if not overlaps:
        # In a run of replaced lines, which new line stands for which old one is a guess of the diff; the
        # lines themselves are exact.
        assert isinstance(result, bytes)
        assert sorted(result.splitlines()) == sorted(text(*merged).splitlines())
    elif isinstance(result, bytes):
        # The same guess may make a removed line the one that both removed. Never two texts for one line.
        assert ("c", "c") not in {unit[:2] for unit in units}
        kept = [index for index, unit in enumerate(units) if unit[:2] == ("k", "k")]
        new = [line for line in (*ours, *theirs) if not line.startswith("base")]
        expected = text(*(f"base {index}" for index in kept), *new)
        assert sorted(result.splitlines()) == sorted(expected.splitlines())


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "context"),
    [
        (b"a\nb", b"a\nb\n", b"a\nB\n", b"a\nb"),
        (b"a\nb\n", b"a\nb", b"A\nb", b"a\nb\n"),
    ],
    ids=["added", "removed"],
)
def test_a_newline_at_the_end_that_is_there_already_is_placed_after_its_opposite(
    base: bytes, ours: bytes, theirs: bytes, context: bytes
) -> None:
    """So that the change is made on a branch which does not have it."""
    assert place_change(base, ours, theirs) == PlacedChange(theirs, context, (1,))


def test_the_first_line_of_an_empty_file_is_not_a_change_of_its_newline() -> None:
    assert place_change(b"", b"x\n", b"a\n").context is None


def test_lines_that_overlap_are_given_as_ranges() -> None:
    base = [str(number) for number in range(8)]
    changed = (1, 2, 4, 5, 7)
    ours = text(*(f"ours {line}" if int(line) in changed else line for line in base))
    theirs = text(*(f"theirs {line}" if int(line) in changed else line for line in base))
    assert merge_lines(text(*base), ours, theirs) == Overlap(
        (LineRange(1, 3), LineRange(4, 6), LineRange(7, 8))
    )
