import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.panel.cells import cell_len, cut, cut_start, pad, wrap

WORDS = st.text(st.sampled_from("ab 日本语é…"), max_size=60)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORDS, st.integers(0, 40))
def test_what_is_cut_or_padded_fits(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) <= width
    assert cell_len(cut_start(text, width)) <= width
    assert cell_len(pad(text, width)) == width


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORDS, st.integers(4, 40))
def test_wrapping_keeps_everything_and_fits(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert "".join(lines) == text
    assert all(cell_len(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("text", "width", "shown"), [("src/parser.py", 8, "src/par…"), ("日本語", 4, "日…"), ("abc", 3, "abc")]
)
def test_the_end_is_left_out_with_an_ellipsis(text: str, width: int, shown: str) -> None:
    assert cut(text, width) == shown


def test_a_path_loses_its_start() -> None:
    assert cut_start("src/deep/parser.py", 10) == "…parser.py"


def test_words_are_not_broken_where_a_blank_is_near() -> None:
    assert wrap("Yes, and don't ask again", 12) == ["Yes, and ", "don't ask ", "again"]
