"""What is different on disk, and what of it git itself put there.

Receives paths to look at, or none for everywhere. Gives the changes nobody has claimed yet; what a move
of HEAD or of the stash explains is recorded as outside on the way. Never claims a change for an action.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from chorus.history.head_moves import HeadMove, render_head
from chorus.history.journal import Journal
from chorus.history.records import Edit
from chorus.history.timeline_log import TimelineCommit
from chorus.model.ids import RepoPath
from chorus.store.worktree.scan import ObservedChange, SkippedPath


@dataclass(frozen=True, slots=True)
class DiskChanges:
    edits: tuple[Edit, ...]
    omitted: tuple[SkippedPath, ...]
    recorded: tuple[TimelineCommit, ...]


class Observer:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._workspace = journal.workspace

    def locate(self, paths: Iterable[str]) -> list[RepoPath]:
        """The paths a tool names that lie in this work tree."""
        found = (self._workspace.locate(path) for path in paths)
        return list(dict.fromkeys(path for path in found if path is not None))

    def observe(self, paths: Sequence[RepoPath] | None, exclude: Collection[RepoPath] = ()) -> DiskChanges:
        """What differs from the timeline at these paths, or anywhere, but for those to spare."""
        move = self._journal.heads.look()
        moved = self._journal.heads.paths_of(move) if move else []
        # Where git wrote is looked at too; where that cannot be told, everything is.
        asked = None if paths is None or moved is None else [*paths, *moved]
        tree = self._journal.timeline.tree
        assert tree is not None
        scan = self._workspace.scanner.changed(tree, asked)
        changes = [change for change in scan.changes if change.path not in exclude]
        recorded: list[TimelineCommit] = []
        if move is not None:
            changes, recorded = self._settle(move, None if moved is None else set(moved), changes)
        if paths is not None:
            changes = [change for change in changes if is_named(change.path, set(paths))]
        return DiskChanges(edits_of(changes), scan.omitted, tuple(recorded))

    def _settle(
        self, move: HeadMove, moved: set[RepoPath] | None, changes: list[ObservedChange]
    ) -> tuple[list[ObservedChange], list[TimelineCommit]]:
        """Record what the move explains; give what it does not."""
        explains = self._journal.heads.explains
        made = [
            change
            for change in changes
            if (moved is None or change.path in moved) and explains(move, change.path, change.after)
        ]
        if not made:
            head = render_head(move.after)
            self._journal.append_mark({"kind": "head", "head": head, "reason": move.reason})
            return changes, []
        recorded = self._journal.append_outside(edits_of(made), move.reason)
        return [change for change in changes if change not in made], [recorded]


def is_named(path: RepoPath, names: Collection[str]) -> bool:
    """Whether a path, or a directory it lies in, is among these."""
    while path not in names:
        path = RepoPath(path.rpartition("/")[0])
        if not path:
            return False
    return True


def edits_of(changes: Iterable[ObservedChange]) -> tuple[Edit, ...]:
    return tuple(Edit(change.path, change.before, change.after) for change in changes)


def render_omitted(omitted: SkippedPath) -> str:
    return f"{omitted.path} {omitted.why.value}" + (f" ({omitted.detail})" if omitted.detail else "")
