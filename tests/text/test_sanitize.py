import subprocess
import sys
import unicodedata

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.text import sanitize as sanitize_module
from chorus.text.sanitize import (
    MAX_LINE_CHARACTERS,
    expand_tabs,
    is_cut,
    printable,
    sanitize,
    sanitize_lines,
)


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
def test_control_and_invisible_characters_are_shown_as_symbols(hostile: str, shown: str) -> None:
    assert sanitize(hostile) == shown


def test_more_combining_marks_than_any_letter_has_are_shown_as_codes() -> None:
    assert sanitize("a" + "\u0301" * 5) == "a" + "\u0301" * 3 + "<U+0301><U+0301>"


def test_a_line_of_a_megabyte_is_cut_and_the_rest_is_counted() -> None:
    shown = sanitize("x" * 1_000_000)
    assert shown == "x" * MAX_LINE_CHARACTERS + f"… (+{1_000_000 - MAX_LINE_CHARACTERS:,} characters)"


def test_many_lines_are_cut_and_counted() -> None:
    assert sanitize_lines("a\nb\nc\nd", max_lines=2) == ["a", "b", "… (+2 lines)"]
    assert sanitize_lines("a\nb", max_lines=2) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("a\nb", False),
        ("a\nb\nc", True),
        ("x" * MAX_LINE_CHARACTERS, False),
        ("a\n" + "x" * (MAX_LINE_CHARACTERS + 1), True),
        ("\t" * (MAX_LINE_CHARACTERS // 2), True),
    ],
)
def test_a_text_of_which_a_part_is_left_out_is_known(text: str, cut: bool) -> None:
    assert is_cut(text, max_lines=2) is cut
    assert any("… (+" in line for line in sanitize_lines(text, max_lines=2)) is cut


def test_tabs_become_blanks() -> None:
    assert expand_tabs("a\tb") == "a   b"
    assert sanitize(expand_tabs("\t\x1b")) == "    ␛"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters(), max_size=200))
def test_sanitized_text_has_no_character_that_acts_or_hides(text: str) -> None:
    for c in sanitize(text):
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


@pytest.mark.parametrize(
    ("text", "keep", "shown"),
    [
        ("plain über", "", "plain über"),
        ("a\x1b[31mb\tc\n", "", "a\ufffd[31mb\ufffdc\ufffd"),
        ("a\x1b[31mb\tc\n", "\n\t", "a\ufffd[31mb\tc\n"),
    ],
)
def test_unprintable_characters_are_replaced(text: str, keep: str, shown: str) -> None:
    assert printable(text, keep=keep) == shown


def test_the_module_imports_nothing_that_a_short_command_would_wait_for() -> None:
    code = (
        "import sys, chorus; old = {*sys.modules}; import chorus.text.sanitize; print(*{*sys.modules} - old)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"chorus.text", "chorus.text.sanitize"}


def test_text_with_every_character_does_not_fill_memory() -> None:
    every = "".join(map(chr, range(0x20, 0x10000)))
    assert sanitize(every, limit=len(every)).isprintable()
    assert len(sanitize_module._SYMBOLS) <= sanitize_module.MAX_CACHED_CHARACTERS
