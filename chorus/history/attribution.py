"""Decide which action made which part of what changed on disk.

Receives the actions that name some paths, oldest first, and the edits found there. Gives the steps to
record, in order: what no action reports, as outside, then each action's own edits. What is left after the
last action has no owner yet and is left for the next observation. Never records, never invents bytes.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from chorus.changes.client_text import is_same_text, read_text
from chorus.changes.reported_edits import NO_REPORT, ReportedEdit, reported_edit, text_after
from chorus.changes.split import ChangePart, is_overwritten, split_change, writing_order
from chorus.history.records import Edit
from chorus.history.timeline import Timeline
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.action import Action
from chorus.model.ids import RepoPath
from chorus.store.objects.trees import FILE_MODE, TreeEntry

RECORDED_OUTSIDE = "its change was recorded as outside before the call was reported"
WRITTEN_OVER = "another call wrote over it at the same time"
# How many records of a path are searched for a change that is not on disk by itself.
MAX_RECORDS_SEARCHED = 20

# One action without a report: all that changed is its own, whatever the bytes are.
WHOLE = ChangePart(0, None)


@dataclass(frozen=True, slots=True)
class RecordStep:
    """The edits of one record. `action` is an index; None: outside."""

    action: int | None
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Attribution:
    """The actions in the order in which they wrote, the paths each names, and the steps to record."""

    actions: Sequence[Action]
    paths: Sequence[Sequence[RepoPath]]
    steps: list[RecordStep] = field(default_factory=list)
    # Actions whose change cannot be separated, by index, with the action that gets it.
    contained: dict[int, int] = field(default_factory=dict)

    @property
    def outside_paths(self) -> set[RepoPath]:
        """The paths of which a part is outside."""
        return {edit.path for step in self.steps if step.action is None for edit in step.edits}


@dataclass(frozen=True, slots=True)
class SharedPath:
    """One path with its state before and after, and the actions that name it, by index."""

    path: RepoPath
    before: TreeEntry | None
    after: TreeEntry | None
    actions: tuple[int, ...]
    reports: tuple[ReportedEdit, ...]
    is_open: bool = False  # a call that has not ended names it too


class Attributor:
    def __init__(self, workspace: Workspace, timeline: Timeline) -> None:
        self._workspace = workspace
        self._timeline = timeline

    def attribute(
        self, actions: Sequence[Action], edits: Iterable[Edit], open_paths: Collection[RepoPath]
    ) -> Attribution:
        """Split the edits among these actions. `open_paths`: what calls that have not ended name."""
        changed = {edit.path: edit for edit in edits}
        named = [self._workspace.locate_all(action.paths) for action in actions]
        shared = self._shared_paths(actions, named, changed, open_paths)
        order = self._writing_order(len(actions), shared)
        if order != sorted(order):
            actions, named = [actions[index] for index in order], [named[index] for index in order]
            shared = self._shared_paths(actions, named, changed, open_paths)
        result = Attribution(actions, named)
        self._fill_steps(result, shared)
        return result

    def own_edits(self, action: Action, edits: Sequence[Edit]) -> Sequence[Edit]:
        """Select, from edits that several calls may have made, those the client reports for this action."""
        report = action.report
        if report is None or not report.complete:
            return edits
        own = set(self._workspace.locate_all(report.changed))
        return [edit for edit in edits if edit.path in own]

    def explain_missing(
        self, action: Action, paths: Sequence[RepoPath], within: str | None = None
    ) -> tuple[str | None, str | None]:
        """Why nothing is found of an action: the action whose record holds its change, or a reason.

        Both are None where the client reports no change either.
        """
        changed = self._reported_as_changed(action, paths)
        lost = [path for path in changed if self._is_missing(action, path, self._timeline.entry(path))]
        within = within or next((self._holder(action, path) for path in changed if path not in lost), None)
        if within:
            return within, None
        return None, WRITTEN_OVER if lost else RECORDED_OUTSIDE if changed else None

    def _shared_paths(
        self,
        actions: Sequence[Action],
        named: Sequence[Sequence[RepoPath]],
        changed: dict[RepoPath, Edit],
        open_paths: Collection[RepoPath],
    ) -> list[SharedPath]:
        owners: dict[RepoPath, tuple[int, ...]] = {}
        for index, paths in enumerate(named):
            for path in dict.fromkeys(paths):
                owners[path] = (*owners.get(path, ()), index)
        found = []
        for path in dict.fromkeys((*owners, *changed)):
            own = owners.get(path, (len(actions) - 1,))
            reports = tuple(report_about(actions[index], path, self._workspace.locate) for index in own)
            same = self._timeline.entry(path)
            edit = changed.get(path, Edit(path, same, same))
            found.append(SharedPath(path, edit.before, edit.after, own, reports, path in open_paths))
        return found

    def _writing_order(self, count: int, paths: Iterable[SharedPath]) -> list[int]:
        """The actions, by index, in the order in which they wrote the files they share."""
        order = list(range(count))
        for shared in paths:
            if len(shared.actions) > 1 and _is_plain(shared.before) and _is_plain(shared.after):
                before, after = (self._workspace.read(entry) for entry in (shared.before, shared.after))
                written = writing_order(before, after, shared.reports)
                slots = [order.index(action) for action in shared.actions]
                for slot, written_index in zip(sorted(slots), written, strict=True):
                    order[slot] = shared.actions[written_index]
        return order

    def _fill_steps(self, result: Attribution, paths: Iterable[SharedPath]) -> None:
        chains = [self._edits_of_path(path, result) for path in paths]
        for index in range(len(result.actions)):
            outside: list[Edit] = []
            own: list[Edit] = []
            for chain in chains:
                _take_edits(chain, index, outside, own)
            if outside:
                result.steps.append(RecordStep(None, tuple(outside)))
            if own:
                result.steps.append(RecordStep(index, tuple(own)))
                result.contained.pop(index, None)

    def _edits_of_path(self, shared: SharedPath, result: Attribution) -> list[tuple[int | None, Edit]]:
        """The edits of one path in order, each with the action it belongs to."""
        parts = self._parts(shared) if _is_plain(shared.before) and _is_plain(shared.after) else None
        if parts is None:
            last = shared.actions[-1]
            result.contained.update(dict.fromkeys(shared.actions[:-1], last))
            return [(last, Edit(shared.path, shared.before, shared.after))]
        edits: list[tuple[int | None, Edit]] = []
        now = shared.before
        for index, part in enumerate(parts):
            entry = self._entry_after(shared, part, is_last=index == len(parts) - 1)
            owner = None if part.report is None else shared.actions[part.report]
            edits.append((owner, Edit(shared.path, now, entry)))
            now = entry
        return edits

    def _parts(self, shared: SharedPath) -> tuple[ChangePart, ...] | None:
        if shared.reports == (NO_REPORT,):
            return (WHOLE,) if shared.before != shared.after else ()
        before, after = (self._workspace.read(entry) for entry in (shared.before, shared.after))
        if shared.before != shared.after:
            return split_change(before, after, shared.reports, is_open=shared.is_open)
        # Nothing differs on disk: only an action that started from exactly this content can have been undone.
        first = shared.reports[0]
        if before is None or first.before is None or not is_same_text(first.before, read_text(before)):
            return ()
        return split_change(before, after, shared.reports) or ()

    def _entry_after(self, shared: SharedPath, part: ChangePart, *, is_last: bool) -> TreeEntry | None:
        """The file after one part. A mode change goes to the last part: nothing shows who made it."""
        if part is WHOLE:
            return shared.after
        if is_last and part.after == self._workspace.read(shared.after):
            return shared.after
        if part.after is None:
            return None
        known = shared.before or shared.after
        return TreeEntry(known.mode if known else FILE_MODE, self._workspace.store.write_blob(part.after))

    def _reported_as_changed(self, action: Action, paths: Sequence[RepoPath]) -> list[RepoPath]:
        """The paths for which the client reports a change although the disk shows none."""
        if action.status != "succeeded":
            return []
        locate = self._workspace.locate
        return [path for path in paths if reports_change(report_about(action, path, locate))]

    def _is_missing(self, action: Action, path: RepoPath, entry: TreeEntry | None) -> bool:
        """Whether the change reported for a path is surely not in this state of the file."""
        content = self._workspace.read(entry) if _is_plain(entry) else None
        return is_overwritten(content, report_about(action, path, self._workspace.locate))

    def _holder(self, action: Action, path: RepoPath) -> str | None:
        """The action whose record also has this one's change; None: an outside record has it."""
        newest: str | None = None
        for recorded in islice(self._timeline.touching(path), MAX_RECORDS_SEARCHED):
            newest = newest or recorded.record.action
            before = next(edit.before for edit in self._timeline.edits(recorded) if edit.path == path)
            if self._is_missing(action, path, before):
                return recorded.record.action
        return newest


def undoes(step: RecordStep, earlier: Sequence[RecordStep]) -> bool:
    """Whether a step returns each of its files to the state before one of the earlier steps."""
    known = {(edit.path, edit.before) for past in earlier for edit in past.edits}
    return all((edit.path, edit.after) in known for edit in step.edits)


def report_about(action: Action, path: RepoPath, locate: Callable[[str], RepoPath | None]) -> ReportedEdit:
    """What the client reports of an action's change to one path."""
    files = action.report.files if action.report else ()
    return reported_edit(action, next((file for file in files if locate(file.path) == path), None))


def reports_change(report: ReportedEdit) -> bool:
    if report == NO_REPORT:
        return False
    return report.created or text_after(report, report.before) != report.before


def _take_edits(
    chain: list[tuple[int | None, Edit]], index: int, outside: list[Edit], own: list[Edit]
) -> None:
    """Move this action's edit from the chain to `own`, and all edits before it to `outside`."""
    owners = [owner for owner, _ in chain]
    if index not in owners:
        return
    end = owners.index(index)
    outside += [edit for _, edit in chain[:end]]
    own += [edit for _, edit in [chain[end]] if edit.before != edit.after]
    del chain[: end + 1]


def _is_plain(entry: TreeEntry | None) -> bool:
    """Whether it is a regular file, or no file at all."""
    return entry is None or entry.mode in PLAIN_MODES
