"""Every recorded screen is read as the expected prompt, at any width, also if it is cut off."""

import json
import re
from collections.abc import Callable

import pytest

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.model.prompt import NoPrompt, Prompt, TextField, UnknownPrompt, prompt_json, screen_reading_json
from tests.screens import expectations, screen_names, screen_text, shipped_rules, without_ids

RULES = shipped_rules()
EXPECTED = dict(expectations())
DIALOGS = [
    name
    for name, prompt in EXPECTED.items()
    if prompt["kind"] not in {"unknown", "none"} and not name.endswith(".ansi.txt")
]
# One screen of each prompt is enough where every row is tried (the benchmark tries all of them).
DISTINCT = sorted({json.dumps(EXPECTED[name]): name for name in DIALOGS}.values())


def test_the_table_of_expectations_lists_every_recorded_screen() -> None:
    assert sorted(EXPECTED) == sorted(screen_names())


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_screen_is_read_as_the_expected_prompt(name: str) -> None:
    assert without_ids(screen_reading_json(read_screen(screen_text(name), RULES).found)) == EXPECTED[name]


@pytest.mark.parametrize("name", [name for name in EXPECTED if name.endswith(".ansi.txt")])
def test_colours_change_nothing(name: str) -> None:
    plain = screen_text(name.replace(".ansi.txt", ".txt"))
    styled, bare = read_screen(screen_text(name), RULES).found, read_screen(plain, RULES).found
    assert type(styled) is type(bare)
    if isinstance(styled, Prompt):
        assert styled == bare


def same_or_nothing(name: str, changed: str, what: str) -> None:
    found = read_screen(changed, RULES).found
    if isinstance(found, UnknownPrompt | NoPrompt):
        return
    expected, value = EXPECTED[name], without_ids(screen_reading_json(found))
    if found.title != expected["title"]:
        # Cut off at the top: the title is then the one of the rule, without the name of a sub-agent.
        assert expected["title"].startswith(found.title), what
        value["title"] = expected["title"]
    assert value == expected, what


@pytest.mark.parametrize("name", DISTINCT)
def test_a_screen_cut_at_any_row_is_the_same_prompt_or_none(name: str) -> None:
    rows = screen_text(name).rstrip("\n").split("\n")
    for cut in range(len(rows)):
        same_or_nothing(name, "\n".join(rows[:cut]), f"first {cut} rows")
        same_or_nothing(name, "\n".join(rows[cut:]), f"without the first {cut} rows")


@pytest.mark.parametrize("name", DISTINCT)
def test_a_screen_with_any_row_missing_or_blank_is_the_same_prompt_or_none(name: str) -> None:
    rows = screen_text(name).rstrip("\n").split("\n")
    for hole in range(len(rows)):
        half_drawn = [*rows[:hole], "", *rows[hole + 1 :]]
        found = read_screen("\n".join(half_drawn), RULES).found
        if isinstance(found, Prompt):
            # A row of the body may be missing; kind and options may not change.
            value = prompt_json(found)
            assert value["kind"] == EXPECTED[name]["kind"]
            assert value["options"] == EXPECTED[name]["options"] or found.kind == "question"


def hard(row: str, width: int) -> list[str]:
    return [row[start : start + width] for start in range(0, len(row), width)] or [""]


def soft(row: str, width: int) -> list[str]:
    rows, line = [], ""
    for word in row.split(" "):
        if line and len(line) + 1 + len(word) > width:
            rows.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*rows, line]


@pytest.mark.parametrize("wrap", [hard, soft])
@pytest.mark.parametrize("name", DISTINCT)
def test_a_screen_wrapped_again_at_another_width_is_the_same_prompt_or_none(
    name: str, wrap: Callable[[str, int], list[str]]
) -> None:
    rows = screen_text(name).rstrip("\n").split("\n")
    for width in (33, 40, 60, 79, 80, 100, 119, 240):
        wrapped = [part for row in rows for part in wrap(row, width)]
        same_or_nothing(name, "\n".join(wrapped), f"wrapped at {width}")


def read(name: str) -> Prompt:
    found = read_screen(screen_text(name), RULES).found
    assert isinstance(found, Prompt)
    return found


def fingerprint(name: str) -> str:
    return read(name).fingerprint


@pytest.mark.parametrize(
    ("name", "is_cut"),
    [
        ("2.1.325/plan_80x24", False),
        ("2.1.325/plan_60x20", True),
        ("2.1.325/planevil_80x24", True),
        ("2.1.325/planevil_80", False),
        ("2.1.327/plan_80x24", False),
        ("2.1.327/planlong_80x24", True),
        ("2.1.327/planlong_160x24", True),
    ],
)
def test_a_plan_of_which_more_is_below_is_cut(name: str, is_cut: bool) -> None:
    assert read(f"screens/{name}.txt").cut is is_cut


def test_a_prompt_keeps_its_fingerprint_while_the_cursor_moves_and_text_is_typed() -> None:
    shown = {
        fingerprint(f"screens/2.1.325/{name}.txt")
        for name in (
            "edit_80",
            "edit_no_step1_Down_80",
            "edit_no_step2_Down_80",
            "edit_no_step3_Tab_80",
            "edit_no_step4_use-tabs--1-2-3_80",
            "edit_120",
            "edit_60x20",
        )
    }
    assert len(shown) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("recordings/tui/pair_120.txt", "recordings/tui/key_pair_1__after.txt"),  # another file
        ("recordings/tui/edit_120.txt", "recordings/tui/pair_120.txt"),  # same file, another change
        ("screens/2.1.325/bashrm_80.txt", "screens/2.1.325/bash_80.txt"),  # another command
        ("screens/2.1.325/subbash_80.txt", "screens/2.1.325/bash_80.txt"),  # asked by a sub-agent
        ("screens/2.1.325/askmulti_80.txt", "screens/2.1.325/ask_80.txt"),
    ],
)
def test_prompts_that_differ_have_different_fingerprints(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)


def test_an_extra_blank_in_a_command_is_another_prompt() -> None:
    text = screen_text("screens/2.1.325/bashrm_80.txt")
    other = text.replace("\n rm -rf build", "\n rm -rf b uild")
    assert other != text
    found = [read_screen(screen, RULES).found for screen in (text, other)]
    assert all(isinstance(prompt, Prompt) for prompt in found)
    assert found[0] != found[1]


def test_on_no_screen_a_change_of_mode_means_allow_or_deny() -> None:
    seen = 0
    for prompt in EXPECTED.values():
        for option in prompt.get("options", []):
            if "auto mode" in option["label"] and prompt["kind"] in {"bash", "plan"}:
                assert option["meaning"] == "allow-always"
                seen += 1
    assert seen > 10


def test_a_change_that_is_not_drawn_yet_is_not_a_prompt() -> None:
    rows = screen_text("screens/2.1.325/edit_80.txt").split("\n")
    first, last = (at for at, row in enumerate(rows) if row.startswith("╌"))
    half_drawn = [*rows[: first + 1], " …", *rows[last:]]

    found = read_screen("\n".join(half_drawn), RULES).found

    assert isinstance(found, UnknownPrompt)


NARROW = """\
● Calling notes… (ctrl+o to expand)

────────────────────────────────────────
 Tool use

   notes - keep(path: "/src/demo/m.txt",
   text: "kept\\n") (MCP)
   Keep a text in a file

 Do you want to proceed?
 ❯ 1. Yes
   2.Yes, and don't ask again for notes
     - keep commands in /src/demo
   3. No

 Esc to cancel · Tab to amend
"""


def test_a_number_without_a_blank_before_its_label_is_an_option() -> None:
    """2.1.191 in 40 columns."""
    found = read_screen(NARROW, RULES, width=40).found
    assert isinstance(found, Prompt)
    assert [(option.key, option.label, option.meaning) for option in found.options] == [
        ("1", "Yes", "allow"),
        ("2", "Yes, and don't ask again for notes - keep commands in /src/demo", "allow-always"),
        ("3", "No", "deny"),
    ]


@pytest.mark.parametrize("name", [name for name in EXPECTED if re.search(r"_(yes|no)\d*_step\d_Tab_", name)])
def test_an_open_text_field_without_text_is_read_as_empty(name: str) -> None:
    found = read_screen(screen_text(name), RULES).found
    assert isinstance(found, Prompt)
    assert found.text_field == TextField(str(found.selected), "", True)


@pytest.mark.parametrize("size", ["80", "40"])
@pytest.mark.parametrize("checked", [[], ["2"]])
def test_the_row_that_leads_to_the_next_question_is_not_read_as_typed_text(
    size: str, checked: list[str]
) -> None:
    step = "_step1_2" if checked else ""
    found = read_screen(screen_text(f"screens/2.1.325/askmultifirst{step}_{size}.txt"), RULES).found
    assert isinstance(found, Prompt)
    assert (found.text_field, found.checked) == (None, frozenset(checked))


@pytest.mark.parametrize("width", [None, 1, 3])
@pytest.mark.parametrize("screen", ["\u0301", "   \u0301\n", "\u200b\nEsc to cancel", "a\n\u0301\n\u0301"])
def test_text_of_zero_width_is_not_a_prompt(screen: str, width: int | None) -> None:
    """A file that is shown may contain anything, also text without width."""
    assert not isinstance(read_screen(screen, shipped_rules(), width=width).found, Prompt)


@pytest.mark.parametrize("name", ["bash_80", "dock_bash_160x50", "dock_bashlong_120x24", "bash_40"])
def test_a_tip_of_the_client_is_not_part_of_a_prompt(name: str) -> None:
    assert "Tip:" in screen_text(f"screens/2.1.325/{name}.txt")
    body = read(f"screens/2.1.325/{name}.txt").body
    assert not [row for row in body if "Tip:" in row or row.strip() in {"below", 'mode" below'}]
    assert body[0].strip()


def test_a_tip_is_only_what_is_right_below_the_title() -> None:
    text = screen_text("screens/2.1.325/bash_80.txt").replace("touch made.txt", "Tip: touch")
    found = read_screen(text, RULES).found
    assert isinstance(found, Prompt)
    assert any("Tip: touch" in row for row in found.body)


def test_an_unknown_dialog_comes_with_its_last_rows() -> None:
    found = read_screen(screen_text("screens/2.1.325/bashtall_120.txt"), RULES).found
    assert isinstance(found, UnknownPrompt)
    assert len(found.rows) == 30
    assert found.rows[-1] == " Esc to cancel · Tab to amend"


def test_a_dialog_whose_beginning_is_not_on_the_screen_says_so() -> None:
    assert read("screens/2.1.325/editlong_80x24.txt").cut
    assert not read("screens/2.1.325/edit_80.txt").cut


def test_a_held_message_that_is_not_shown_in_full_says_so() -> None:
    """The client shows eight lines of 72 characters, and how long all of it is."""
    assert not read("screens/2.1.326/held_one_80x30.txt").cut
    assert read("screens/2.1.326/held_long_160x50.txt").cut
    assert read("screens/2.1.326/held_wide_100x40.txt").cut
    text = screen_text("screens/2.1.326/held_tell_120x40.txt")  # its sixth line lost a character
    for characters, cut in (("64 chars", False), ("65 chars", True), ("63 chars", True)):
        found = read_screen(text.replace("65 chars", characters), RULES).found
        assert isinstance(found, Prompt)
        assert found.cut is cut
        assert [(one.meaning, one.press) for one in found.options] == [
            ("deny", "Enter"),
            ("allow", "Down Enter"),
        ]


def test_a_held_message_without_its_separators_is_not_read() -> None:
    rows = screen_text("screens/2.1.326/held_one_80x30.txt").split("\n")
    without = "\n".join(row for row in rows if not row.startswith("╌"))
    assert not isinstance(read_screen(without, RULES).found, Prompt)


@pytest.mark.parametrize(
    "row",
    ["  ❯ Accept    Decline  ❯ Other", "❯ Accept    Decline", "  ❯  Accept    Decline", "  ❯ Accept Decline"],
)
def test_buttons_that_differ_from_the_clients_are_not_pressed(row: str) -> None:
    text = screen_text("screens/2.1.325/dock_elicitplain_300x30.txt")
    left = "\n".join(line.partition("│")[0].rstrip() for line in text.split("\n"))
    assert isinstance(read_screen(left, RULES).found, Prompt)
    other = read_screen(left.replace("  ❯ Accept    Decline", row), RULES).found
    assert not isinstance(other, Prompt) or [option.key for option in other.options] == ["Escape"]
