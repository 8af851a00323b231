"""Find the changes on disk, apart from those that git itself made."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from chorus.history.disk_changes.head_moves import HeadMove
from chorus.history.journal import Journal
from chorus.history.records import Edit
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.ids import RepoPath
from chorus.store.worktree.file_state import SkipReason
from chorus.store.worktree.scan import ObservedChange, SkippedPath


@dataclass(frozen=True, slots=True)
class DiskChanges:
    """The differences from the timeline.

    `omitted`: paths that the scan left out. `recorded`: the records of changes that git made; they are
    already written.
    """

    edits: tuple[Edit, ...]
    omitted: tuple[SkippedPath, ...]
    recorded: tuple[TimelineCommit, ...]


class Observer:
    """Scans the work tree, and records changes that a move of HEAD or the stash explains."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._workspace = journal.workspace

    def observe(self, paths: Sequence[RepoPath] | None, exclude: Collection[RepoPath] = ()) -> DiskChanges:
        """Find what changed at these paths (None: everywhere), except the excluded ones.

        Changes that git itself made are recorded at once, also at other paths.
        """
        tree = self._journal.timeline.tree
        assert tree is not None
        if paths is not None:
            paths = [*paths, *self._workspace.scanner.other_spellings(tree, paths)]
        tracker = self._journal.head_tracker
        move = tracker.look()
        try:
            moved = tracker.paths_of(move) if move else []
            # Also look where git wrote. If that is unknown, look everywhere.
            wanted = None if paths is None or moved is None else [*paths, *moved]
            scan = self._workspace.scanner.changed(tree, wanted)
            changes = [change for change in scan.changes if change.path not in exclude]
            recorded: list[TimelineCommit] = []
            if move is not None:
                changes, recorded = self._record_move(move, None if moved is None else set(moved), changes)
        except BaseException:
            tracker.forget_look()
            raise
        if paths is not None:
            changes = [change for change in changes if is_named(change.path, set(paths))]
        return DiskChanges(edits_of(changes), lasting(scan.omitted), tuple(recorded))

    def _record_move(
        self, move: HeadMove, moved: set[RepoPath] | None, changes: list[ObservedChange]
    ) -> tuple[list[ObservedChange], list[TimelineCommit]]:
        """Record the changes that the move explains. Return the other changes, and the new records."""
        explains = self._journal.head_tracker.explains
        made = [
            change
            for change in changes
            if (moved is None or change.path in moved) and explains(move, change.path, change.after)
        ]
        if not made:
            self._journal.append_head_move(move)
            return changes, []
        recorded = self._journal.append_outside(edits_of(made), move.reason, by_git=True)
        return [change for change in changes if change not in made], [recorded]


def is_named(path: RepoPath, names: Collection[str]) -> bool:
    """Whether `names` contains the path or a directory above it."""
    while path not in names:
        path = RepoPath(path.rpartition("/")[0])
        if not path:
            return False
    return True


def edits_of(changes: Iterable[ObservedChange]) -> tuple[Edit, ...]:
    return tuple(Edit(change.path, change.before, change.after) for change in changes)


def lasting(omitted: Iterable[SkippedPath]) -> tuple[SkippedPath, ...]:
    """Leave out temporary files, which are renamed or deleted a moment later."""
    return tuple(path for path in omitted if path.why is not SkipReason.SCRATCH)


def render_omitted(omitted: SkippedPath) -> str:
    return f"{omitted.path} {omitted.why.value}" + (f" ({omitted.detail})" if omitted.detail else "")
