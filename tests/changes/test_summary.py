"""A change is summarised in the assistant's words, or by tool, file and amount."""

from typing import Any

import pytest

from chorus.changes.summary import (
    MAX_FILES,
    ChangeKind,
    FileChange,
    count_changed_lines,
    describe_file,
    first_words,
    render_amount,
    render_file,
    render_files,
    summarise,
)
from chorus.model.action import Action, WriteScope
from chorus.model.commits.commit_message import SUBJECT_LENGTH
from chorus.model.ids import ToolUseId

APP = FileChange("src/app.py", ChangeKind.MODIFIED, 3, 1)
LOGO = FileChange("logo.png", ChangeKind.CREATED)


def action(tool: str = "Edit", lead_text: str | None = None, **inputs: Any) -> Action:
    return Action(
        id=ToolUseId("t1"), tool=tool, input=inputs, status="succeeded", session=None, turn=None, agent=None,
        paths=(), write_scope=WriteScope.NAMED, report=None, lead_text=lead_text, message=None, time=None,
    )  # fmt: skip


def test_the_assistants_words_come_first() -> None:
    assert summarise(action(lead_text="I'll make the **parser** accept blanks:\n\nmore"), [APP]) == (
        "Make the parser accept blanks"
    )


def test_the_summary_of_a_revert_keeps_the_code_it_quotes() -> None:
    quoted = "Revert 9: Edit cart.py: return price * (1 - `x`)"
    assert summarise(action("Revert", quoted), [APP]) == quoted
    assert summarise(action("Edit", quoted), [APP]) != quoted


@pytest.mark.parametrize(
    ("lead_text", "words"),
    [
        (None, None),
        ("", None),
        ("...", None),
        ("\n## Add the tests\n", "Add the tests"),
        ("- `x`", "x"),
        ("Now the tests", None),
        ("I see the problem.", None),
        ("Found it!\n\nRound the total.", "Round the total"),
    ],
)
def test_only_a_line_with_words_counts(lead_text: str | None, words: str | None) -> None:
    assert first_words(lead_text) == words


def test_words_that_do_not_say_what_is_done_are_left_out() -> None:
    chatter = action(lead_text="I see the problem now. The total is never rounded.")
    changed = FileChange("src/app.py", ChangeKind.MODIFIED, 1, 1, "return round(total, 2)")
    assert summarise(chatter, [changed]) == "Edit app.py: return round(total, 2)"
    assert summarise(action("Bash", "Great! Now the tests.", command="make test"), []) == "Bash: make test"


def test_without_the_assistants_words_the_tool_the_file_and_the_amount_are_named() -> None:
    assert summarise(action(), [APP]) == "Edit app.py: +3 −1"
    assert summarise(action("mcp__x"), [APP, LOGO]) == "mcp__x: 2 files, +3 −1"


def test_a_failure_is_summarised_by_its_reason() -> None:
    failed = action(lead_text="I rename it.")._replace(
        status="failed", failure="String to replace not found in file."
    )
    assert summarise(failed._replace(paths=("/r/app.py",)), []) == (
        "Edit app.py: String to replace not found in file."
    )
    long = failed._replace(tool="Bash", input={"command": "x " * 80}, failure="y " * 80)
    assert len(summarise(long, [])) <= SUBJECT_LENGTH
    assert summarise(failed._replace(failure=None), [APP]) == "I rename it"


def test_a_call_that_changed_nothing_is_named_by_its_paths_or_command() -> None:
    assert summarise(action("Bash", command="make"), []) == "Bash: make"
    assert summarise(action()._replace(paths=("/r/src/app.py",)), []) == "Edit app.py"
    assert summarise(action("mcp__x"), []) == "mcp__x"


def test_a_command_is_quoted_with_the_number_of_files() -> None:
    command = "sed -i 's/a/b/' " + "file " * 40
    assert summarise(action("Bash", command=command), [APP, LOGO]).endswith("… (2 files)")
    assert len(summarise(action("Bash", command=command), [APP, LOGO])) <= SUBJECT_LENGTH
    assert summarise(action("Bash", command="make"), [APP]) == "Bash: make (1 file)"


@pytest.mark.parametrize(
    ("file", "line"),
    [
        (APP, "src/app.py: +3 −1"),
        (LOGO, "logo.png: new, binary"),
        (FileChange("a\nb\udc80", ChangeKind.DELETED, 0, 2), "a�b�: deleted, +0 −2"),
        (FileChange("run", ChangeKind.MODE, 0, 0), "run: mode"),
        (FileChange("l", ChangeKind.LINK), "l: link"),
    ],
)
def test_each_file_has_a_line(file: FileChange, line: str) -> None:
    assert render_file(file) == line


def test_amounts_add_up_over_files_that_have_lines() -> None:
    assert render_amount([APP, LOGO, APP]) == "+6 −2"


def described(
    before: bytes | None, after: bytes | None, change: ChangeKind = ChangeKind.MODIFIED
) -> FileChange:
    return describe_file("a.py", change, before, after)


def test_lines_are_counted_unless_the_content_is_binary() -> None:
    changed = described(b"a\nb\n", b"a\nc\nd\n")
    assert (changed.added, changed.removed) == (2, 1)
    assert described(None, b"a\n", ChangeKind.CREATED) == FileChange("a.py", ChangeKind.CREATED, 1, 0)
    assert described(b"a\n", b"a\n", ChangeKind.MODE) == FileChange("a.py", ChangeKind.MODE, 0, 0)
    assert described(b"\0", None, ChangeKind.DELETED) == FileChange("a.py", ChangeKind.DELETED)
    assert described(b"", b"\0") == FileChange("a.py", ChangeKind.MODIFIED)


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (b"x\n", b"x\n\n    }\n\treturn  total\n", "return total"),
        (b"x\nold()\n", b"x\n", "old()"),
        (b"x\nold()\n", b"x\n\n", "old()"),
        (b"a\n{\nb\nc\n", b"a\n}\nb\nd\n", "d"),
        (b"x\n", b"x\n\n", None),
        (b"- Tee\n", "- Tea 2.50 \u20ac\n".encode(), "Tea 2.50 \u20ac"),
        (b"x\n", b"x\n    # - a --flag\n", "a --flag"),
        (b"x\n", b"x\n#include <a.h>\n", "#include <a.h>"),
        (b"x\n", b"x\n\x1b[31mred\n", "\ufffd[31mred"),
        (b"x\n", b"x\n" + b"y" * 1000, "y" * 400),
    ],
)
def test_a_change_of_a_file_is_described_by_its_first_line_with_a_word(
    before: bytes, after: bytes, line: str | None
) -> None:
    assert described(before, after).line == line


def test_edits_of_one_file_without_the_assistants_words_are_summarised_by_what_they_changed() -> None:
    first, second = described(b"a = 1\n", b"a = 2\n"), described(b"b = 1\n", b"b = 2\n")
    assert [summarise(action(), [one]) for one in (first, second)] == ["Edit a.py: a = 2", "Edit a.py: b = 2"]


def test_files_beyond_the_limit_are_only_counted() -> None:
    assert render_files([APP, LOGO]) == ("src/app.py: +3 −1", "logo.png: new, binary")
    assert render_files([APP] * (MAX_FILES + 2))[-2:] == ("src/app.py: +3 −1", "and 2 more")


def test_changed_lines_are_counted_only_if_all_files_can_be() -> None:
    assert count_changed_lines([APP, LOGO, APP]) == (6, 2)
    assert count_changed_lines([LOGO]) is None
    assert count_changed_lines([APP] * (MAX_FILES + 1)) is None
