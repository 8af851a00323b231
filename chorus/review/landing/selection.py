"""Select the actions of a lane to land, or some hunks of one action."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from chorus.errors import UsageError
from chorus.history.lanes.lane_change import lane_entry, merge_tree_entries
from chorus.history.lanes.lanes import Lane
from chorus.history.log.entry import LogEntry
from chorus.history.log.lookup import find_entry, find_turn
from chorus.history.recorder import Recorder
from chorus.history.workspace import Workspace
from chorus.model.ids import RepoPath
from chorus.review.landing.merge import tree_of
from chorus.review.landing.messages import NO_MESSAGES, CommitMessages
from chorus.review.landing.target import NothingToLand
from chorus.review.revert.file_content import Content, read_stored
from chorus.review.revert.hunks import list_hunks, revert_hunks, select_hunks
from chorus.store.objects.trees import TreeEntry

# Actions with one of these statuses land only if the user names them.
LEFT_OUT = ("reverted", "undone")


@dataclass(frozen=True, slots=True)
class LandingRequest:
    """What the user asks to land. Without actions and turns: all actions that are still to land."""

    lane: str
    by: str = "turn"
    onto: str | None = None
    messages: CommitMessages = NO_MESSAGES
    actions: Sequence[str] = ()
    turns: Sequence[str] = ()
    kept: bool = False
    hunks: Sequence[int] = ()
    with_context: bool = False
    fixup: str | None = None
    dry_run: bool = False  # nothing is written, not even a mark


def select_actions(
    entries: Sequence[LogEntry], lane: Lane, request: LandingRequest, landed: Collection[str]
) -> tuple[list[LogEntry], list[int]]:
    """The actions to land, oldest first, and the numbers of named actions that the branch already has."""
    if request.actions and (request.turns or request.kept):
        raise UsageError("actions cannot be combined with --turn or --kept", hint="Leave one out.")
    own = [e for e in entries if e.lane == lane.name and e.timeline and e.within is None and e.n is not None]
    if request.actions:
        found = [_find_on_lane(entries, own, lane, name) for name in request.actions]
        already = [entry.n for entry in found if entry.id in landed and entry.n is not None]
        chosen = [entry for entry in found if entry.id not in landed]
    else:
        turns = {find_turn(entries, turn) for turn in request.turns}
        already = []
        chosen = [
            entry
            for entry in find_unlanded(own, landed)
            if (not turns or entry.turn in turns) and (not request.kept or entry.status == "kept")
        ]
    if not request.hunks:
        chosen += _partial_reverts(own, chosen, landed)
    by_number = {entry.n: entry for entry in chosen if entry.n is not None}
    return [by_number[number] for number in sorted(by_number)], already


def find_unlanded(entries: Sequence[LogEntry], landed: Collection[str]) -> list[LogEntry]:
    """The entries of one lane that are still to land.

    Reverted and undone actions are left out. So is a revert if none of the reverted actions has
    landed.
    """
    own = {entry.id for entry in entries}
    return [
        entry
        for entry in entries
        if entry.id not in landed
        and entry.status not in LEFT_OUT
        and not (entry.reverts and all(name in own and name not in landed for name in entry.reverts))
    ]


def select_part(
    recorder: Recorder, chosen: Sequence[LogEntry], hunks: Sequence[int]
) -> dict[RepoPath, TreeEntry | None]:
    """Return the action's files as they would be on its lane if the action had made only these hunks."""
    if chosen[1:]:
        raise UsageError("hunks can be chosen from one action only", hint="Give one action.")
    (entry,) = chosen
    assert entry.id is not None
    assert entry.commit is not None
    recorded = recorder.timeline.find_action(entry.id)
    assert recorded is not None
    workspace = recorder.workspace
    listed = list_hunks(recorder, recorded)
    wanted = {hunk.number for hunk in select_hunks(listed, hunks)}
    lane_tree = tree_of(workspace, workspace.store.read_commit(entry.commit).first_parent)
    part: dict[RepoPath, TreeEntry | None] = {}
    for edit in recorder.timeline.edits(recorded):
        own = [hunk for hunk in listed if hunk.path == edit.path]
        if wanted.isdisjoint(hunk.number for hunk in own):
            continue
        before, after = read_stored(recorder, edit.before), read_stored(recorder, edit.after)
        content = revert_hunks(before, after, [hunk for hunk in own if hunk.number not in wanted])
        raw = _write_content(workspace, content)
        base, new = workspace.normal(edit.path, edit.before), workspace.normal(edit.path, raw)
        ours = lane_entry(workspace, lane_tree, edit.path)
        positions = recorder.lanes.lines.at_edit(edit, recorded)
        part[edit.path] = (
            new if ours == base else merge_tree_entries(workspace, base, ours, new, positions=positions)
        )
    return part


def _find_on_lane(entries: Sequence[LogEntry], own: Sequence[LogEntry], lane: Lane, name: str) -> LogEntry:
    """Return the named action, or the action whose record holds its change.

    Raises NothingToLand if the change is not on this lane.
    """
    entry = find_entry(entries, name)
    found = next((e for e in own if e.id == (entry.within or entry.id)), None)
    if found is not None:
        return found
    if entry.lane is None:
        raise NothingToLand(
            f"action {entry.n} changed nothing ({entry.status})",
            hint=f"Run `chorus log --lane {lane.name}` to list the actions of the lane.",
        )
    raise NothingToLand(
        f"action {entry.n} is on {entry.lane}, not on {lane.name}",
        hint=f"Land it from its own lane: `chorus land {entry.lane} {entry.n}`.",
    )


def _partial_reverts(
    own: Sequence[LogEntry], chosen: Sequence[LogEntry], landed: Collection[str]
) -> list[LogEntry]:
    """The reverts that undid only some hunks of the chosen actions. Those hunks must not land."""
    names = {entry.id for entry in chosen}
    return [
        entry
        for entry in own
        if names.intersection(entry.reverts_part) and entry.status not in LEFT_OUT and entry.id not in landed
    ]


def _write_content(workspace: Workspace, content: Content | None) -> TreeEntry | None:
    return None if content is None else TreeEntry(content.mode, workspace.store.write_blob(content.data))
