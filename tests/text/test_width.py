import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.text.width import cell_width, count_of, cut, cut_start, pad, wrap

WORDS = st.text(st.sampled_from("ab 日本语é…"), max_size=60)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORDS, st.integers(0, 40))
def test_what_is_cut_or_padded_fits(text: str, width: int) -> None:
    assert cell_width(cut(text, width)) <= width
    assert cell_width(cut_start(text, width)) <= width
    assert cell_width(pad(text, width)) == width


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORDS, st.integers(4, 40))
def test_wrapping_keeps_everything_and_fits(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines) == text
    assert all(cell_width(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("text", "width", "shown"), [("src/parser.py", 8, "src/par…"), ("日本語", 4, "日…"), ("abc", 3, "abc")]
)
def test_the_end_is_left_out_with_an_ellipsis(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown


def test_a_path_loses_its_start() -> None:
    assert cut_start("src/deep/parser.py", 10) == "…parser.py"


def test_words_are_not_broken_where_a_blank_is_near() -> None:
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


def test_what_has_no_room_at_all_is_left_out() -> None:
    assert (cut("abc", 0), cut_start("abc", 0), pad("日本", 1)) == ("", "", "…")


def test_a_number_comes_with_its_word_in_singular_or_plural() -> None:
    assert (count_of(1, "commit"), count_of([1, 2], "commit"), count_of(0, "commit")) == (
        "1 commit",
        "2 commits",
        "0 commits",
    )
