from typing import Any

import pytest

from chorus.model.review_state import REVERT_TOOL, is_open

OPEN: dict[str, Any] = {"status": "committed", "tool": "Edit", "reverts": (), "within": None, "landed": False}


def test_a_committed_action_is_open() -> None:
    assert is_open(**OPEN)


@pytest.mark.parametrize(
    "difference",
    [
        {"status": "kept"},
        {"status": "reverted"},
        {"status": "outside", "tool": None},
        {"status": "noop"},
        {"landed": True},
        {"reverts": ("toolu_1",)},
        {"tool": REVERT_TOOL},
        {"within": "toolu_1"},
    ],
)
def test_what_is_reviewed_or_needs_no_review_is_not_open(difference: dict[str, Any]) -> None:
    assert not is_open(**(OPEN | difference))
