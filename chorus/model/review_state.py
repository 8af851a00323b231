"""Whether an action still has to be reviewed. Used by the log and by the panel."""

from collections.abc import Collection

# The tool of an action that reverts others, or redoes them.
REVERT_TOOL = "Revert"
OPEN_STATUS = "committed"


def is_open(
    status: str, tool: str | None, reverts: Collection[str], within: str | None, *, landed: bool
) -> bool:
    """Whether an entry of the log waits for review: neither kept, reverted nor landed.

    A revert is the user's own action and needs no review. A change that is part of another action's record
    (`within`) is reviewed with that action.
    """
    if status != OPEN_STATUS or landed or reverts or tool == REVERT_TOOL:
        return False
    return within is None
