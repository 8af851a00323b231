import pytest

from chorus.agents.claude_code.terminal.cells import count_cells, starts_wide


@pytest.mark.parametrize(
    ("text", "cells"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("日本", 4), ("ｱ", 1), ("😀", 2), ("가", 2)],
)
def test_the_width_of_plain_characters_is_sure(text: str, cells: int) -> None:
    assert count_cells(text) == (cells, True)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("👩\u200d💻", 2),
        ("a\u200db", 2),
        ("✏\ufe0f", 1),
        ("👍🏽", 4),
        ("🇩🇪", 2),
        ("\u1100\u1161", 2),
        ("\u4dc0", 2),
        ("\u00ad", 1),
        ("\u200b", 0),
        ("\U000e0080", 0),
        ("\x01", 0),
    ],
)
def test_a_width_that_terminals_disagree_about_is_that_of_tmux_and_unsure(text: str, cells: int) -> None:
    assert count_cells(text) == (cells, False)


def test_a_row_that_starts_with_a_wide_character_is_recognized() -> None:
    assert starts_wide("日x")
    assert starts_wide("\u4dc0")
    assert not starts_wide("x日")
    assert not starts_wide("")
