"""Whose part of the change is it: the steps that lead from the timeline to the disk.

Receives the actions that name some paths, oldest first, and what is different on disk. Gives the steps to
record, in order: what nobody claims before an action, then the action's own edits. What is left after the
last action is nobody's yet, and is left for the next look. Never records, never invents bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from chorus.changes.client_text import is_alike, read_text
from chorus.changes.reported_edits import NO_REPORT, ReportedEdit, reported_edit, text_after
from chorus.changes.split import ChangePart, split, writing_order
from chorus.history.records import Edit
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.action import Action, FileReport
from chorus.model.ids import RepoPath
from chorus.store.objects.trees import FILE_MODE, TreeEntry

# One action, of which nothing is told: all that changed is its own, whatever the bytes are.
WHOLE = ChangePart(0, None)


@dataclass(frozen=True, slots=True)
class RecordStep:
    """The edits of one record. `action` is an index; None: outside."""

    action: int | None
    edits: tuple[Edit, ...]


@dataclass(slots=True)
class Attribution:
    steps: list[RecordStep] = field(default_factory=list)
    # Actions whose change could not be told apart, by the index of the action that has it.
    contained: dict[int, int] = field(default_factory=dict)

    @property
    def outside(self) -> set[RepoPath]:
        """The paths of which a part is nobody's."""
        return {edit.path for step in self.steps if step.action is None for edit in step.edits}


@dataclass(frozen=True, slots=True)
class SharedPath:
    """One path, what is known of it, and the actions that name it."""

    path: RepoPath
    before: TreeEntry | None
    after: TreeEntry | None
    actions: tuple[int, ...]
    claims: tuple[ReportedEdit, ...]
    busy: bool = False  # a call that is not over names it too


def attribute(workspace: Workspace, count: int, paths: Iterable[SharedPath]) -> Attribution:
    """`count` actions, each path with those among them that name it."""
    result = Attribution()
    chains = [chain for path in paths if (chain := _chain(workspace, path, result))]
    for index in range(count):
        ahead: list[Edit] = []
        own: list[Edit] = []
        for chain in chains:
            _advance(chain, index, ahead, own)
        if ahead:
            result.steps.append(RecordStep(None, tuple(ahead)))
        if own:
            result.steps.append(RecordStep(index, tuple(own)))
            result.contained = {a: b for a, b in result.contained.items() if a != index}
    return result


def find_order(workspace: Workspace, count: int, paths: Iterable[SharedPath]) -> list[int]:
    """The actions, by index, in the order in which they wrote the files they share."""
    order = list(range(count))
    for shared in paths:
        if len(shared.actions) > 1 and _is_text(shared.before) and _is_text(shared.after):
            before, after = (workspace.read(entry) for entry in (shared.before, shared.after))
            written = writing_order(before, after, shared.claims)
            slots = [order.index(action) for action in shared.actions]
            for slot, place in zip(sorted(slots), written, strict=True):
                order[slot] = shared.actions[place]
    return order


def is_undoing(step: RecordStep, earlier: Sequence[RecordStep]) -> bool:
    """Whether a step takes each of its files back to what it was before one of the earlier steps."""
    known = {(edit.path, edit.before) for past in earlier for edit in past.edits}
    return all((edit.path, edit.after) in known for edit in step.edits)


def claims_about(action: Action, path: RepoPath, locate: Callable[[str], RepoPath | None]) -> ReportedEdit:
    """What the action's report says of a path."""
    files: tuple[FileReport, ...] = action.report.files if action.report else ()
    return reported_edit(action, next((file for file in files if locate(file.path) == path), None))


def claims_a_change(claim: ReportedEdit) -> bool:
    """Whether the client says that something was changed, for an action of which nothing is found."""
    if claim == NO_REPORT:
        return False
    return claim.created or text_after(claim, claim.before) != claim.before


@dataclass(slots=True)
class _Chain:
    """The edits of one path, each with the action it belongs to, in order."""

    edits: list[tuple[int | None, Edit]]


def _advance(chain: _Chain, index: int, ahead: list[Edit], own: list[Edit]) -> None:
    """Move this action's edit, and what lies before it, from the chain to the step."""
    owners = [owner for owner, _ in chain.edits]
    if index not in owners:
        return
    place = owners.index(index)
    ahead += [edit for _, edit in chain.edits[:place]]
    own += [edit for _, edit in [chain.edits[place]] if edit.before != edit.after]
    del chain.edits[: place + 1]


def _chain(workspace: Workspace, shared: SharedPath, result: Attribution) -> _Chain | None:
    pieces = _pieces(workspace, shared) if _is_text(shared.before) and _is_text(shared.after) else None
    last = shared.actions[-1]
    if pieces is None:
        result.contained |= dict.fromkeys(shared.actions[:-1], last)
        return _Chain([(last, Edit(shared.path, shared.before, shared.after))])
    edits: list[tuple[int | None, Edit]] = []
    now = shared.before
    for place, piece in enumerate(pieces):
        entry = _entry(workspace, shared, piece, is_last=place == len(pieces) - 1)
        owner = None if piece.claim is None else shared.actions[piece.claim]
        edits.append((owner, Edit(shared.path, now, entry)))
        now = entry
    return _Chain(edits)


def _pieces(workspace: Workspace, shared: SharedPath) -> tuple[ChangePart, ...] | None:
    if shared.claims == (NO_REPORT,):
        return (WHOLE,) if shared.before != shared.after else ()
    before, after = (workspace.read(entry) for entry in (shared.before, shared.after))
    if shared.before != shared.after:
        return split(before, after, shared.claims, busy=shared.busy)
    # Nothing is different on disk: only an action that started from just this can have come and gone.
    first = shared.claims[0]
    if before is None or first.before is None or not is_alike(first.before, read_text(before)):
        return ()
    return split(before, after, shared.claims) or ()


def _entry(workspace: Workspace, shared: SharedPath, piece: ChangePart, *, is_last: bool) -> TreeEntry | None:
    """The mode changes with the last piece: nothing tells who changed it."""
    if piece is WHOLE:
        return shared.after
    if is_last and piece.after == workspace.read(shared.after):
        return shared.after
    if piece.after is None:
        return None
    known = shared.before or shared.after
    return TreeEntry(known.mode if known else FILE_MODE, workspace.store.write_blob(piece.after))


def _is_text(entry: TreeEntry | None) -> bool:
    return entry is None or entry.mode in PLAIN_MODES


def sharing(
    actions: Sequence[Action], named: Sequence[Sequence[RepoPath]]
) -> dict[RepoPath, tuple[int, ...]]:
    """The actions that name each path, by index."""
    found: dict[RepoPath, tuple[int, ...]] = {}
    for index, _ in enumerate(actions):
        for path in dict.fromkeys(named[index]):
            found[path] = (*found.get(path, ()), index)
    return found
