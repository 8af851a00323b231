"""Plan a landing: which actions of a lane become which commits, with which messages, on which branch.

Actions that are reverted or already landed are left out, and so are their reverts. Never writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast, get_args

from chorus.errors import ChorusError, ExitCode, NotFound, UsageError
from chorus.history.lanes import Lane
from chorus.history.log.entry import LogEntry
from chorus.history.recorder import Recorder
from chorus.history.workspace import Workspace
from chorus.model import commit_message
from chorus.model.commit_message import Text, render_message, shorten
from chorus.model.ids import Oid
from chorus.model.lane_name import BRANCHES, branch_name, is_lane_ref, lane_spellings

GroupBy: TypeAlias = Literal["turn", "action", "all"]


class NothingToLand(NotFound):
    hint = "Run `chorus lanes` to list the lanes, or `chorus log --lane NAME` to list the actions of one."


class LaneChanged(ChorusError):
    """The lane no longer holds the actions that the messages were written for. Nothing was changed."""

    exit_code = ExitCode.CONFLICT
    hint = "Land again and write the messages for what is there now."


@dataclass(frozen=True, slots=True)
class CommitGroup:
    """The actions of one commit. `names`: the id of every tool call whose change is in it."""

    entries: tuple[LogEntry, ...]
    names: tuple[str, ...]

    @property
    def numbers(self) -> list[int]:
        return [entry.n for entry in self.entries if entry.n is not None]


@dataclass(frozen=True, slots=True)
class CommitMessages:
    """The user's own messages: one for all commits, or one per commit, keyed by its actions' numbers."""

    message: str | None = None
    messages: Mapping[tuple[int, ...], str] = field(default_factory=dict)

    def find(self, group: CommitGroup) -> str | None:
        return self.messages.get(tuple(group.numbers), self.message)


@dataclass(frozen=True, slots=True)
class LandingPlan:
    lane: Lane
    onto: str  # full name of the branch
    groups: tuple[CommitGroup, ...]
    by: GroupBy
    messages: CommitMessages = CommitMessages()
    disk: Oid | None = (
        None  # the work tree as last recorded: it decides the order of lines inserted at one point
    )

    def render_message(self, group: CommitGroup) -> str:
        return render_commit_message(group, self.by, self.messages.find(group))


def plan_landing(
    recorder: Recorder,
    lane: str,
    by: str = "turn",
    onto: str | None = None,
    messages: CommitMessages | None = None,
) -> LandingPlan:
    messages = messages or CommitMessages()
    if by not in get_args(GroupBy):
        raise UsageError(f"cannot land by {by!r}", hint="Land by turn, action or all.")
    found = find_lane(recorder, lane)
    entries = recorder.entries()
    unlanded = find_unlanded([e for e in entries if e.lane == found.name and e.timeline and e.within is None])
    if messages.messages:
        unlanded = _select_described(unlanded, messages.messages)
    if not unlanded:
        raise NothingToLand(f"nothing on {found.name} is left to land")
    within: dict[str, list[str]] = {}
    for entry in entries:
        if entry.within and entry.id:
            within.setdefault(entry.within, []).append(entry.id)
    grouped: dict[object, list[LogEntry]] = {}
    for entry in unlanded:
        key = {"turn": entry.turn, "action": entry.n, "all": None}[by]
        grouped.setdefault(key, []).append(entry)
    groups = tuple(
        CommitGroup(tuple(group), tuple(n for e in group if e.id for n in (e.id, *within.get(e.id, ()))))
        for group in grouped.values()
    )
    target = find_target(recorder.workspace, onto)
    return LandingPlan(found, target, groups, cast(GroupBy, by), messages, recorder.timeline.tree)


def find_lane(recorder: Recorder, name: str) -> Lane:
    recorder.journal.refresh()
    for lane in recorder.lanes.all():
        if lane.name in lane_spellings(name):
            return lane
    if name in recorder.workspace.refs.list(BRANCHES) or f"{BRANCHES}{name}" in recorder.workspace.refs.list(
        BRANCHES
    ):
        raise NothingToLand(
            f"{name} is not a lane of this work tree", hint="Run the command in the work tree of the lane."
        )
    raise NothingToLand(f"there is no lane {name}", hint="Run `chorus lanes` to list the lanes.")


def find_unlanded(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """The entries of one lane to land, without actions reverted before they landed and their reverts."""
    landed = {entry.id for entry in entries if entry.landed}
    own = {entry.id for entry in entries}
    return [
        entry
        for entry in entries
        if not entry.landed
        and entry.status != "reverted"
        and not (entry.reverts and all(name in own and name not in landed for name in entry.reverts))
    ]


def find_target(workspace: Workspace, onto: str | None) -> str:
    """The full name of the branch to land on; by default the one that is checked out."""
    if onto is None:
        ref = workspace.repository.head().ref
        if ref is None:
            raise UsageError("no branch is checked out", hint="Name one with --onto.")
    else:
        ref = BRANCHES + branch_name(onto)
        if ref not in workspace.refs.list(BRANCHES) and ref != workspace.repository.head().ref:
            raise NotFound(f"there is no branch {onto}", hint="Run `git branch` to list the branches.")
    if is_lane_ref(ref):
        raise UsageError(f"{branch_name(ref)} is a lane", hint="Land on a branch of your own.")
    return ref


def render_commit_message(group: CommitGroup, by: GroupBy, message: str | None) -> str:
    """The message of a landed commit: the user's own, or one made from the user's messages and what was done.

    The trailers lead from a line back to its action, also after a rebase or squash.
    """
    entries = group.entries
    trailers = (
        *((commit_message.ACTION, name) for name in group.names),
        *((commit_message.SESSION, name) for name in dict.fromkeys(e.session for e in entries) if name),
        *((commit_message.TURN, name) for name in dict.fromkeys(e.turn for e in entries) if name),
    )
    if message and message.strip():
        subject, _, body = message.strip().partition("\n")
        _, _, rest = render_message(Text(subject, trailers=trailers)).partition("\n\n")
        return "\n\n".join(filter(None, (subject.strip(), body.strip(), rest)))
    messages = list(dict.fromkeys(shorten(e.message) for e in entries if e.message and shorten(e.message)))
    if by == "action" or not messages:
        body_lines = [f"For: {line}" for line in messages]
        return render_message(
            Text(shorten(entries[0].summary), body_lines=tuple(body_lines), trailers=trailers)
        )
    more = [f"Also: {line}" for line in messages[1:]]
    done = [f"- {shorten(entry.summary)}" for entry in entries]
    subject = _first_message_line(entries, messages[0])
    return render_message(Text(subject, body_lines=(*more, *done), trailers=trailers))


def _first_message_line(entries: Sequence[LogEntry], fallback: str) -> str:
    for entry in entries:
        for line in (entry.message or "").splitlines():
            if shorten(line):
                return shorten(line)
    return fallback


def _select_described(
    unlanded: Sequence[LogEntry], messages: Mapping[tuple[int, ...], str]
) -> list[LogEntry]:
    """Select the actions the messages were written for: newer ones are not landed now."""
    named = [number for numbers in messages for number in numbers]
    found = [entry for entry in unlanded if entry.n in named]
    if len(found) != len(named):
        raise LaneChanged("an action of the lane was reverted or landed while the messages were written")
    return found
