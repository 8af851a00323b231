"""Each action gets its own part of a shared change, and no bytes are invented."""

import json
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorus.changes.client_text import decode_text, find_format
from chorus.changes.diff import hunks as line_hunks
from chorus.changes.diff import split_lines
from chorus.changes.reported_edits import (
    NO_REPORT,
    Replacement,
    ReportedEdit,
    apply_hunks,
    reported_edit,
    text_after,
)
from chorus.changes.split import (
    ChangePart,
    count_present,
    find_overwritten,
    is_overwritten,
    split_change,
    writing_order,
)
from chorus.model.action import Action, FileReport, ReportHunk, WriteScope
from chorus.model.ids import ToolUseId

HEADLESS = Path(__file__).parents[2] / "fixtures" / "recordings" / "headless"


def patch(before: str, after: str) -> tuple[ReportHunk, ...]:
    """A patch without context, as the client would print it."""
    old, new = split_lines(before.encode()), split_lines(after.encode())

    def printed(mark: str, lines: list[bytes]) -> list[str]:
        out = []
        for line in lines:
            out.append(mark + line.decode().removesuffix("\n"))
            if not line.endswith(b"\n"):
                out.append("\\ No newline at end of file")
        return out

    return tuple(
        ReportHunk(
            h.before_start + (1 if h.removed else 0), h.removed, h.after_start + 1, h.added,
            printed("-", old[h.before_start : h.before_end]) + printed("+", new[h.after_start : h.after_end]),
        )
        for h in line_hunks(before.encode(), after.encode())
    )  # fmt: skip


def edit(before: str, after: str) -> ReportedEdit:
    return ReportedEdit(before=before, hunks=patch(before, after))


lines = st.lists(st.sampled_from(["a\n", "b\n", "one\n", "two\n", "\n", "ü\n"]), max_size=12)
texts = st.builds(lambda body, last: "".join(body) + last, lines, st.sampled_from(["", "end"]))


@given(st.lists(texts, min_size=2, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_a_chain_of_edits_is_split(states: list[str], line_end: str) -> None:
    written = [state.replace("\n", line_end).encode() for state in states]
    reports = [edit(a, b) for a, b in pairwise(states)]
    pieces = split_change(written[0], written[-1], reports)
    assert pieces is not None
    assert [piece.report for piece in pieces] == list(range(len(reports)))
    assert pieces[-1].after == written[-1]
    if "\n" in states[0] + states[-1]:  # else the client would write LF, whatever the middle had here
        assert [piece.after for piece in pieces] == written[1:]


@given(st.none() | st.binary(max_size=40), st.none() | st.binary(max_size=40), st.lists(texts, max_size=4))
def test_the_parts_lead_from_before_to_after_for_any_reports(
    before: bytes | None, after: bytes | None, reported: list[str]
) -> None:
    reports = [edit(a, b) for a, b in pairwise(reported)]
    pieces = split_change(before, after, reports)
    if pieces:
        assert pieces[-1].after == after
    elif pieces is not None:
        assert before == after


@pytest.mark.parametrize("after", ["def new():\n    return 1\n", "def newer():\n    pass\n"])
def test_what_a_report_leaves_in_a_file_with_an_open_call_is_not_its_own(after: str) -> None:
    before, reported = "def old():\n    pass\n", "def new():\n    pass\n"
    report = edit(before, reported)
    own, rest = ChangePart(0, reported.encode()), ChangePart(None, after.encode())
    # Without an open call a change of the next line is someone else's; one of the same line is not.
    parts = split_change(before.encode(), after.encode(), [report])
    assert parts == ((own, rest) if "return" in after else (ChangePart(0, after.encode()),))
    assert split_change(before.encode(), after.encode(), [report], is_open=True) == (own, rest)


def test_a_report_without_a_start_takes_the_whole_change_also_with_an_open_call() -> None:
    report = ReportedEdit(hunks=patch("a\n", "b\n"))
    assert split_change(b"a\n", b"c\n", [report], is_open=True) == (ChangePart(0, b"c\n"),)


def recorded(name: str) -> list[dict[str, Any]]:
    events = map(json.loads, filter(None, (HEADLESS / f"{name}.jsonl").read_text().split("\n")))
    results = [event["tool_use_result"] for event in events if isinstance(event.get("tool_use_result"), dict)]
    return [result for result in results if result.get("structuredPatch")]


def report_from(result: dict[str, Any]) -> ReportedEdit:
    found = tuple(
        ReportHunk(h["oldStart"], h["oldLines"], h["newStart"], h["newLines"], h["lines"])
        for h in result["structuredPatch"]
    )
    replacements: tuple[Replacement, ...] = ()
    if "oldString" in result:
        replacements = (Replacement(result["oldString"], result["newString"], result["replaceAll"]),)
    return ReportedEdit(result["originalFile"], False, result.get("content"), found, replacements)


def test_two_recorded_edits_of_one_file_are_split() -> None:
    first, second = map(report_from, recorded("parallel_same_file"))
    assert first.before is not None
    assert second.before is not None
    before, between = first.before.encode(), second.before.encode()
    after = between.replace(b"return 1", b"return 8")
    assert split_change(before, after, [first, second]) == (ChangePart(0, between), ChangePart(1, after))


RECORDED_FILES = {
    "crlf.txt": (b"one\r\ntwo\r\nthree\r\n", b"one\r\nTWO\r\nthree\r\n"),
    "mixed.txt": (b"one\r\ntwo\nthree\r\nfour\n", b"one\nTWO\nthree\nfour\n"),
    "bom.txt": (b"\xef\xbb\xbfalpha\nbeta\n", b"\xef\xbb\xbfalpha\nBETA\n"),
    "utf16.txt": ("\ufeffalpha\nbeta\n".encode("utf-16-le"), "\ufeffalpha\nBETA\n".encode("utf-16-le")),
    "latin1.txt": (b"caf\xe9 one\ntwo\n", b"caf\xef\xbf\xbd one\nTWO\n"),
    "nonl.txt": (b"alpha\nbeta", b"alpha\nBETA"),
    "curly.txt": ("say “hello” now\n".encode(), "say “bye” now\n".encode()),
    "nul.txt": (b"a\0b\nzz\n", b"a\0b\nZZ\n"),
    "tabs.txt": (b"\tindent\n", b"\t\tindent\n"),
    "delline.txt": (b"a\nb\nc\n", b"a\nc\n"),
    "dup.txt": (b"x\nx\nx\n", b"y\ny\ny\n"),
}


@pytest.mark.parametrize("name", RECORDED_FILES)
def test_the_clients_text_fits_the_bytes_in_every_recorded_form(name: str) -> None:
    result = next(r for r in recorded("fidelity") if r["filePath"].endswith("/" + name))
    report = report_from(result)
    before, after = RECORDED_FILES[name]
    assert decode_text(before) == report.before
    assert text_after(report, report.before) == decode_text(after)
    assert split_change(before, after, [report]) == (ChangePart(0, after),)


def test_a_formatters_change_after_the_edit_is_outside() -> None:
    lines = [f"line {i}\n" for i in range(20)]
    before, edited = "".join(lines), "".join([*lines[:3], "new\n", *lines[3:]])
    formatted = edited.replace("line 15", "LINE 15").encode()
    assert split_change(before.encode(), formatted, [edit(before, edited)]) == (
        ChangePart(0, edited.encode()),
        ChangePart(None, formatted),
    )


def test_a_change_before_the_edit_is_outside() -> None:
    seen, found, left = b"one\n", "one\ntwo\n", "one\ntwo\nthree\n"
    assert split_change(seen, left.encode(), [edit(found, left)]) == (
        ChangePart(None, found.encode()),
        ChangePart(0, left.encode()),
    )


def test_a_change_after_an_edit_is_outside_even_among_equal_lines() -> None:
    rows = ["a", "-", "-", "b", "-", "-", "c", "-", "-"] * 3
    before = "".join(f"{row}\n" for row in rows)
    first = before.replace("a\n", "A\n", 1)
    after = first.replace("b\n", "B\n", 1)
    report = edit(before, first)
    assert split_change(before.encode(), after.encode(), [report]) == (
        ChangePart(0, first.encode()),
        ChangePart(None, after.encode()),
    )
    beside = first.replace("A\n-\n", "A\n+\n", 1)
    assert split_change(before.encode(), beside.encode(), [report]) == (
        ChangePart(0, first.encode()),
        ChangePart(None, beside.encode()),
    )


ONE, TWO, THREE, FOUR = "a\n-\nx\n", "b\n-\nx\n", "b\n-\ny\n", "c\n-\ny\n"
COMMAND = ReportedEdit(anywhere=True, hunks=patch(TWO, THREE))


@pytest.mark.parametrize(
    ("before", "reports", "count"),
    [
        (ONE, [edit(ONE, TWO), edit(TWO, THREE)], 0),
        (TWO, [edit(ONE, TWO), edit(TWO, THREE)], 1),
        (THREE, [edit(ONE, TWO), COMMAND, edit(THREE, FOUR)], 2),
        (TWO, [edit(ONE, TWO), COMMAND, edit(THREE, FOUR)], 1),
        (THREE, [COMMAND, edit(THREE, FOUR)], 1),
        (TWO, [COMMAND, edit(THREE, FOUR)], 0),
        (THREE, [edit(ONE, TWO), COMMAND], 0),  # nothing shows that this is what the command left
        (TWO, [edit(ONE, TWO)], 1),
        ("b\n-\nx\nmore\n", [edit(ONE, TWO)], 0),
        ("other\n", [edit(ONE, TWO), edit(TWO, THREE)], 0),
        (ONE, [edit(ONE, TWO), edit(TWO, ONE)], 0),  # there and back
        (ONE, [], 0),
    ],
)
def test_changes_that_the_recorded_file_has_already_are_counted(
    before: str, reports: list[ReportedEdit], count: int
) -> None:
    assert count_present(before.encode(), reports) == count


def test_a_file_that_was_not_there_has_no_change_already() -> None:
    assert count_present(None, [edit(ONE, TWO)]) == 0


def test_a_formatter_between_two_edits_is_outside() -> None:
    one, two, three, four = "a\n", "a\nb\n", "a\nB\n", "a\nB\nc\n"
    first = ReportedEdit(before=one, after=two)
    assert split_change(one.encode(), four.encode(), [first, edit(three, four)]) == (
        ChangePart(0, two.encode()),
        ChangePart(None, three.encode()),
        ChangePart(1, four.encode()),
    )


def test_a_formatter_in_the_edited_lines_is_counted_as_the_edit() -> None:
    before, edited, after = "a\nb\nc\n", "a\nx=1\nc\n", b"a\nx = 1\nc\n"
    assert split_change(before.encode(), after, [edit(before, edited)]) == (ChangePart(0, after),)


def test_without_a_report_one_action_takes_all_and_two_cannot_be_split() -> None:
    assert split_change(b"a\n", b"b\n", [NO_REPORT]) == (ChangePart(0, b"b\n"),)
    assert split_change(b"a\n", b"b\n", [NO_REPORT, NO_REPORT]) is None


def test_an_action_without_a_report_ends_where_the_next_one_began() -> None:
    assert split_change(b"a\n", b"c\n", [NO_REPORT, edit("b\n", "c\n")]) == (
        ChangePart(0, b"b\n"),
        ChangePart(1, b"c\n"),
    )


def test_bytes_that_the_text_does_not_determine_are_not_invented() -> None:
    """Mixed line ends: the text between the two edits does not show which line had which."""
    before, after = b"a\r\nb\nc\n", b"A\r\nb\nC\n"
    assert (
        split_change(before, after, [edit("a\nb\nc\n", "A\nb\nc\n"), edit("A\nb\nc\n", "A\nb\nC\n")]) is None
    )


def test_a_first_report_that_fits_nothing_starts_from_what_was_seen() -> None:
    assert split_change(b"caf\xe9\n", b"x\n", [edit("other\n", "x\n")]) == (ChangePart(0, b"x\n"),)


def test_line_ends_shown_differently_are_not_a_change() -> None:
    """A lone CR, or a byte order mark, that the client shows differently is not an edit."""
    before, after = b"\xef\xbb\xbfone\rtwo\nthree\n", b"\xef\xbb\xbfone\rtwo\nTHREE\n"
    printed = edit("one\ntwo\nthree\n", "one\ntwo\nTHREE\n")
    assert split_change(before, after, [printed]) == (ChangePart(0, after),)


def test_a_created_file_starts_from_nothing() -> None:
    assert split_change(None, b"x\n", [ReportedEdit(created=True, after="x\n")]) == (ChangePart(0, b"x\n"),)
    assert split_change(b"old\n", b"x\n", [ReportedEdit(created=True, after="x\n")]) == (
        ChangePart(None, None),
        ChangePart(0, b"x\n"),
    )


def test_a_file_written_and_gone_again_keeps_both_steps() -> None:
    assert split_change(None, None, [ReportedEdit(created=True, after="x\n")]) == (
        ChangePart(0, b"x\n"),
        ChangePart(None, None),
    )
    assert split_change(b"a\n", None, [edit("a\n", "b\n")]) == (ChangePart(0, None),)


def test_two_actions_that_undo_each_other_both_get_their_part() -> None:
    assert split_change(b"a\n", b"a\n", [edit("a\n", "b\n"), edit("b\n", "a\n")]) == (
        ChangePart(0, b"b\n"),
        ChangePart(1, b"a\n"),
    )


def test_text_that_cannot_be_encoded_is_not_invented() -> None:
    assert (
        split_change(
            b"a\n", b"c\n", [ReportedEdit(before="a\n", after="\ud800\n"), ReportedEdit(before="\ud800\n")]
        )
        is None
    )


def test_a_patch_that_does_not_apply_gives_no_text() -> None:
    assert apply_hunks("a\nb\n", patch("x\n", "y\n")) is None
    assert apply_hunks("a\n", (*patch("a\n", "b\n"), *patch("a\n", "b\n"))) is None


def test_replacements_count_only_with_a_patch_that_agrees() -> None:
    printed = patch("  x\n", "    x\n")
    assert (
        text_after(ReportedEdit(hunks=printed, replacements=(Replacement("\tx", "\t\tx", False),)), "\tx\n")
        == "\t\tx\n"
    )
    assert (
        text_after(ReportedEdit(hunks=printed, replacements=(Replacement("\tx", "y", False),)), "\tx\n")
        is None
    )
    assert (
        text_after(ReportedEdit(hunks=printed, replacements=(Replacement("z", "y", False),)), "\tx\n") is None
    )
    assert text_after(ReportedEdit(replacements=(Replacement("\tx", "y", False),)), "\tx\n") is None


def test_a_reported_edit_is_read_from_an_action() -> None:
    def action(**inputs: Any) -> Action:
        return Action(
            id=ToolUseId("t"), tool="Edit", input=inputs, status="succeeded", session=None, turn=None,
            agent=None, paths=(), write_scope=WriteScope.NAMED, report=None, lead_text=None, message=None,
            time=None,
        )  # fmt: skip

    file = FileReport("/r/a", before="x")
    assert reported_edit(action(), None) == NO_REPORT
    assert reported_edit(action(content="x"), file) == ReportedEdit(before="x")
    assert reported_edit(action(old_string="x", new_string="y"), file).replacements == (
        Replacement("x", "y", False),
    )
    edits = [{"old_string": "x", "new_string": "y", "replace_all": True}, "junk"]
    assert reported_edit(action(edits=edits), file).replacements == (Replacement("x", "y", True),)


def test_contents_of_different_formats_have_no_common_format() -> None:
    assert find_format(b"a\r\n", b"a\n") is None
    assert find_format("\ufeffa\n".encode("utf-16-le"), b"a\n") is None
    assert find_format(b"a", b"a\r\n") == find_format(b"a\r\n", b"a", None)


ROWS = "".join(f"row {number}\n" for number in range(20))
FIRST, SECOND = ROWS.replace("row 5\n", "first\n"), ROWS.replace("row 15\n", "second\n")


def test_an_edit_that_another_overwrote_keeps_its_change() -> None:
    reports = [edit(ROWS, FIRST), edit(ROWS, SECOND)]
    pieces = split_change(ROWS.encode(), SECOND.encode(), reports)
    assert pieces == (
        ChangePart(0, FIRST.encode()),
        ChangePart(None, ROWS.encode()),
        ChangePart(1, SECOND.encode()),
    )
    assert find_overwritten(ROWS.encode(), SECOND.encode(), reports) == {0}
    assert find_overwritten(ROWS.encode(), SECOND.encode(), reports[::-1]) == {1}


def test_an_edit_undone_by_the_next_is_not_overwritten() -> None:
    reports = [edit(ROWS, FIRST), edit(FIRST, ROWS)]
    assert find_overwritten(ROWS.encode(), ROWS.encode(), reports) == frozenset()


@pytest.mark.parametrize(
    ("now", "report"),
    [
        (None, edit(ROWS, FIRST)),  # the file is gone
        (SECOND.encode(), NO_REPORT),
        (SECOND.encode(), ReportedEdit(before=ROWS, hunks=patch("other\n", "text\n"))),  # does not fit
        (b"one\r\ntwo\n", edit(ROWS, FIRST)),  # no format in which the client's text is exact
        (FIRST.encode(), edit(ROWS, FIRST)),
    ],
)
def test_an_unknown_change_is_not_called_overwritten(now: bytes | None, report: ReportedEdit) -> None:
    assert not is_overwritten(now, report)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True), st.randoms())
def test_edits_reported_in_any_order_are_sorted_by_their_texts(
    rows: list[int], chance: random.Random
) -> None:
    """Each changes another line of the text that the one before left."""
    states = ["".join(f"row {n}\n" for n in range(10))]
    for row in rows:
        states.append(states[-1].replace(f"row {row}\n", f"new {row}\n"))
    reports = [edit(a, b) for a, b in pairwise(states)]
    arrival = chance.sample(range(len(reports)), len(reports))
    order = writing_order(states[0].encode(), states[-1].encode(), [reports[n] for n in arrival])
    assert [arrival[place] for place in order] == list(range(len(reports)))


def test_the_overwritten_one_of_two_edits_of_the_same_text_was_first() -> None:
    lost, kept = edit(ROWS, FIRST), edit(ROWS, SECOND)
    assert writing_order(ROWS.encode(), SECOND.encode(), [kept, lost]) == (1, 0)
    assert writing_order(ROWS.encode(), SECOND.encode(), [lost, kept]) == (0, 1)


def test_a_file_is_made_before_it_is_edited() -> None:
    made, edited = ReportedEdit(created=True, after=ROWS), edit(ROWS, FIRST)
    assert writing_order(None, FIRST.encode(), [edited, made]) == (1, 0)


def test_a_report_that_made_the_file_or_needs_one_does_not_come_first_in_the_other_case() -> None:
    made, edited = ReportedEdit(created=True, after=ROWS), edit(ROWS, FIRST)
    assert writing_order(ROWS.encode(), FIRST.encode(), [made, edited]) == (1, 0)
    unknown = replace(edited, before=None)
    assert writing_order(None, FIRST.encode(), [unknown, made]) == (1, 0)


def test_where_the_texts_do_not_decide_the_order_of_arrival_is_kept() -> None:
    reports = [NO_REPORT, edit("other\n", "text\n"), ReportedEdit(created=True, after=ROWS)]
    assert writing_order(ROWS.encode(), SECOND.encode(), reports) == (0, 1, 2)
    assert writing_order(None, SECOND.encode(), reports[:2]) == (0, 1)
