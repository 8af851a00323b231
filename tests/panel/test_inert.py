import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.panel.inert import LONGEST_LINE, expand_tabs, inert, inert_lines


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b]52;c;eA==\x07", "␛[31mred␛]52;c;eA==␇"),
        ("a\rb\x08\x7f", "a␍b␈␡"),
        ("\x9b31m", "<U+009B>31m"),
        ("safe\u202egnp.exe", "safe<U+202E>gnp.exe"),
        ("zero\u200bwidth\u200d\ufeff", "zero<U+200B>width<U+200D><U+FEFF>"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("not\u00a0a blank", "not<U+00A0>a blank"),
        ("line\u2028end", "line<U+2028>end"),
        ("variation\ufe0f", "variation<U+FE0F>"),
        ("filler\u3164", "filler<U+3164>"),
        ("byte\udcff", "byte\\xff"),
        ("lone\ud800", "lone<U+D800>"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("über 日本語 e\u0301", "über 日本語 e\u0301"),
    ],
)
def test_what_would_act_or_hide_is_shown_as_a_sign(hostile: str, shown: str) -> None:
    assert inert(hostile) == shown


def test_more_marks_than_any_letter_has_are_counted_out() -> None:
    assert inert("a" + "\u0301" * 5) == "a" + "\u0301" * 3 + "<U+0301><U+0301>"


def test_a_line_of_a_megabyte_is_cut_and_says_so() -> None:
    shown = inert("x" * 1_000_000)
    assert shown == "x" * LONGEST_LINE + f"… (+{1_000_000 - LONGEST_LINE:,} characters)"


def test_many_lines_are_cut_and_counted() -> None:
    assert inert_lines("a\nb\nc\nd", most=2) == ["a", "b", "… (+2 lines)"]
    assert inert_lines("a\nb", most=2) == ["a", "b"]


def test_tabs_become_blanks_before_the_rest_is_looked_at() -> None:
    assert expand_tabs("a\tb") == "a   b"
    assert inert(expand_tabs("\t\x1b")) == "    ␛"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters(), max_size=200))
def test_no_text_whatever_gives_a_character_that_acts(text: str) -> None:
    for c in inert(text):
        assert c == " " or c.isprintable() or unicodedata.category(c) in {"Mn", "Mc", "Me"}
        assert unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert unicodedata.bidirectional(c) not in {
            "LRE",
            "RLE",
            "PDF",
            "LRO",
            "RLO",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        }
