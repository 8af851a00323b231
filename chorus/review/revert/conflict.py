"""A revert or redo that later changes prevent: which changes these are, and the way out."""

from collections.abc import Sequence
from dataclasses import dataclass

from chorus.errors import ChorusError, ExitCode
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.ids import RepoPath
from chorus.text.width import list_of


@dataclass(frozen=True, slots=True)
class BlockingChange:
    """A later change of one path that prevents the revert. `number` is None for an outside change."""

    path: RepoPath
    reason: str
    number: int | None
    record: TimelineCommit | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked for. `command`: the command line, without --with-dependents and --markers."""

    numbers: Sequence[int | None]
    command: str
    with_dependents: bool = False
    redo: bool = False


class RevertConflict(ChorusError):
    """Later changes prevent a revert or redo. Nothing was changed.

    `places`: one line of text for each of the later changes. `markers_help`: the hint says that conflict
    markers can be written instead.
    """

    exit_code = ExitCode.CONFLICT

    def __init__(
        self, asked: Asked, blocking: Sequence[BlockingChange], places: Sequence[str], *, markers_help: bool
    ) -> None:
        dependents = [change.number for change in blocking if change.number is not None]
        outside = len(blocking) - len(dependents)
        what = "redone" if asked.redo else "reverted alone" if dependents else "reverted"
        title = f"{list_of(asked.numbers, 'action')} cannot be {what}; nothing was changed"
        make_hint = _redo_hint if asked.redo else _revert_hint
        hint = make_hint(asked, list(dict.fromkeys(dependents)), outside)
        if markers_help:
            dependents_too = " --with-dependents" if asked.with_dependents else ""
            hint += f" Or run `{asked.command}{dependents_too} --markers` to write conflict markers."
        super().__init__("\n".join([title, *places]), hint=hint)
        self.details = {
            "dependents": dependents,
            "conflicts": [{"path": c.path, "why": c.reason, "by": c.number} for c in blocking],
        }


def _revert_hint(asked: Asked, dependents: Sequence[int], outside: int) -> str:
    command = asked.command + (" --with-dependents" if dependents or asked.with_dependents else "")
    if outside:
        return f"{_undo_by_hand(outside)}, then run `{command}`."
    return f"Run `{command}` to revert those as well (add --dry-run to see the change first)."


def _redo_hint(asked: Asked, dependents: Sequence[int], outside: int) -> str:
    revert = f"chorus revert {' '.join(map(str, dependents))}"
    if not outside:
        return f"Revert those first with `{revert}`, then run `{asked.command}`."
    then = f"`{revert}` and `{asked.command}`" if dependents else f"`{asked.command}`"
    return f"{_undo_by_hand(outside)}, then run {then}."


def _undo_by_hand(outside: int) -> str:
    return f"Undo the outside change{'' if outside == 1 else 's'} by hand first"
