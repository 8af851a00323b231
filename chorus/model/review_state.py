"""The review statuses of actions, and the phrases that describe them in the log and the panel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from chorus.text.width import render_ranges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from chorus.model.api.json_api import RevertWarningJson, UndoneJson

# How many characters of a turn's id are shown.
SHORT_TURN_LENGTH = 8
# The tool that is recorded for an action that reverts or redoes other actions.
REVERT_TOOL = "Revert"
OPEN_STATUS = "committed"
# The meaning of each status, in words for the user.
STATUS_MEANINGS = {
    "committed": "changed files, still open",
    "reverted": "by you; `chorus redo` redoes it",
    "kept": "reviewed by you",
    "landed": "on one of your branches",
    "undone": "its change was removed by git, a rewind or an edit",
    "noop": "changed nothing",
    "failed": "the call failed",
    "denied": "you or a rule denied it",
    "outside": "a change no action made",
}


def shorten_turn(turn: str) -> str:
    """Shorten a turn's id for display, but keep a number after a dot.

    Messages sent into one running turn become turns whose ids differ only in this number.
    """
    name, dot, number = turn.partition(".")
    return name[:SHORT_TURN_LENGTH] + dot + number


def find_turns(turns: Iterable[str], name: str) -> list[str]:
    """Return the turn whose id is `name`; if there is none, the turns that `name` abbreviates."""
    known = list(dict.fromkeys(turns))
    beginning, _, number = name.partition(".")
    return (
        [turn for turn in known if turn == name]
        or [turn for turn in known if turn.startswith(beginning) and turn.partition(".")[2] == number]
        or [turn for turn in known if turn.startswith(name)]
    )


def is_open(
    status: str, tool: str | None, reverts: Collection[str], within: str | None, *, landed: bool
) -> bool:
    """Return True if an entry of the log is still to be reviewed.

    A revert is the user's own action and needs no review. A change recorded `within` another action is
    reviewed with that action.
    """
    if status != OPEN_STATUS or landed or reverts or tool == REVERT_TOOL:
        return False
    return within is None


def render_undone(undone: UndoneJson | None) -> str | None:
    """Return `undone by git`, `2 of 5 lines undone by a rewind` or the like; None if nothing is undone."""
    if undone is None:
        return None
    by = {"git": "by git", "rewind": "by a rewind"}.get(undone["by"], "by an outside change")
    if undone["whole"]:
        return f"undone {by}"
    return f"{undone['lines']} of {undone['of']} lines undone {by}"


def render_lane_context(parts: Iterable[tuple[str, int | None]]) -> str:
    """Return `builds on your uncommitted lines in a.txt; on action 3 in b.txt (…)` or the like.

    `parts`: each path, with the action that wrote the lines; None: the user.
    """
    paths: dict[int | None, dict[str, None]] = {}
    for path, by in parts:
        paths.setdefault(by, {})[path] = None
    whose = [
        f"on {'your uncommitted lines' if by is None else f'action {by}'} in {', '.join(paths[by])}"
        for by in sorted(paths, key=lambda by: by or 0)
    ]
    return f"builds {'; '.join(whose)} (committed to the lane as context)"


def render_context(path: str, by: int | None, lines: Sequence[int]) -> str:
    """Return `builds on your uncommitted line 11 of a.txt (…)` or the like.

    `by`: the action that wrote the lines; None: the user. `lines`: empty for the whole file.
    """
    numbers = ", ".join(map(str, lines))
    what = f"{'line' if len(lines) == 1 else 'lines'} {numbers} of {path}" if lines else path
    whose = f"your uncommitted {what}" if by is None else f"{what} by action {by}"
    return f"builds on {whose} (committed to the lane as context)"


def render_revert_warnings(warnings: Iterable[RevertWarningJson]) -> list[str]:
    """Return lines like `this removes total, which actions 14, 16 use in cart.py`."""
    users: dict[tuple[str, str], list[int]] = {}
    for warning in warnings:
        users.setdefault((warning["path"], ", ".join(warning["names"])), []).append(warning["by"])
    return [
        f"this removes {names}, which {'action' if len(by) == 1 else 'actions'} {render_ranges(by)} "
        f"{'uses' if len(by) == 1 else 'use'} in {path}"
        for (path, names), by in users.items()
    ]
