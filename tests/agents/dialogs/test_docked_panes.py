"""A dialog beside a docked pane is read in its own column, and nothing inside the pane is taken for one."""

from dataclasses import replace
from itertools import zip_longest

import pytest

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.model.prompt import NoPrompt, Prompt, ScreenArea, UnknownPrompt
from chorus.text.width import cell_width
from tests.screens import FIXTURES, expectations, screen_text, shipped_rules

RULES = shipped_rules()
EXPECTED = dict(expectations())
DIALOGS = [
    name
    for name, prompt in EXPECTED.items()
    if prompt["kind"] not in {"unknown", "none"} and name.startswith("screens/2.1.325/") and "_80.txt" in name
]
DOCKED = sorted(f"screens/2.1.325/{path.name}" for path in (FIXTURES / "screens/2.1.325").glob("dock_*.txt"))
QUIET = [f"screens/2.1.325/{name}_80.txt" for name in ("hello", "fake", "typing", "edit_escape")]
EDIT = screen_text("screens/2.1.325/edit_80.txt")
HEIGHT = 50


def found(screen: str, width: int | None = None) -> Prompt | UnknownPrompt | NoPrompt:
    return read_screen(screen, RULES, width=width).found


def dock(screen: str, pane: str, width: int = 80) -> str:
    """The screen with a pane docked right of it, as the client draws one: a line in every row."""
    left, right = screen.rstrip("\n").split("\n"), pane.rstrip("\n").split("\n")[:HEIGHT]
    rows = list(zip_longest(left, right, fillvalue=""))
    rows += [("", "")] * (HEIGHT - len(rows))
    return "\n".join(f"{row}{' ' * (width - cell_width(row))}│{beside}" for row, beside in rows)


PANES = {
    "empty": "",
    "diff": "\n".join(["1 file changed +1 -1", "─" * 60, "app.py [ ask ]", "─" * 60, " 1 -a", " 1 +b"]),
    "edit": EDIT,
    "bash": screen_text("screens/2.1.325/bash_80.txt"),
    "lines": "\n".join(["│ " * 30] * HEIGHT),
    "dialog at its bottom": "\n" * 24 + EDIT[EDIT.index("────") :],
    "its own dock": dock(EDIT, "")[:],
}


@pytest.mark.parametrize("name", DIALOGS)
def test_a_docked_pane_changes_nothing(name: str) -> None:
    alone = found(screen_text(name), 80)
    assert isinstance(alone, Prompt)
    for pane in PANES.values():
        expected = replace(alone, area=ScreenArea(alone.area.top, 81))
        assert found(dock(screen_text(name), pane), 160) == expected


@pytest.mark.parametrize("pane", PANES.values(), ids=PANES)
@pytest.mark.parametrize("left", [*map(screen_text, QUIET), "", "● Working…\n  Reading a.py"])
def test_the_content_of_a_docked_pane_is_never_a_dialog(left: str, pane: str) -> None:
    assert not isinstance(found(dock(left, pane), 160), Prompt)


@pytest.mark.parametrize("name", DOCKED)
def test_a_recorded_dock_has_its_dialog_in_the_left_part(name: str) -> None:
    prompt = found(screen_text(name))
    assert isinstance(prompt, Prompt), (name, prompt)
    rows = screen_text(name).rstrip("\n").split("\n")
    columns = prompt.area.columns
    # Auto mode's notice and forms of MCP servers span the whole pane.
    if columns is not None:
        assert all(row[columns - 1] == "│" for row in rows)


@pytest.mark.parametrize("name", DOCKED)
def test_any_other_pane_beside_a_recorded_dialog_changes_nothing(name: str) -> None:
    recorded = found(screen_text(name))
    assert isinstance(recorded, Prompt)
    if (columns := recorded.area.columns) is None:
        return
    rows = screen_text(name).rstrip("\n").split("\n")
    for pane in PANES.values():
        other = pane.split("\n") + [""] * len(rows)
        screen = "\n".join(row[:columns] + beside for row, beside in zip(rows, other, strict=False))
        assert found(screen) == recorded


def width_of(name: str) -> int:
    return int(name.rpartition("_")[2].partition("x")[0])


@pytest.mark.parametrize("name", DOCKED)
def test_a_half_drawn_dock_gives_the_same_prompt_or_none(name: str) -> None:
    """As when the pane is resized, opened or closed between two readings."""
    recorded = found(screen_text(name))
    assert isinstance(recorded, Prompt)
    rows = screen_text(name).rstrip("\n").split("\n")
    columns = recorded.area.columns or 80
    for drawn in range(0, len(rows), 3):
        below = [*rows[:drawn], *(row[: columns - 1].rstrip() for row in rows[drawn:])]
        above = [*(row[: columns - 1].rstrip() for row in rows[:drawn]), *rows[drawn:]]
        for half in (below, above):
            now = found("\n".join(half), width_of(name))
            assert not isinstance(now, Prompt) or now.fingerprint == recorded.fingerprint


def test_characters_that_terminals_measure_differently_do_not_hide_the_dock() -> None:
    rows = dock(EDIT, "").split("\n")
    text = "● Careful ⚠️ and 👩‍💻"
    for shift in (-2, -1, 0, 1, 2):
        odd = f"{text}{' ' * (80 - cell_width(text) + shift)}│ a pane"
        docked = found("\n".join([odd, *rows[1:]]))
        assert isinstance(docked, Prompt)
        assert docked.area.columns == 81


@pytest.mark.parametrize("text", ["a │ table", "│" * 60])
def test_lines_in_the_text_of_a_dialog_are_no_dock(text: str) -> None:
    alone = found(EDIT.replace("def old():", text), 80)
    assert isinstance(alone, Prompt)
    assert alone.area.columns is None
