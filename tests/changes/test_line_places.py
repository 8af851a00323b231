"""Following the lines of a file through its versions."""

import pytest

from chorus.changes.line_places import LinePair, LinePlaces, pair_lines


def places(*versions: str) -> dict[bytes, int]:
    """The positions after these versions; each letter is a line."""
    found = LinePlaces()
    for version in versions:
        found.move([letter.encode() for letter in version])
    return dict(found)


def in_order(*versions: str) -> str:
    """All texts, in the order of their places; those of one place in parentheses."""
    by_place: dict[int, list[str]] = {}
    for text, position in places(*versions).items():
        by_place.setdefault(position, []).append(text.decode())
    groups = ["".join(sorted(by_place[position])) for position in sorted(by_place)]
    return "".join(group if len(group) == 1 else f"({group})" for group in groups)


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (("abc",), "abc"),
        (("abc", "abc"), "abc"),
        (("abc", "axc"), "a(bx)c"),
        (("abc", "axbc"), "axbc"),
        (("abc", "ac", "axc"), "axbc"),
        (("abc", "axyc"), "a(bx)yc"),
        (("abcd", "axd"), "a(bx)cd"),
        (("abc", "axc", "ayxc"), "ay(bx)c"),
        (("abc", "axc", "axyc"), "a(bx)yc"),
        (("abc", "ac", "abc"), "abc"),
        (("abc", "axc", "abc"), "a(bx)c"),
        (("abc", "axc", "abc", "ayc"), "a(bxy)c"),
        (("", "ab"), "ab"),
        (("ab", ""), "ab"),
        (("abcd", "bacd"), "bcd"),
    ],
    ids=[
        "one version", "no change", "rewritten", "inserted", "removed, then another inserted",
        "one became two", "two became one", "inserted above a rewritten one",
        "inserted below a rewritten one", "came back",
        "rewritten and back", "rewritten, back, rewritten", "from nothing", "to nothing",
        "moved: not followed",
    ],
)  # fmt: skip
def test_a_line_keeps_its_place(versions: tuple[str, ...], expected: str) -> None:
    assert in_order(*versions) == expected


def test_a_text_in_two_places_has_no_position() -> None:
    found = LinePlaces()
    found.move([b"a", b"}", b"b", b"}"])
    assert found == {b"a": 0, b"b": 2}
    assert (b"}" in found, len(found)) == (False, 2)


def test_the_present_version_is_recognised_with_any_line_ends() -> None:
    found = LinePlaces()
    found.move([b"a", b"b"])
    assert found.holds([b"a\r", b"b\r"])
    assert not found.holds([b"a"])


def test_line_ends_do_not_make_another_line() -> None:
    found = LinePlaces()
    found.move([b"a\r", b"b\r"])
    found.move([b"a", b"x"])
    assert found == {b"a": 0, b"b": 1, b"x": 1}


def test_a_copy_goes_its_own_way() -> None:
    first = LinePlaces()
    first.move([b"a"])
    second = first.copy()
    second.move([b"b"])
    assert first == {b"a": 0}
    assert second == {b"a": 0, b"b": 0}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([None, None], [None], [(0, 0), (1, None)]),
        ([None], [None, None], [(0, 0), (None, 1)]),
        ([3, 4], [4], [(0, None), (1, 0)]),
        ([3, 4], [3], [(0, 0), (1, None)]),
        ([4], [3, 4], [(None, 0), (0, 1)]),
        ([3, 5], [4], [(0, None), (None, 0), (1, None)]),
        ([3, 5], [None], [(0, 0), (1, None)]),
        ([5, 3], [3], [(0, 0), (1, None)]),
        ([], [1, 2], [(None, 0), (None, 1)]),
    ],
)
def test_lines_pair_by_place_or_else_in_order(
    old: list[int | None], new: list[int | None], expected: list[tuple[int | None, int | None]]
) -> None:
    assert pair_lines(old, new) == [LinePair(*pair) for pair in expected]
