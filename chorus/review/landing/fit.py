"""Find out which actions of a planned landing fit the branch, and what prevents the others.

An action lands with all its files or not at all. If an action does not land, the actions that build on it do
not land either.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from chorus.changes.diff import hunks, split_lines, terminated
from chorus.changes.line_merge import Overlap, merge_lines
from chorus.changes.line_places import find_positions
from chorus.changes.line_trace import changed_lines, follow_line, removed_lines
from chorus.history.lanes.lane_change import merge_tree_entries
from chorus.history.log.entry import LogEntry
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.commits.commit_message import parse_contexts, shorten
from chorus.model.ids import Oid, RepoPath
from chorus.review.landing.merge import (
    PathChange,
    PathConflict,
    StagedConflict,
    commit_changes,
    find_applied,
    find_staged_conflicts,
    join_changes,
    merge_changes,
    positions_from,
    restore_sparse_paths,
    tree_of,
)
from chorus.review.landing.messages import CommitGroup
from chorus.review.landing.obstacles import LeftAction, Obstacle, ObstacleFinder
from chorus.review.landing.plan import LandingPlan
from chorus.store.objects.trees import TreeEntry
from chorus.text.sanitize import printable


@dataclass(frozen=True, slots=True)
class FittingCommit:
    """One commit of a landing.

    If the branch already has the changes, `changes` is empty, and no commit is made.
    """

    group: CommitGroup
    changes: tuple[PathChange, ...]


@dataclass(slots=True)
class Fit:
    """What lands and what is left. `tree`: the resulting tree, if no hook changes it."""

    tree: Oid | None
    commits: list[FittingCommit] = field(default_factory=list)
    left: list[LeftAction] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _ActionChanges:
    entry: LogEntry
    changes: tuple[PathChange, ...]


def fit_landing(
    workspace: Workspace, plan: LandingPlan, start: Oid | None, *, check_index: bool, tip: Oid | None = None
) -> Fit:
    """Find which actions of the plan fit the tree of the commit `start`, and plan their commits.

    `tip`: the branch's last commit, if it is not `start`. With `check_index`, the user's staged changes must
    fit, too.
    """
    fitter = _Fitter(workspace, plan, start, tip or start)
    staged: dict[int, list[Obstacle]] = {}
    while True:
        fit = fitter.fit(staged)
        conflicts = []
        if check_index:
            conflicts = find_staged_conflicts(workspace, fitter.start_tree, fit.tree, fitter.positions_of)
        if not conflicts:
            return fit
        for conflict in conflicts:
            for number, obstacle in fitter.find_staged_obstacles(fit, conflict):
                staged.setdefault(number, []).append(obstacle)


class _Fitter:
    def __init__(self, workspace: Workspace, plan: LandingPlan, start: Oid | None, tip: Oid | None) -> None:
        self._workspace = workspace
        self._plan = plan
        self.positions_of = positions_from(workspace, plan.versions)
        self._finder = ObstacleFinder(workspace, plan, tip, self.positions_of)
        self.start_tree = tree_of(workspace, start)
        self._groups = [(group, self._read_changes(group)) for group in plan.groups]
        self._all = [change for _, actions in self._groups for each in actions for change in each.changes]
        self._applied = find_applied(workspace, self.start_tree, self._all)
        self._by_path: dict[RepoPath, list[PathChange]] = {}
        for change in self._all:
            self._by_path.setdefault(change.path, []).append(change)
        self._lines: dict[RepoPath, list[tuple[list[bytes], list[bytes]]]] = {}

    def fit(self, staged: Mapping[int, Sequence[Obstacle]]) -> Fit:
        """Fit all actions but those in `staged`, which conflict with the user's staged changes."""
        fit = Fit(self.start_tree)
        landing = set(self._plan.landed)
        for group, actions in self._groups:
            free = [each for each in actions if each.entry.n not in staged]
            fit.left += [
                LeftAction(each.entry, tuple(staged[each.entry.n]))
                for each in actions
                if each.entry.n is not None and each.entry.n in staged
            ]
            self._fit_group(fit, group, free, landing)
        fit.left.sort(key=lambda left: left.number)
        return fit

    def find_staged_obstacles(self, fit: Fit, conflict: StagedConflict) -> list[tuple[int, Obstacle]]:
        """Find the actions that conflict with the user's staged change: (action number, obstacle) pairs."""
        landing = {number for commit in fit.commits for number in commit.group.numbers}
        touching = [
            change
            for change in self._all
            if change.path == conflict.path and landing.issuperset(change.numbers)
        ]
        found = self._find_staged_lines(conflict, touching)
        path = printable(conflict.path)
        if not found:
            reason = f"{path} has staged changes that differ from what would land"
            numbers = dict.fromkeys(number for change in touching for number in change.numbers)
            return [(number, Obstacle(conflict.path, "staged", reason)) for number in numbers]
        return [
            (
                number,
                Obstacle(conflict.path, "staged", f"line {line} of {path} has other content staged", line),
            )
            for number, line in found.items()
        ]

    def _find_staged_lines(self, conflict: StagedConflict, touching: Sequence[PathChange]) -> dict[int, int]:
        """Map action numbers to the first staged line that the action conflicts with, counted from 1.

        The result is empty if the conflict is not in lines.
        """
        sides = (conflict.before, conflict.staged, conflict.after)
        if any(entry is None or entry.mode not in PLAIN_MODES for entry in sides):
            return {}
        before, staged, after = (self._workspace.read(entry) or b"" for entry in sides)
        positions = self.positions_of(conflict.path)
        overlap = merge_lines(before, staged, after, positions=positions)
        if not isinstance(overlap, Overlap):
            return {}
        lines = {line: line for found in overlap.ranges for line in range(found.start, found.end)}
        known = positions() if overlap.positions else {}
        # The staged line at each place at which both sides inserted a line.
        inserted = {
            place: line
            for line, place in enumerate(find_positions(staged.split(b"\n"), known))
            if place in overlap.positions
        }
        in_index = hunks(terminated(before), terminated(staged))
        found: dict[int, int] = {}
        now = conflict.before
        for change in touching:
            merged = merge_tree_entries(
                self._workspace, change.before, now, change.after, positions=positions
            )
            if merged is None:
                continue  # it fits only together with others, one of which may be found
            old, new = self._text(now), self._text(merged)
            changes = hunks(old, new)
            followed = {line: follow_line(position, changes) for line, position in lines.items()}
            changed = [follow_line(line, in_index)[0] for line in lines if followed[line][1]]
            if inserted:
                places = find_positions(changed_lines(old, new, changes), known)
                changed += [inserted[place] for place in places if place in inserted]
            if changed:
                found |= {number: min(changed) + 1 for number in change.numbers if number not in found}
            removed = removed_lines(changes)
            lines = {line: followed[line][0] for line in lines if lines[line] not in removed}
            now = merged
        return found

    def _fit_group(
        self, fit: Fit, group: CommitGroup, actions: Sequence[_ActionChanges], landing: set[str]
    ) -> None:
        useless: set[tuple[Oid, str | None]] = set()
        while True:
            contexts, base = self._find_contexts(fit.tree, actions, landing, useless)
            fitting, left, tree, todo = self._fit_actions(base, actions, landing)
            gone = {action.entry.id for action in left}
            # Context lands only together with the action that needs it.
            vain = {(oid, entry.id) for oid, entry in contexts if entry.id in gone}
            if not vain:
                break
            useless |= vain
        fit.left += left
        if not fitting:
            return
        gone = {each.id for each in group.entries} - {each.entry.id for each in fitting}
        fit.tree = tree
        for oid, entry in contexts:
            changes = tuple(self._context_changes(oid))
            fit.commits.append(FittingCommit(self._context_group(oid, entry), changes))
        within = {entry.id for entry in self._plan.entries if entry.within in gone}
        names = tuple(name for name in group.names if name not in gone | within)
        landing.update(names)
        kept = tuple(each.entry for each in fitting)
        fit.commits.append(FittingCommit(replace(group, entries=kept, names=names), tuple(todo)))

    def _find_contexts(
        self,
        tree: Oid | None,
        actions: Sequence[_ActionChanges],
        landing: Collection[str],
        useless: Collection[tuple[Oid, str | None]],
    ) -> tuple[list[tuple[Oid, LogEntry]], Oid | None]:
        """Find the lane's context commits that must land too, so that more actions fit.

        Return (context commit, action that needs it) pairs, and the tree with these commits. `useless`:
        (context commit, action id) pairs that are not tried.
        """
        found: list[tuple[Oid, LogEntry]] = []
        tried: set[Oid] = set()
        while self._plan.with_context:
            _, left, _, _ = self._fit_actions(tree, actions, landing)
            wanted = ((o.context, action.entry) for action in left for o in action.obstacles)
            new = (
                (oid, entry)
                for oid, entry in wanted
                if oid is not None and oid not in tried and (oid, entry.id) not in useless
            )
            context = next(new, None)
            if context is None:
                break
            tried.add(context[0])
            entries = self._merge(tree, self._context_changes(context[0]))
            if isinstance(entries, dict) and entries:
                tree = self._workspace.splice(tree, entries)
                found.append(context)
        return found, tree

    def _fit_actions(
        self, tree: Oid | None, actions: Sequence[_ActionChanges], landing: Collection[str]
    ) -> tuple[list[_ActionChanges], list[LeftAction], Oid | None, list[PathChange]]:
        """Split the actions into those that fit on this tree, and those that do not.

        Return both lists, the resulting tree, and the changes that lead to it. Changes that the branch
        already has are left out.

        If changes of one file conflict one by one, they are joined, because a later action may have undone
        the conflicting part. Other changes are not joined: joining loses the removal of a line that one
        change added and a later one removed.
        """
        changes = self._todo(actions)
        entries = self._merge(tree, changes)
        if isinstance(entries, list):
            present = {conflict.change for conflict in entries if self._is_present(conflict)}
            new = [change for change in changes if change not in present]
            again = self._merge(tree, new) if present else entries
            if isinstance(again, dict):
                changes, entries = new, again
            else:
                changes = join_changes(changes, {conflict.change.path for conflict in entries})
                entries = self._merge(tree, changes)
        if isinstance(entries, dict):
            return list(actions), [], self._workspace.splice(tree, entries) if entries else tree, changes
        fitting: list[_ActionChanges] = []
        left: list[LeftAction] = []
        known = set(landing)
        for each in actions:
            todo = [change for change in each.changes if change not in self._applied]
            entries = self._merge(tree, todo)
            if isinstance(entries, list):
                conflicts = [conflict for conflict in entries if not self._is_present(conflict)]
                if conflicts:
                    left.append(LeftAction(each.entry, self._find_obstacles(each.entry, conflicts, known)))
                    continue
                present = {conflict.change for conflict in entries}
                todo = [change for change in todo if change not in present]
                again = self._merge(tree, todo)
                entries = again if isinstance(again, dict) else {}
            tree = self._workspace.splice(tree, entries) if entries else tree
            fitting.append(_ActionChanges(each.entry, tuple(todo)))
            known.add(each.entry.id or "")
        return fitting, left, tree, self._todo(fitting)

    def _merge(
        self, tree: Oid | None, changes: Sequence[PathChange]
    ) -> dict[RepoPath, TreeEntry | None] | list[PathConflict]:
        return merge_changes(self._workspace, tree, changes, self._plan.disk, self.positions_of)

    def _find_obstacles(
        self, entry: LogEntry, conflicts: Sequence[PathConflict], landing: Collection[str]
    ) -> tuple[Obstacle, ...]:
        found = [each for conflict in conflicts for each in self._finder.find(entry, conflict, landing)]
        return tuple(dict.fromkeys(found))

    def _is_present(self, conflict: PathConflict) -> bool:
        """Whether the branch already has the change, alone or together with later changes of the lane."""
        change, ours = conflict.change, conflict.ours
        if ours is None:
            return False
        positions = self.positions_of(change.path)
        return any(
            after != change.before
            and merge_tree_entries(self._workspace, change.before, ours, after, positions=positions) == ours
            for after in self._find_versions_in(ours, change)
        )

    def _find_versions_in(self, ours: TreeEntry, first: PathChange) -> Iterator[TreeEntry | None]:
        """Yield the versions of the file after the change `first` whose new lines are all in `ours`.

        A line is new if `first` or a later change added it, and no change removed it again. Lines are
        compared by text: one merge for each version would take minutes on a long lane.
        """
        present = set(split_lines(self._text(ours)))
        missing: Counter[bytes] = Counter()
        more = 0  # how many of these texts were added more often than removed
        changes = self._by_path[first.path]
        start = changes.index(first) if first in changes else len(changes)
        lines = self._changed_lines(first.path)
        for index in range(start, len(changes)):
            added, removed = lines[index]
            for line in added:
                if line not in present:
                    missing[line] += 1
                    more += missing[line] == 1
            for line in removed:
                if line not in present:
                    more -= missing[line] == 1
                    missing[line] -= 1
            if index > start and not more:
                yield changes[index].after

    def _changed_lines(self, path: RepoPath) -> list[tuple[list[bytes], list[bytes]]]:
        if path not in self._lines:
            self._lines[path] = []
            for change in self._by_path[path]:
                old, new = self._text(change.before), self._text(change.after)
                found = hunks(old, new)
                before, after = split_lines(old), split_lines(new)
                added = [line for hunk in found for line in after[hunk.after_start : hunk.after_end]]
                removed = [line for hunk in found for line in before[hunk.before_start : hunk.before_end]]
                self._lines[path].append((added, removed))
        return self._lines[path]

    def _text(self, entry: TreeEntry | None) -> bytes:
        """The content of a file, with a newline at its end; empty for a link."""
        plain = entry is not None and entry.mode in PLAIN_MODES
        return terminated(self._workspace.read(entry) or b"") if plain else b""

    def _todo(self, actions: Sequence[_ActionChanges]) -> list[PathChange]:
        flat = [change for each in actions for change in each.changes]
        return [change for change in flat if change not in self._applied]

    def _context_changes(self, context: Oid) -> list[PathChange]:
        return [replace(change, numbers=()) for change in commit_changes(self._workspace, 0, context)]

    def _context_group(self, context: Oid, entry: LogEntry) -> CommitGroup:
        values = parse_contexts(self._workspace.store.read_commit(context).message)
        return CommitGroup(
            contexts=values, subject=shorten(f"Add the lines that {entry.summary!r} builds on")
        )

    def _read_changes(self, group: CommitGroup) -> list[_ActionChanges]:
        """The changes of each action of a group, or only those of the chosen hunks."""
        found = [
            _ActionChanges(entry, tuple(self._commit_changes(entry.n, entry.commit)))
            for entry in group.entries
            if entry.n is not None and entry.commit
        ]
        flat = [change for each in found for change in each.changes]
        restored = iter(restore_sparse_paths(self._workspace, self._plan.lane.base, flat))
        return [_ActionChanges(each.entry, tuple(islice(restored, len(each.changes)))) for each in found]

    def _commit_changes(self, number: int, commit: Oid) -> list[PathChange]:
        changes = commit_changes(self._workspace, number, commit)
        part = self._plan.part
        if part is None:
            return changes
        return [replace(change, after=part[change.path]) for change in changes if change.path in part]
