"""Changes given to the actions that made them, and recorded.

Receives actions and what was seen on disk. Puts each action's own edits on timeline and lane, what nobody
claims before them as outside, and notes the calls for which nothing is left. The caller holds the lock.
Never gives one edit to two actions.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from chorus.changes.split import is_overwritten
from chorus.history.attribution import (
    Attribution,
    SharedPath,
    attribute,
    claims_a_change,
    claims_about,
    find_order,
    is_undoing,
    sharing,
)
from chorus.history.journal import Journal
from chorus.history.observation import DiskChanges, Observer, render_omitted
from chorus.history.records import Edit
from chorus.history.workspace import PLAIN_MODES
from chorus.model.action import Action
from chorus.model.ids import RepoPath
from chorus.store.objects.trees import TreeEntry
from chorus.store.worktree.file_state import SkipReason

OTHERS_RAN = "other calls ran at the same time"
RECORDED_OUTSIDE = "its change was recorded as outside before it was told of"
WRITTEN_OVER = "another call wrote over it at the same time"
# How far back to look for the record that has a change which is not on disk alone.
RECORDS_LOOKED_AT = 20


class Attributor:
    def __init__(self, journal: Journal, observing: Observer) -> None:
        self._journal = journal
        self._workspace = journal.workspace
        self._observing = observing
        self._said: set[str] = set()

    def record_named_paths(
        self,
        actions: Sequence[Action],
        source: str | None,
        open_paths: Collection[RepoPath] = (),
        *,
        wait_for_open_calls: bool = False,
    ) -> bool:
        """Record actions that are not recorded yet and write only the paths they name.

        `busy`: paths that calls which are not over name too. `patient`: what lies before these actions at
        such a path may be such a call's; then nothing is recorded, and False is the answer.
        """
        actions = self._without_contained(actions, source)
        everywhere = (path for action in actions for path in self._observing.locate(action.paths))
        seen = self._observing.observe(list(dict.fromkeys(everywhere)))
        actions, named, result = self._attribute(actions, seen, open_paths)
        if wait_for_open_calls and not result.outside.isdisjoint(open_paths):
            return False
        done = self._append(actions, named, seen, result, source)
        for index, action in enumerate(actions):
            if index not in done:
                holder = result.contained.get(index)
                within = actions[holder].id if holder in done else None
                skipped = self._skipped(action, named[index], seen)
                self.note(action, source, skipped=skipped, within=within, paths=named[index])
        return True

    def _append(
        self,
        actions: Sequence[Action],
        named: Sequence[Sequence[RepoPath]],
        seen: DiskChanges,
        result: Attribution,
        source: str | None,
    ) -> set[int]:
        """Put the steps on the timeline; the actions, by index, that got a record."""
        done: set[int] = set()
        for place, step in enumerate(result.steps):
            if step.action is None:
                undone = is_undoing(step, result.steps[:place])
                self._journal.append_outside(step.edits, WRITTEN_OVER if undone else None)
                continue
            done.add(step.action)
            action = actions[step.action]
            inside = [actions[a].id for a, b in result.contained.items() if b == step.action]
            skipped = self._skipped(action, named[step.action], seen)
            self._journal.append_action(action, step.edits, source=source, skipped=skipped, contained=inside)
        return done

    def _attribute(
        self, actions: Sequence[Action], seen: DiskChanges, open_paths: Collection[RepoPath]
    ) -> tuple[Sequence[Action], list[list[RepoPath]], Attribution]:
        """Whose part is whose, with the actions in the order in which they wrote."""
        named = [self._observing.locate(action.paths) for action in actions]
        paths = self._shared_paths(actions, sharing(actions, named), seen, open_paths)
        order = find_order(self._workspace, len(actions), paths)
        if order != sorted(order):
            actions, named = [actions[index] for index in order], [named[index] for index in order]
            paths = self._shared_paths(actions, sharing(actions, named), seen, open_paths)
        return actions, named, attribute(self._workspace, len(actions), paths)

    def record_window(self, action: Action, seen: DiskChanges, source: str | None, *, shared: bool) -> None:
        """Record what was seen to have moved while an action ran. `shared`: others ran too."""
        edits = self._part_of(action, seen.edits) if shared else seen.edits
        skipped = self._news(seen)
        if edits:
            reason = OTHERS_RAN if shared else None
            self._journal.append_action(action, edits, source=source, skipped=skipped, reason=reason)
        else:
            self.note(action, source, skipped=skipped)

    def _without_contained(self, actions: Sequence[Action], source: str | None) -> list[Action]:
        """Note those whose change a record already holds: its writer died before it could say so."""
        rest = []
        for action in actions:
            holder = self._journal.timeline.find_action(action.id)
            if holder is None:
                rest.append(action)
            else:
                self.note(action, source, within=holder.record.action)
        return rest

    def _shared_paths(
        self,
        actions: Sequence[Action],
        owners: Mapping[RepoPath, tuple[int, ...]],
        seen: DiskChanges,
        open_paths: Collection[RepoPath],
    ) -> list[SharedPath]:
        changed = {edit.path: edit for edit in seen.edits}
        found = []
        for path in dict.fromkeys((*owners, *changed)):
            who = owners.get(path, (len(actions) - 1,))
            claims = tuple(claims_about(actions[index], path, self._workspace.locate) for index in who)
            same = self._journal.timeline.entry(path)
            edit = changed.get(path, Edit(path, same, same))
            found.append(SharedPath(path, edit.before, edit.after, who, claims, path in open_paths))
        return found

    def _part_of(self, action: Action, edits: Sequence[Edit]) -> Sequence[Edit]:
        """Of changes that several may have made, those the client says this action made."""
        report = action.report
        if report is None or not report.complete:
            return edits
        own = set(self._observing.locate(report.changed))
        return [edit for edit in edits if edit.path in own]

    def note(
        self,
        action: Action,
        source: str | None,
        *,
        skipped: Sequence[str] = (),
        within: str | None = None,
        paths: Sequence[RepoPath] = (),
    ) -> None:
        """Remember a call that changed nothing, or nothing that another's record does not hold."""
        paths = paths or self._observing.locate(action.paths)
        changed = self._claimed_to_change(action, paths)
        lost = [path for path in changed if self._is_overwritten(action, path)]
        within = within or next((self._holder(action, path) for path in changed if path not in lost), None)
        status = "contained" if within else "noop" if action.status == "succeeded" else action.status
        reason = WRITTEN_OVER if lost else RECORDED_OUTSIDE if changed else None
        self._journal.append_call(
            action, status, source=source, skipped=skipped, within=within, paths=paths,
            reason=None if within else reason,
        )  # fmt: skip

    def _claimed_to_change(self, action: Action, paths: Sequence[RepoPath]) -> list[RepoPath]:
        """Where the client tells of a change, though the disk shows none."""
        if action.status != "succeeded":
            return []
        return [path for path in paths if claims_a_change(claims_about(action, path, self._workspace.locate))]

    def _is_overwritten(self, action: Action, path: RepoPath) -> bool:
        return self._is_missing(action, path, self._journal.timeline.entry(path))

    def _is_missing(self, action: Action, path: RepoPath, entry: TreeEntry | None) -> bool:
        """Whether what the action is told to have done to a file is surely not in this state of it."""
        content = self._workspace.read(entry) if entry is None or entry.mode in PLAIN_MODES else None
        return is_overwritten(content, claims_about(action, path, self._workspace.locate))

    def _holder(self, action: Action, path: RepoPath) -> str | None:
        """The action whose record has this one's change too; None: it stands in one of nobody's."""
        timeline = self._journal.timeline
        newest: str | None = None
        for recorded in islice(timeline.touching(path), RECORDS_LOOKED_AT):
            newest = newest or recorded.record.action
            before = next(edit.before for edit in timeline.edits(recorded) if edit.path == path)
            if self._is_missing(action, path, before):
                return recorded.record.action
        return newest

    def _skipped(self, action: Action, named: Collection[RepoPath], seen: DiskChanges) -> list[str]:
        """Of the paths an action names, those that are not followed, and why."""
        outside = [path for path in action.paths if self._workspace.locate(path) is None]
        omitted = [render_omitted(omitted) for omitted in seen.omitted if omitted.path in named]
        return [*(f"{path} {SkipReason.OUTSIDE.value}" for path in outside), *omitted]

    def _news(self, seen: DiskChanges) -> list[str]:
        """What a scan leaves out is said once, not after every command."""
        said = [render_omitted(omitted) for omitted in seen.omitted]
        news = [line for line in said if line not in self._said]
        self._said.update(news)
        return news
