"""Landing: what a lane's actions did, as clean commits on a branch of the user's.

Receives a lane. `plan_landing` gives the groups of actions that become one commit each; reverted actions and
their reverts fold away. `apply_landing` makes the commits, all or none. Never writes to the work tree; of the
user's index it changes landed paths only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from chorus.core.ids import Oid, RepoPath
from chorus.errors import ChorusError, ExitCode, NothingThere, UsageError
from chorus.git.committing import Branch, read_index, update_index
from chorus.git.refs import OWN_PREFIXES
from chorus.git.trees import EMPTY_TREE, Entry
from chorus.lanes.carrying import Misfit, Step, carry, find_present, join_steps, steps_of
from chorus.lanes.entries import LogEntry
from chorus.lanes.landing_words import render_landed
from chorus.lanes.lanes import HEADS, Lane
from chorus.lanes.recorder import Recorder
from chorus.lanes.site import Site

By = Literal["turn", "action", "all"]


class LandConflict(ChorusError):
    """The branch, or the user's index, holds something else in the same place. Nothing was changed."""

    exit_code = ExitCode.CONFLICT


class NothingToLand(NothingThere):
    hint = "`chorus lanes` lists the lanes, `chorus log --lane NAME` what is on one."


@dataclass(frozen=True, slots=True)
class Group:
    """The actions of one commit. `names`: every tool call whose change is in it."""

    entries: tuple[LogEntry, ...]
    names: tuple[str, ...]

    @property
    def numbers(self) -> list[int]:
        return [entry.n for entry in self.entries if entry.n is not None]


@dataclass(frozen=True, slots=True)
class Landing:
    lane: Lane
    onto: str  # the branch's full name
    groups: tuple[Group, ...]
    by: By
    message: str | None = None


@dataclass(slots=True)
class Landed:
    """`commits` has one for each group; None for one that the branch holds already."""

    commits: list[Oid | None] = field(default_factory=list)
    subjects: list[str] = field(default_factory=list)
    tip: Oid | None = None


def plan_landing(
    recorder: Recorder, lane: str, by: str = "turn", onto: str | None = None, message: str | None = None
) -> Landing:
    if by not in get_args(By):
        raise UsageError(f"cannot land by {by!r}", hint="Land by turn, action or all.")
    found = find_lane(recorder, lane)
    entries = recorder.entries()
    standing = find_standing([e for e in entries if e.lane == found.name and e.timeline and e.within is None])
    if not standing:
        raise NothingToLand(f"nothing on {found.name} is left to land")
    within: dict[str, list[str]] = {}
    for entry in entries:
        if entry.within and entry.id:
            within.setdefault(entry.within, []).append(entry.id)
    grouped: dict[object, list[LogEntry]] = {}
    for entry in standing:
        key = {"turn": entry.turn, "action": entry.n, "all": None}[by]
        grouped.setdefault(key, []).append(entry)
    groups = tuple(
        Group(tuple(own), tuple(n for e in own if e.id for n in (e.id, *within.get(e.id, ()))))
        for own in grouped.values()
    )
    return Landing(found, find_target(recorder.site, onto), groups, cast(By, by), message)


def find_lane(recorder: Recorder, name: str) -> Lane:
    recorder.journal.refresh()
    for lane in recorder.lanes.all():
        if name in (lane.name, lane.ref, lane.name.removeprefix("chorus/")):
            return lane
    raise NothingToLand(f"there is no lane {name}")


def find_standing(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """What is to land, of one lane: an action taken back before it landed goes, and so does its revert."""
    landed = {entry.id for entry in entries if entry.landed}
    own = {entry.id for entry in entries}
    return [
        entry
        for entry in entries
        if not entry.landed
        and entry.status != "reverted"
        and not (entry.reverts and all(name in own and name not in landed for name in entry.reverts))
    ]


def find_target(site: Site, onto: str | None) -> str:
    """The full name of the branch to land on."""
    if onto is None:
        ref = site.repository.head().ref
        if ref is None:
            raise UsageError("no branch is checked out", hint="Name one with --onto.")
    else:
        ref = HEADS + onto.removeprefix(HEADS)
        if site.refs.read(ref) is None and ref != site.repository.head().ref:
            raise NothingThere(f"there is no branch {onto}", hint="`git branch` lists the branches.")
    if ref.startswith(OWN_PREFIXES):
        raise UsageError(f"{ref.removeprefix(HEADS)} is a lane", hint="Land on a branch of your own.")
    return ref


def apply_landing(site: Site, landing: Landing, *, dry_run: bool = False) -> Landed:
    """Make the commits, or only look ahead. Raises with everything as it was."""
    with Branch.opened(site.repository, landing.onto) as branch:
        start = tree_of(site, branch.start)
        steps = [join_steps(_steps(site, group)) for group in landing.groups]
        present = find_present(site, start, [step for own in steps for step in own])
        todo = [[step for step in own if step not in present] for own in steps]
        planned = _rehearse(site, landing, branch, start, todo)
        if branch.is_checked_out:
            _refuse_staged(site, start, planned)
        if dry_run:
            return _make(site, landing, todo, start, None)
        try:
            landed = _make(site, landing, todo, start, branch)
            if branch.tip != branch.start:
                branch.bring_home(site.store)
                if branch.is_checked_out:
                    _follow_in_index(site, start, tree_of(site, branch.tip))
        except ChorusError:
            branch.take_back()
            raise
        landed.tip = branch.tip
        return landed


def mark_landed(recorder: Recorder, landing: Landing, landed: Landed) -> None:
    """Remember what landed, and in which commit; what was there before is in the branch's tip."""
    for group, commit in zip(landing.groups, landed.commits, strict=True):
        recorder.mark("landed", group.names, {"commits": [commit or landed.tip]})


def landing_json(landing: Landing, landed: Landed, *, dry_run: bool) -> dict[str, Any]:
    made = [
        {"oid": commit, "subject": subject, "actions": group.numbers}
        for group, commit, subject in zip(landing.groups, landed.commits, landed.subjects, strict=True)
        if subject
    ]
    there = [
        n
        for g, subject in zip(landing.groups, landed.subjects, strict=True)
        if not subject
        for n in g.numbers
    ]
    return {"commits": made, "onto": landing.onto.removeprefix(HEADS), "present": there, "dry_run": dry_run}


def tree_of(site: Site, commit: Oid | None) -> Oid | None:
    return site.store.read_commit(commit).tree if commit else None


def _steps(site: Site, group: Group) -> list[Step]:
    return [
        step for e in group.entries if e.n is not None and e.commit for step in steps_of(site, e.n, e.commit)
    ]


def _rehearse(
    site: Site, landing: Landing, branch: Branch, tree: Oid | None, todo: Sequence[Sequence[Step]]
) -> Oid | None:
    """The tree after everything; a conflict is found before the first commit."""
    for steps in todo:
        changes = carry(site, tree, steps)
        if isinstance(changes, list):
            raise _conflict(site, landing, branch, changes)
        tree = site.splice(tree, changes) if changes else tree
    return tree


def _make(
    site: Site, landing: Landing, todo: Sequence[Sequence[Step]], tree: Oid | None, branch: Branch | None
) -> Landed:
    """Each group on top of what the commit before it really holds: a hook may have changed it."""
    landed = Landed()
    for group, steps in zip(landing.groups, todo, strict=True):
        changes = carry(site, tree, steps)
        if isinstance(changes, list):
            raise LandConflict(
                f"a commit hook changed {changes[0].path}, on which action "
                f"{_listed(changes[0].numbers)} builds; nothing was changed"
            )
        oid, subject = None, ""
        if changes:
            tree = site.splice(tree, changes)
            text = render_landed(group.entries, group.names, landing.by, landing.message)
            subject = text.partition("\n")[0]
            if branch is not None:
                oid = branch.commit(tree or EMPTY_TREE, text)
                tree = tree_of(site, oid)
        landed.commits.append(oid)
        landed.subjects.append(subject)
    return landed


def _refuse_staged(site: Site, old: Oid | None, new: Oid | None) -> None:
    """What the user staged otherwise at a landed path would be lost, or look like a change back."""
    changed = site.trees.diff(old, new)
    staged = read_index(site.repository, [change.path for change in changed])
    other = [c.path for c in changed if staged[c.path] not in (c.before, c.after)]
    if other:
        raise LandConflict(
            f"{', '.join(other)} is staged with other changes; nothing was changed",
            hint="Commit or unstage that first (`git restore --staged PATH`).",
        )


def _follow_in_index(site: Site, old: Oid | None, new: Oid | None) -> None:
    changed = site.trees.diff(old, new)
    staged = read_index(site.repository, [change.path for change in changed])
    follows: dict[RepoPath, Entry | None] = {c.path: c.after for c in changed if staged[c.path] == c.before}
    update_index(site.repository, follows)


def _conflict(site: Site, landing: Landing, branch: Branch, misfits: Sequence[Misfit]) -> LandConflict:
    name = landing.onto.removeprefix(HEADS)
    lines = [f"{landing.lane.name} does not fit on {name}; nothing was changed"]
    for misfit in misfits:
        since = [f"^{landing.lane.base}"] if landing.lane.base else []
        words = ("log", "-1", "--format=%h %s", branch.start or EMPTY_TREE, *since, "--", misfit.path)
        by = site.repository.git.text(*words) if branch.start else ""
        why = f"was changed by {by}" if by else f"builds on changes that are not on {name}"
        lines.append(f"  action {_listed(misfit.numbers)}: {misfit.path} {why}")
    error = LandConflict(
        "\n".join(lines), hint="Commit what it builds on, or land on another branch (--onto)."
    )
    error.details = {"conflicts": [{"path": m.path, "actions": list(m.numbers)} for m in misfits]}
    return error


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
