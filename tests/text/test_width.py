import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.text import width
from chorus.text.width import (
    cell_width,
    count_of,
    cut,
    cut_start,
    first_cells,
    list_of,
    pad,
    render_ranges,
    wrap,
)

WORDS = st.text(st.sampled_from("ab 日本语é…"), max_size=60)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORDS, st.integers(0, 40))
def test_cut_and_padded_text_fits(text: str, width: int) -> None:
    assert cell_width(cut(text, width)) <= width
    assert cell_width(cut_start(text, width)) <= width
    assert cell_width(pad(text, width)) == width
    assert text.startswith(first_cells(text, width))
    assert min(cell_width(text), width) - 1 <= cell_width(first_cells(text, width)) <= width


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORDS, st.integers(4, 40))
def test_wrapped_text_fits_and_is_complete(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines) == text
    assert all(cell_width(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("text", "width", "shown"), [("src/parser.py", 8, "src/par…"), ("日本語", 4, "日…"), ("abc", 3, "abc")]
)
def test_a_cut_text_ends_with_an_ellipsis(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown


def test_a_path_is_cut_at_its_start() -> None:
    assert cut_start("src/deep/parser.py", 10) == "…parser.py"
    assert cut_start("parser.py", 10) == "parser.py"


def test_text_is_wrapped_at_blanks() -> None:
    assert wrap("Yes, and don't ask again", 12) == ["Yes, and ", "don't ask ", "again"]


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("plain", 5),
        ("日本", 4),
        ("e\u0301", 1),
        ("\u1112\u1161\u11ab", 2),  # a syllable of Hangul as macOS writes it in file names
        ("👍\U0001f3fd", 2),
        ("का", 2),
    ],
)
def test_a_character_takes_two_cells_one_or_none(text: str, width: int) -> None:
    assert cell_width(text) == width


def test_without_room_nothing_is_left() -> None:
    assert (cut("abc", 0), cut_start("abc", 0), pad("日本", 1)) == ("", "", "…")


def test_a_count_has_its_word_in_singular_or_plural() -> None:
    assert (count_of(1, "commit"), count_of([1, 2], "commit"), count_of(0, "commit")) == (
        "1 commit",
        "2 commits",
        "0 commits",
    )
    assert (list_of([3], "action"), list_of([3, 5], "action")) == ("action 3", "actions 3, 5")


def test_text_with_every_character_does_not_fill_memory() -> None:
    every = "".join(map(chr, range(0x20, 0x10000)))
    assert cell_width(every) == sum(map(cell_width, every))
    assert len(width._WIDTHS) <= width.MAX_CACHED_CHARACTERS


@pytest.mark.parametrize(("text", "shown"), [("abc", "abc"), ("abcde", "abc"), ("日本", "日")])
def test_the_first_cells_of_a_text(text: str, shown: str) -> None:
    assert first_cells(text, 3) == shown


def test_numbers_in_a_row_are_a_range() -> None:
    assert [render_ranges(numbers) for numbers in ([], [3], [5, 3], [9, 1, 2, 3, 5, 6])] == [
        "nothing", "3", "3, 5", "1–3, 5, 6, 9",
    ]  # fmt: skip
