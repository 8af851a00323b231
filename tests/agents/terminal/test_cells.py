import pytest

from chorus.agents.claude_code.terminal.cells import count_cells, starts_wide


@pytest.mark.parametrize(
    ("text", "cells"),
    [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("日本", 4), ("ｱ", 1), ("😀", 2), ("가", 2)],
)
def test_plain_characters_are_counted_surely(text: str, cells: int) -> None:
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
def test_what_terminals_disagree_about_is_counted_as_tmux_does_and_called_unsure(
    text: str, cells: int
) -> None:
    assert count_cells(text) == (cells, False)


def test_a_wide_start_is_seen() -> None:
    assert starts_wide("日x")
    assert starts_wide("\u4dc0")
    assert not starts_wide("x日")
    assert not starts_wide("")
