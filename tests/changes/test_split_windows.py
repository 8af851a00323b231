"""Calls that may write anywhere get their own part of a file that others changed too."""

from collections.abc import Sequence

import pytest

from chorus.changes.reported_edits import ANY_CHANGE, ReportedEdit, text_before
from chorus.changes.split import ChangePart, split_change, split_present
from chorus.model.action import ReportHunk
from tests.changes.test_split import edit, patch

BASE = "".join(f"l{number}\n" for number in range(1, 13))


def put(text: str, **lines: str) -> str:
    for old, new in lines.items():
        text = text.replace(f"{old}\n", f"{new}\n")
    return text


def window(before: str, after: str) -> ReportedEdit:
    return ReportedEdit(hunks=patch(before, after), anywhere=True)


B2 = put(BASE, l2="B2")
E9 = put(BASE, l9="E9")
BOTH = put(B2, l9="E9")


def part(report: int | None, text: str | None, *also: int) -> ChangePart:
    return ChangePart(report, None if text is None else text.encode(), also)


def split(
    before: str | None,
    after: str | None,
    *reports: ReportedEdit,
    is_open: bool = False,
    in_window: Sequence[int] = (),
    ended_before: Sequence[int] = (),
) -> tuple[ChangePart, ...] | None:
    first, last = (None if side is None else side.encode() for side in (before, after))
    return split_change(first, last, reports, is_open=is_open, in_window=in_window, ended_before=ended_before)


@pytest.mark.parametrize("command", [window(BASE, B2), ANY_CHANGE], ids=["reported", "not reported"])
def test_a_command_gets_what_changed_before_the_edit_that_follows(command: ReportedEdit) -> None:
    assert split(BASE, BOTH, command, edit(B2, BOTH)) == (part(0, B2), part(1, BOTH))


def test_a_command_after_an_edit_gets_the_rest() -> None:
    assert split(BASE, BOTH, edit(BASE, E9), window(E9, BOTH)) == (part(0, E9), part(1, BOTH))


def test_a_command_that_wrote_while_the_edit_was_made_gets_its_change_when_it_ends() -> None:
    """The edit started from what the command had written by then."""
    assert split(BASE, BOTH, edit(B2, BOTH), ANY_CHANGE, in_window=[0]) == (part(0, E9), part(1, BOTH))
    assert split(BASE, BOTH, edit(B2, BOTH), in_window=[0]) == (part(0, E9), part(None, BOTH))


def test_an_edit_that_builds_on_what_a_running_command_wrote_comes_after_it() -> None:
    later = put(B2, B2="E2")
    assert split(BASE, later, edit(B2, later), in_window=[0]) == (part(None, B2), part(0, later))
    assert split(None, "y\n", edit("x\n", "y\n"), in_window=[0]) == (part(None, "x\n"), part(0, "y\n"))
    unknown = ReportedEdit(before=B2)
    assert split(BASE, BOTH, unknown, in_window=[0]) == (part(None, B2), part(0, BOTH))


def test_a_change_before_an_edit_is_not_that_of_a_command_that_began_after_it() -> None:
    end = put(BOTH, l5="C5")
    expected = (part(None, B2), part(0, BOTH), part(1, end))
    assert split(BASE, end, edit(B2, BOTH), ANY_CHANGE) == expected


def test_two_commands_are_told_apart_by_their_reports() -> None:
    middle, end = put(B2, l5="C5"), put(B2, l5="C5", l9="E9")
    reports = (window(BASE, B2), window(B2, middle), edit(middle, end))
    assert split(BASE, end, *reports) == (part(0, B2), part(1, middle), part(2, end))


def test_of_two_commands_one_without_a_report_shares_only_what_the_other_does_not_explain() -> None:
    middle, end = put(B2, l5="C5"), put(B2, l5="C5", l9="E9")
    assert split(BASE, BOTH, ANY_CHANGE, window(BASE, B2), edit(B2, BOTH)) == (part(1, B2), part(2, BOTH))
    shared = (part(1, middle, 0), part(2, end))
    assert split(BASE, end, ANY_CHANGE, window(BASE, B2), edit(middle, end)) == shared


def test_a_change_that_a_command_does_not_report_before_the_next_edit_is_outside() -> None:
    middle, end = put(B2, l5="mine"), put(B2, l5="mine", l9="E9")
    expected = (part(0, B2), part(None, middle), part(1, end))
    assert split(BASE, end, window(BASE, B2), edit(middle, end)) == expected


def test_beside_an_open_call_a_command_gets_only_what_it_reports() -> None:
    assert split(BASE, BOTH, window(BASE, B2), is_open=True) == (part(0, B2), part(None, BOTH))
    assert split(BASE, BOTH, ANY_CHANGE, is_open=True) == (part(0, BOTH),)
    assert split(BASE, BOTH, window(BASE, B2)) == (part(0, BOTH),)
    assert split(BASE, BASE, ANY_CHANGE) == ()


def test_a_command_that_makes_or_deletes_the_file_which_is_written_next() -> None:
    made = ReportedEdit(created=True, hunks=(ReportHunk(1, 0, 1, 1, ["+x"]),), anywhere=True)
    assert split(None, "y\n", made, edit("x\n", "y\n")) == (part(0, "x\n"), part(1, "y\n"))
    gone = ReportedEdit(hunks=patch("x\n", ""), anywhere=True, deleted=True)
    again = ReportedEdit(created=True, after="y\n")
    assert split("x\n", "y\n", gone, again) == (part(0, None), part(1, "y\n"))
    hunk = ReportedEdit(hunks=patch("a\n", "b\n"), anywhere=True)  # of a file that was not there
    assert split(None, "b\n", hunk) == (part(0, "b\n"),)


def test_a_change_recorded_before_it_was_reported_is_taken_back() -> None:
    assert split_present(E9.encode(), [edit(BASE, E9)]) == (part(None, BASE), part(0, E9))
    assert split_present(BOTH.encode(), [window(BASE, B2), edit(B2, BOTH)]) == (
        part(None, BASE),
        part(0, B2),
        part(1, BOTH),
    )
    created = ReportedEdit(created=True, after="x\n")
    assert split_present(b"x\n", [created]) == (part(None, None), part(0, "x\n"))
    mine = put(E9, l2="mine")  # somebody else's line stays
    assert split_present(mine.encode(), [edit(BASE, E9)]) == (part(None, put(BASE, l2="mine")), part(0, mine))


@pytest.mark.parametrize(
    ("now", "report"),
    [
        (None, edit(BASE, E9)),
        (BASE, edit(BASE, E9)),
        (BASE, ANY_CHANGE),
        ("y\n", ReportedEdit(created=True, after="x\n")),
        (put(E9, E9="mine"), edit(BASE, E9)),
        (E9, ReportedEdit(before=BASE)),
        ("a\r\nb\n", edit("c\nb\n", "a\nb\n")),
    ],
    ids=["no file", "not there", "no report", "another text", "overwritten", "no change", "mixed line ends"],
)
def test_a_change_that_cannot_be_found_in_the_content_is_not_split_off(
    now: str | None, report: ReportedEdit
) -> None:
    assert split_present(None if now is None else now.encode(), [report]) is None


def test_the_text_before_a_report_is_found_from_the_text_after() -> None:
    assert text_before(window(BASE, B2), B2) == BASE
    assert text_before(edit(BASE, B2), "anything") == BASE
    assert text_before(ANY_CHANGE, B2) is None
    assert text_before(window(BASE, B2), BASE) is None


def test_a_command_that_ended_before_the_last_write_gets_what_it_reports_or_what_an_edit_began_with() -> None:
    assert split(BASE, BOTH, ANY_CHANGE, ended_before=[0]) == (part(None, BOTH),)
    assert split(BASE, BOTH, window(BASE, B2), ended_before=[0]) == (part(0, B2), part(None, BOTH))
    assert split(BASE, BOTH, ANY_CHANGE, edit(B2, BOTH), ended_before=[0]) == (part(0, B2), part(1, BOTH))
    assert split(BASE, BOTH, ANY_CHANGE, ANY_CHANGE, ended_before=[0]) == (part(1, BOTH),)
