from typing import Any, get_args

import pytest

from chorus.model.action import ActionStatus
from chorus.model.api.json_api import RevertWarningJson
from chorus.model.review_state import (
    OPEN_STATUS,
    REVERT_TOOL,
    STATUS_MEANINGS,
    find_turns,
    is_open,
    render_context,
    render_lane_context,
    render_revert_warnings,
    render_undone,
    shorten_turn,
)

OPEN: dict[str, Any] = {"status": "committed", "tool": "Edit", "reverts": (), "within": None, "landed": False}


def test_each_status_that_can_be_asked_for_is_one_of_the_json() -> None:
    assert {OPEN_STATUS, *STATUS_MEANINGS} <= set(get_args(ActionStatus))


def test_a_committed_action_is_open() -> None:
    assert is_open(**OPEN)


@pytest.mark.parametrize(
    "difference",
    [
        {"status": "kept"},
        {"status": "reverted"},
        {"status": "undone"},
        {"status": "outside", "tool": None},
        {"status": "noop"},
        {"landed": True},
        {"reverts": ("toolu_1",)},
        {"tool": REVERT_TOOL},
        {"within": "toolu_1"},
    ],
)
def test_actions_that_are_reviewed_or_need_no_review_are_not_open(difference: dict[str, Any]) -> None:
    assert not is_open(**(OPEN | difference))


def test_the_undone_part_is_described_in_words() -> None:
    assert render_undone(None) is None
    assert render_undone({"by": "git", "whole": True, "lines": 2, "of": 2}) == "undone by git"
    assert render_undone({"by": "rewind", "whole": True, "lines": 2, "of": 2}) == "undone by a rewind"
    part = render_undone({"by": "outside", "whole": False, "lines": 2, "of": 5})
    assert part == "2 of 5 lines undone by an outside change"


def test_the_lines_an_action_builds_on_are_described_in_words() -> None:
    end = "(committed to the lane as context)"
    assert render_context("a.txt", None, [11]) == f"builds on your uncommitted line 11 of a.txt {end}"
    assert render_context("a.txt", None, []) == f"builds on your uncommitted a.txt {end}"
    assert render_context("a.txt", 3, [1, 2]) == f"builds on lines 1, 2 of a.txt by action 3 {end}"


def test_the_lines_a_lane_builds_on_are_described_in_one_line() -> None:
    parts = [("b.txt", 3), ("a.txt", None), ("b.txt", None), ("a.txt", None)]
    said = "builds on your uncommitted lines in a.txt, b.txt; on action 3 in b.txt"
    assert render_lane_context(parts) == f"{said} (committed to the lane as context)"


def test_a_warning_of_a_revert_names_the_actions_and_what_they_would_miss() -> None:
    warnings: list[RevertWarningJson] = [
        {"path": "cart.py", "names": ["total", "tax"], "by": 14},
        {"path": "tax.py", "names": ["tax"], "by": 14},
        {"path": "tax.py", "names": ["tax"], "by": 16},
    ]
    assert render_revert_warnings(warnings) == [
        "this removes total, tax, which action 14 uses in cart.py",
        "this removes tax, which actions 14, 16 use in tax.py",
    ]


def test_a_turn_is_named_by_its_id_its_short_form_or_a_beginning() -> None:
    first, sent, other = "39f9b4eb-a420", "39f9b4eb-a420.2", "3a11c0de-0000.2"
    known = [first, sent, sent, other]
    assert [shorten_turn(turn) for turn in (first, sent, "7")] == ["39f9b4eb", "39f9b4eb.2", "7"]
    for name in (first, "39f9b4eb", "39f9", "3"):
        assert find_turns(known, name) == [first]
    for name in (sent, "39f9b4eb.2", "39.2"):
        assert find_turns(known, name) == [sent]
    assert find_turns(known, "3a") == [other]  # its first turn has no action
    assert find_turns(known, "3.2") == [sent, other]
    assert find_turns(known, "39.3") == find_turns(known, "7") == []
