"""Choosing what of a lane is to land, and where.

Receives a lane and how to group its actions. Gives the groups that become one commit each: what stands and
has not landed yet. Reverted actions and their reverts fold away. Never writes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from chorus.errors import ChorusError, ExitCode, NotFound, UsageError
from chorus.history.lanes import HEADS, Lane
from chorus.history.log.entry import LogEntry
from chorus.history.recorder import Recorder
from chorus.history.workspace import Workspace
from chorus.model import commit_message as message
from chorus.model.commit_message import Text, render_message, shorten
from chorus.store.refs import OWN_PREFIXES

GroupBy = Literal["turn", "action", "all"]


class NothingToLand(NotFound):
    hint = "`chorus lanes` lists the lanes, `chorus log --lane NAME` what is on one."


class LaneChanged(ChorusError):
    """The lane does not hold any more what the messages speak of. Nothing was changed."""

    exit_code = ExitCode.CONFLICT
    hint = "Land again: the messages are asked for anew."


@dataclass(frozen=True, slots=True)
class CommitGroup:
    """The actions of one commit. `names`: every tool call whose change is in it."""

    entries: tuple[LogEntry, ...]
    names: tuple[str, ...]

    @property
    def numbers(self) -> list[int]:
        return [entry.n for entry in self.entries if entry.n is not None]


@dataclass(frozen=True, slots=True)
class CommitMessages:
    """What a person says of the commits: one message for all, or one for each, by its actions' numbers."""

    message: str | None = None
    messages: Mapping[tuple[int, ...], str] = field(default_factory=dict)

    def of(self, group: CommitGroup) -> str | None:
        return self.messages.get(tuple(group.numbers), self.message)


@dataclass(frozen=True, slots=True)
class LandingPlan:
    lane: Lane
    onto: str  # the branch's full name
    groups: tuple[CommitGroup, ...]
    by: GroupBy
    words: CommitMessages = CommitMessages()


def plan_landing(
    recorder: Recorder,
    lane: str,
    by: str = "turn",
    onto: str | None = None,
    words: CommitMessages | None = None,
) -> LandingPlan:
    words = words or CommitMessages()
    if by not in get_args(GroupBy):
        raise UsageError(f"cannot land by {by!r}", hint="Land by turn, action or all.")
    found = find_lane(recorder, lane)
    entries = recorder.entries()
    standing = find_unlanded([e for e in entries if e.lane == found.name and e.timeline and e.within is None])
    if words.messages:
        standing = _spoken_of(standing, words.messages)
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
        CommitGroup(tuple(own), tuple(n for e in own if e.id for n in (e.id, *within.get(e.id, ()))))
        for own in grouped.values()
    )
    return LandingPlan(found, find_target(recorder.workspace, onto), groups, cast(GroupBy, by), words)


def _spoken_of(standing: Sequence[LogEntry], messages: Mapping[tuple[int, ...], str]) -> list[LogEntry]:
    """Only what the messages were written for: what came since goes on, and lands another time."""
    named = [number for numbers in messages for number in numbers]
    found = [entry for entry in standing if entry.n in named]
    if len(found) != len(named):
        raise LaneChanged("something on the lane was taken back or landed while the messages were written")
    return found


def find_lane(recorder: Recorder, name: str) -> Lane:
    recorder.journal.refresh()
    for lane in recorder.lanes.all():
        if name in (lane.name, lane.ref, lane.name.removeprefix("chorus/")):
            return lane
    if name in recorder.workspace.refs.list(HEADS) or f"{HEADS}{name}" in recorder.workspace.refs.list(HEADS):
        raise NothingToLand(
            f"{name} is no lane of this work tree", hint="Run the command in the work tree it was made in."
        )
    raise NothingToLand(f"there is no lane {name}", hint="`chorus lanes` lists the lanes.")


def find_unlanded(entries: Sequence[LogEntry]) -> list[LogEntry]:
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


def find_target(workspace: Workspace, onto: str | None) -> str:
    """The full name of the branch to land on."""
    if onto is None:
        ref = workspace.repository.head().ref
        if ref is None:
            raise UsageError("no branch is checked out", hint="Name one with --onto.")
    else:
        ref = HEADS + onto.removeprefix(HEADS)
        if ref not in workspace.refs.list(HEADS) and ref != workspace.repository.head().ref:
            raise NotFound(f"there is no branch {onto}", hint="`git branch` lists the branches.")
    if ref.startswith(OWN_PREFIXES):
        raise UsageError(f"{ref.removeprefix(HEADS)} is a lane", hint="Land on a branch of your own.")
    return ref


def render_commit_message(
    entries: Sequence[LogEntry], names: Iterable[str], by: str, words: str | None
) -> str:
    trailers = (
        *((message.ACTION, name) for name in names),
        *((message.SESSION, name) for name in dict.fromkeys(e.session for e in entries) if name),
        *((message.TURN, name) for name in dict.fromkeys(e.turn for e in entries) if name),
    )
    if words and words.strip():
        subject, _, body = words.strip().partition("\n")
        text = render_message(Text(subject, trailers=trailers))
        _, _, rest = text.partition("\n\n")
        return "\n\n".join(filter(None, (subject.strip(), body.strip(), rest)))
    asked = list(dict.fromkeys(shorten(e.message) for e in entries if e.message and shorten(e.message)))
    if by == "action" or not asked:
        notes = [f"For: {line}" for line in asked]
        return render_message(Text(shorten(entries[0].summary), notes=tuple(notes), trailers=trailers))
    more = [f"Also: {line}" for line in asked[1:]]
    done = [f"- {shorten(entry.summary)}" for entry in entries]
    return render_message(
        Text(first_message_line(entries, asked[0]), notes=(*more, *done), trailers=trailers)
    )


def first_message_line(entries: Sequence[LogEntry], fallback: str) -> str:
    """The first line of the first message there is."""
    for entry in entries:
        for line in (entry.message or "").splitlines():
            if shorten(line):
                return shorten(line)
    return fallback
