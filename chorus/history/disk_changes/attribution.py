"""Decide which action made which part of the changes on disk.

The input is the ended calls, oldest first, and the edits found where the calls may have written. Edits made
after the last action have no known author yet; they are left for the next observation.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import NamedTuple

from chorus.changes.client_text import decode_text, is_same_text
from chorus.changes.reported_edits import NO_REPORT, ReportedEdit, reported_edit, text_after, text_before
from chorus.changes.split import (
    ChangePart,
    count_present,
    is_overwritten,
    split_change,
    split_present,
    writing_order,
)
from chorus.history.disk_changes.observation import is_named
from chorus.history.records import Edit
from chorus.history.timeline.timeline import Timeline
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.action import Action, WriteScope
from chorus.model.ids import RepoPath
from chorus.store.objects.trees import FILE_MODE, TreeEntry

RECORDED_OUTSIDE = "its change was recorded as outside before the call was reported"
WRITTEN_OVER = "another call wrote over it at the same time"
# How many records of a path are searched for the one that holds a change.
MAX_RECORDS_SEARCHED = 20

# The edits of one path in order, each with the index of its call; None: outside.
EditChain = list[tuple[int | None, Edit]]

# The part of an action that gets the whole change of a file, whatever the bytes are.
WHOLE = ChangePart(0, None)


class EndedCall(NamedTuple):
    """A call that has ended, with what is known about where and when it wrote.

    `where`: for a call that may write anywhere, the paths that changed in its window; None if any path may
    have changed. `shared`: other windows were open too. `in_window`: the call ended inside the window of
    another call.

    `is_late`: the client did not wait until the call was recorded, and may have written more by now.

    `is_announced`: the call's start was reported before it could write, and after the ends of all earlier
    calls. `since`, `until`: the call ran between these times, in seconds since 1970.
    """

    action: Action
    where: Collection[str] | None = ()
    shared: bool = False
    is_late: bool = False
    in_window: bool = False
    is_announced: bool = False
    until: float | None = None
    since: float | None = None

    @property
    def names_its_paths(self) -> bool:
        return self.action.write_scope is WriteScope.NAMED


def paths_of_calls(calls: Iterable[EndedCall]) -> list[str] | None:
    """Return the paths that these calls may have written; None if they may have written anywhere."""
    paths: list[str] = []
    for call in calls:
        if call.where is None:
            return None
        paths += [*call.action.paths, *call.where]
    return paths


@dataclass(frozen=True, slots=True)
class RecordStep:
    """The edits of one record. `action` is the index of a call; None for outside changes."""

    action: int | None
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Attribution:
    """Calls in the order in which they wrote, the paths each may have written, and the steps to record.

    `written_since`: paths that were written again after one of these calls had ended.

    `contained`: the changes of some calls cannot be separated. It maps each of these calls to the call whose
    record gets its change. Keys and values are indexes of `calls`.
    """

    calls: Sequence[EndedCall]
    paths: Sequence[Collection[RepoPath]]
    written_since: Collection[RepoPath] = ()
    steps: list[RecordStep] = field(default_factory=list)
    contained: dict[int, int] = field(default_factory=dict)

    @property
    def outside_paths(self) -> set[RepoPath]:
        return {edit.path for step in self.steps if step.action is None for edit in step.edits}

    @property
    def window_paths(self) -> set[RepoPath]:
        """The paths of all edits in `steps` by calls that may write anywhere."""
        return {edit.path for step in self._window_steps() for edit in step.edits}

    def unfinished_paths(self, changed: Iterable[Edit]) -> set[RepoPath]:
        """Return the paths whose last change is in no step. The author of that change is not known yet."""
        reached = {edit.path: edit.after for step in self.steps for edit in step.edits}
        return {edit.path for edit in changed if reached.get(edit.path, edit.before) != edit.after}

    def _window_steps(self) -> Iterable[RecordStep]:
        windows = {index for index, call in enumerate(self.calls) if not call.names_its_paths}
        return (step for step in self.steps if step.action in windows)


@dataclass(frozen=True, slots=True)
class SharedPath:
    """One path with its state before and after, and the indexes of the calls that may have changed it.

    `reports`: the client's report of each of these calls. `is_open`: an unfinished call names the path too.
    `ended_before`: some calls ended before the file was last written; these are their positions in `reports`.
    """

    path: RepoPath
    before: TreeEntry | None
    after: TreeEntry | None
    actions: tuple[int, ...]
    reports: tuple[ReportedEdit, ...]
    is_open: bool
    ended_before: tuple[int, ...]

    def first(self, count: int) -> "SharedPath":
        """Keep only the first `count` calls. `before` already has their changes, so it is `after` too."""
        ended = tuple(index for index in self.ended_before if index < count)
        actions, reports = self.actions[:count], self.reports[:count]
        return replace(self, after=self.before, actions=actions, reports=reports, ended_before=ended)

    def without_first(self, count: int) -> "SharedPath":
        """Leave out the first `count` calls, because `before` already has their changes."""
        ended = tuple(index - count for index in self.ended_before if index >= count)
        actions, reports = self.actions[count:], self.reports[count:]
        return replace(self, actions=actions, reports=reports, ended_before=ended)


class Attributor:
    def __init__(self, workspace: Workspace, timeline: Timeline) -> None:
        self._workspace = workspace
        self._timeline = timeline

    def attribute(
        self,
        calls: Sequence[EndedCall],
        edits: Iterable[Edit],
        open_paths: Collection[RepoPath] = (),
        *,
        is_ordered: bool = False,
    ) -> Attribution:
        """Split the edits among these calls. `open_paths`: the paths that unfinished calls name.

        `is_ordered`: the calls are already in the order in which they wrote, as far as that is known.
        """
        changed = {edit.path: edit for edit in edits}
        paths = [self._paths_of(call, changed) for call in calls]
        shared = self._shared_paths(calls, paths, changed, open_paths)
        order = self._writing_order(len(calls), shared)
        if order != sorted(order):
            calls, paths = [calls[index] for index in order], [paths[index] for index in order]
            shared = self._shared_paths(calls, paths, changed, open_paths)
        written_since = {one.path for one in shared if one.ended_before}
        result = Attribution(calls, paths, written_since)
        chains = [self._edits_of_path(path, result) for path in shared]
        order = _order_of_parts(len(calls), chains)
        if order != sorted(order) and not is_ordered:
            # A call that may write anywhere was reported before one that had written earlier.
            calls = [calls[index] for index in order]
            return self.attribute(calls, changed.values(), open_paths, is_ordered=True)
        _fill_steps(result, chains)
        return result

    def _paths_of(self, call: EndedCall, changed: Collection[RepoPath]) -> Collection[RepoPath]:
        """Return the paths that a call may have changed. If it names its paths, return the named ones."""
        locate_all = self._workspace.locate_all
        if call.names_its_paths:
            return locate_all(call.action.paths)
        report = call.action.report
        reported = dict.fromkeys(locate_all(report.changed)) if report is not None else {}
        if report is not None and report.complete and (call.shared or call.is_late):
            return reported
        found: Iterable[RepoPath] = changed
        if call.where is not None:
            where = set(locate_all(call.where))
            found = (path for path in changed if is_named(path, where))
        elif call.until is not None:
            # It is not known whether the call wrote a file that was written again later: leave that file out.
            found = (path for path in found if not self._is_written_after(call, path))
            if (since := call.since) is not None:
                is_written_before = self._workspace.work_tree.is_written_before
                found = (path for path in found if not is_written_before(path, since))
        return dict.fromkeys((*found, *reported))

    def _is_written_after(self, call: EndedCall, path: RepoPath) -> bool:
        """Whether the file was written after this call ended.

        False if the call names its paths, or if the time of its end is not known.
        """
        until = None if call.names_its_paths else call.until
        return until is not None and self._workspace.work_tree.is_written_after(path, until)

    def explain_missing(
        self, action: Action, paths: Sequence[RepoPath], within: str | None = None
    ) -> tuple[str | None, str | None]:
        """Explain why an action has no change of its own, as (holder, reason).

        `holder`: the action whose record has the change. It is `within` if given. Otherwise it is looked for,
        unless the call may write anywhere. `reason`: why no action's record has the change. Each may be None.
        """
        changed = self._reported_as_changed(action, paths)
        lost = [path for path in changed if self._is_missing(action, path, self._timeline.entry(path))]
        found = [path for path in changed if path not in lost]
        if action.write_scope is WriteScope.ANYWHERE:
            # The client's report of such a call may include changes by other calls.
            outside = any(self._holder(action, path) is None for path in found)
            return within, RECORDED_OUTSIDE if outside and within is None else None
        within = within or next((self._holder(action, path) for path in found), None)
        if within:
            return within, None
        return None, WRITTEN_OVER if lost else RECORDED_OUTSIDE if changed else None

    def _shared_paths(
        self,
        calls: Sequence[EndedCall],
        named: Sequence[Collection[RepoPath]],
        changed: dict[RepoPath, Edit],
        open_paths: Collection[RepoPath],
    ) -> list[SharedPath]:
        owners: dict[RepoPath, tuple[int, ...]] = {}
        for index, paths in enumerate(named):
            for path in dict.fromkeys(paths):
                owners[path] = (*owners.get(path, ()), index)
        if len(calls) > 1:
            owners = {path: self._without_denying(calls, path, own) for path, own in owners.items()}
        found = []
        # The last call that names its paths may name a former directory: it also gets the files below that.
        last = max((index for index, call in enumerate(calls) if call.names_its_paths), default=None)
        for path in dict.fromkeys((*owners, *changed)):
            own = owners.get(path, () if last is None or not is_named(path, named[last]) else (last,))
            if not own:
                continue
            reports = tuple(report_about(calls[index].action, path, self._workspace.locate) for index in own)
            same = self._timeline.entry(path)
            edit = changed.get(path, Edit(path, same, same))
            ended_before = tuple(
                n for n, index in enumerate(own) if self._is_written_after(calls[index], path)
            )
            is_open = path in open_paths
            found.append(SharedPath(path, edit.before, edit.after, own, reports, is_open, ended_before))
        return found

    def _without_denying(
        self, calls: Sequence[EndedCall], path: RepoPath, own: tuple[int, ...]
    ) -> tuple[int, ...]:
        """Remove from `own` the calls that may write anywhere, but whose complete report omits the path.

        If no call would be left, keep all.
        """
        locate_all = self._workspace.locate_all

        def denies(call: EndedCall) -> bool:
            report = None if call.names_its_paths else call.action.report
            return report is not None and report.complete and path not in locate_all(report.changed)

        return tuple(index for index in own if not denies(calls[index])) or own

    def _writing_order(self, count: int, paths: Iterable[SharedPath]) -> list[int]:
        """Return the indexes of the calls in the order in which they wrote, as far as reports show it."""
        order = list(range(count))
        for shared in paths:
            if len(shared.actions) < 2 or not (_is_plain(shared.before) and _is_plain(shared.after)):
                continue
            later = shared.without_first(self._count_recorded(shared))
            pairs = zip(later.actions, later.reports, strict=True)
            named = [(action, report) for action, report in pairs if not report.anywhere]
            if len(named) > 1:
                before, after = (self._workspace.read(entry) for entry in (shared.before, shared.after))
                written = writing_order(before, after, [report for _, report in named])
                slots = [order.index(action) for action, _ in named]
                for slot, written_index in zip(sorted(slots), written, strict=True):
                    order[slot] = named[written_index][0]
        return order

    def _edits_of_path(self, shared: SharedPath, result: Attribution) -> EditChain:
        """Return the edits of one path in order, each with its action. Also fill in `result.contained`."""
        plain = _is_plain(shared.before) and _is_plain(shared.after)
        parts = self._parts(shared, result) if plain else None
        if parts is None:
            edit = Edit(shared.path, shared.before, shared.after)
            able = [call for n, call in enumerate(shared.actions) if n not in shared.ended_before]
            if not able:
                return [(None, edit)]
            result.contained.update({call: able[-1] for call in shared.actions if call != able[-1]})
            return [(able[-1], edit)]
        edits: EditChain = []
        now = shared.before
        for index, part in enumerate(parts):
            entry = self._entry_after(shared, part, is_last=index == len(parts) - 1)
            owner = None if part.report is None else shared.actions[part.report]
            if owner is not None:
                result.contained.update({shared.actions[other]: owner for other in part.also})
            edits.append((owner, Edit(shared.path, now, entry)))
            now = entry
        return edits

    def _parts(self, shared: SharedPath, result: Attribution) -> tuple[ChangePart, ...] | None:
        if shared.before == shared.after:
            return self._recorded_parts(shared, result)
        count = self._count_recorded(shared)
        earlier = self._recorded_parts(shared.first(count), result) if count else ()
        if not earlier:
            return self._new_parts(shared, result)
        if count == len(shared.actions):
            return earlier
        later = self._new_parts(shared.without_first(count), result)
        return None if later is None else (*earlier, *(_counted_from(count, part) for part in later))

    def _count_recorded(self, shared: SharedPath) -> int:
        """Count the calls, from the first on, whose changes are in `shared.before` already.

        These calls were reported after their changes were recorded. The result is 0 if the file is unchanged.
        """
        if shared.before == shared.after:
            return 0
        return count_present(self._workspace.read(shared.before), shared.reports)

    def _new_parts(self, shared: SharedPath, result: Attribution) -> tuple[ChangePart, ...] | None:
        first, *others = shared.reports
        is_alone = not others and not shared.is_open and not shared.ended_before
        if (first == NO_REPORT and not others) or (first.anywhere and is_alone):
            return (WHOLE,)
        before, after = (self._workspace.read(entry) for entry in (shared.before, shared.after))
        if before == after:  # only the mode differs: nothing shows who changed it
            return (ChangePart(len(others), after),)
        calls = [result.calls[index] for index in shared.actions]
        in_window = [index for index, call in enumerate(calls) if call.in_window or _may_run(calls[index:])]
        return split_change(
            before,
            after,
            shared.reports,
            is_open=shared.is_open,
            in_window=in_window,
            ended_before=shared.ended_before,
        )

    def _recorded_parts(self, shared: SharedPath, result: Attribution) -> tuple[ChangePart, ...]:
        """Split a file among the actions that report changes to it. The timeline already has its content.

        Return an empty tuple if another action's record holds one of the changes, or if the changes cannot be
        separated.
        """
        changing = [index for index, report in enumerate(shared.reports) if reports_change(report)]
        content = self._workspace.read(shared.after) if changing else None
        if content is None:
            return ()
        # An action that started from exactly this content has been undone since.
        first = shared.reports[0]
        if first.before is not None and is_same_text(first.before, decode_text(content)):
            return split_change(content, content, shared.reports) or ()
        calls = [result.calls[shared.actions[index]] for index in changing]
        if any(self._holder(call.action, shared.path) for call in calls):
            return ()
        parts = split_present(content, [shared.reports[index] for index in changing]) or ()
        return tuple(
            part if part.report is None else ChangePart(changing[part.report], part.after) for part in parts
        )

    def _entry_after(self, shared: SharedPath, part: ChangePart, *, is_last: bool) -> TreeEntry | None:
        """Return the file after one part of its change. A change of the mode goes to the last part."""
        if part is WHOLE:
            return shared.after
        if is_last and part.after == self._workspace.read(shared.after):
            return shared.after
        if part.after is None:
            return None
        known = shared.before or shared.after
        return TreeEntry(known.mode if known else FILE_MODE, self._workspace.store.write_blob(part.after))

    def _reported_as_changed(self, action: Action, paths: Sequence[RepoPath]) -> list[RepoPath]:
        if action.status != "succeeded":
            return []
        locate = self._workspace.locate
        return [path for path in paths if reports_change(report_about(action, path, locate))]

    def _is_missing(self, action: Action, path: RepoPath, entry: TreeEntry | None) -> bool:
        """Return whether this state of the file lacks the reported change."""
        content = self._workspace.read(entry) if _is_plain(entry) else None
        report = report_about(action, path, self._workspace.locate)
        if report.anywhere:
            return content is None or text_before(report, decode_text(content)) is None
        return is_overwritten(content, report)

    def _holder(self, action: Action, path: RepoPath) -> str | None:
        """Return the action whose record also holds this action's change; None if no action's record does.

        Only the newest MAX_RECORDS_SEARCHED records of the path are searched.
        """
        newest: str | None = None
        before: TreeEntry | None = None
        for recorded in islice(self._timeline.touching(path), MAX_RECORDS_SEARCHED):
            newest = newest or recorded.record.action
            before = next(edit.before for edit in self._timeline.edits(recorded) if edit.path == path)
            if self._is_missing(action, path, before):
                return recorded.record.action
        # If the oldest of these records started from a file that had the change, none of them holds it.
        oldest = self._workspace.read(before) if _is_plain(before) else None
        report = report_about(action, path, self._workspace.locate)
        return newest if oldest is None or split_present(oldest, [report]) is None else None


def _counted_from(count: int, part: ChangePart) -> ChangePart:
    report = None if part.report is None else part.report + count
    return ChangePart(report, part.after, tuple(index + count for index in part.also))


def undoes(step: RecordStep, earlier: Sequence[RecordStep]) -> bool:
    """Return whether the step leaves each of its files in a state from before one of the earlier steps."""
    known = {(edit.path, edit.before) for past in earlier for edit in past.edits}
    return all((edit.path, edit.after) in known for edit in step.edits)


def report_about(action: Action, path: RepoPath, locate: Callable[[str], RepoPath | None]) -> ReportedEdit:
    files = action.report.files if action.report else ()
    return reported_edit(action, next((file for file in files if locate(file.path) == path), None))


def reports_change(report: ReportedEdit) -> bool:
    if report.anywhere:
        return bool(report.hunks) or report.deleted
    if report == NO_REPORT:
        return False
    return report.created or text_after(report, report.before) != report.before


def _may_run(calls: Sequence[EndedCall]) -> bool:
    """Whether a later call may have been running when the first one ended."""
    return any(not call.names_its_paths and not call.is_announced for call in calls[1:])


def _order_of_parts(count: int, chains: Sequence[EditChain]) -> list[int]:
    """Return the indexes of the calls in the order of their edits in the chains.

    If two chains contradict each other, all calls keep their order.
    """
    earlier: dict[int, set[int]] = {index: set() for index in range(count)}
    for chain in chains:
        owners = list(dict.fromkeys(owner for owner, _ in chain if owner is not None))
        for before, after in pairwise(owners):
            earlier[after].add(before)
    order: list[int] = []
    while len(order) < count:
        free = next((i for i in range(count) if i not in order and earlier[i].issubset(order)), None)
        if free is None:
            return list(range(count))
        order.append(free)
    return order


def _fill_steps(result: Attribution, chains: Sequence[EditChain]) -> None:
    for index in range(len(result.calls)):
        outside: list[Edit] = []
        own: list[Edit] = []
        for chain in chains:
            _take_edits(chain, index, outside, own)
        if outside:
            result.steps.append(RecordStep(None, tuple(outside)))
        if own:
            result.steps.append(RecordStep(index, tuple(own)))
            result.contained.pop(index, None)


def _take_edits(chain: EditChain, index: int, outside: list[Edit], own: list[Edit]) -> None:
    """Move this action's edit from the chain to `own`, and all edits before it to `outside`."""
    owners = [owner for owner, _ in chain]
    if index not in owners:
        return
    end = owners.index(index)
    outside += [edit for _, edit in chain[:end]]
    own += [edit for _, edit in [chain[end]] if edit.before != edit.after]
    del chain[: end + 1]


def _is_plain(entry: TreeEntry | None) -> bool:
    return entry is None or entry.mode in PLAIN_MODES
