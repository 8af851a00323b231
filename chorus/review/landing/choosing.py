"""Choosing what of a lane is to land, and where.

Receives a lane and how to group its actions. Gives the groups that become one commit each: what stands and
has not landed yet. Reverted actions and their reverts fold away. Never writes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from chorus.errors import ChorusError, ExitCode, NothingThere, UsageError
from chorus.history.lanes import HEADS, Lane
from chorus.history.log.entries import LogEntry
from chorus.history.recorder import Recorder
from chorus.history.site import Site
from chorus.store.refs import OWN_PREFIXES

By = Literal["turn", "action", "all"]


class NothingToLand(NothingThere):
    hint = "`chorus lanes` lists the lanes, `chorus log --lane NAME` what is on one."


class LaneMoved(ChorusError):
    """The lane does not hold any more what the messages speak of. Nothing was changed."""

    exit_code = ExitCode.CONFLICT
    hint = "Land again: the messages are asked for anew."


@dataclass(frozen=True, slots=True)
class Group:
    """The actions of one commit. `names`: every tool call whose change is in it."""

    entries: tuple[LogEntry, ...]
    names: tuple[str, ...]

    @property
    def numbers(self) -> list[int]:
        return [entry.n for entry in self.entries if entry.n is not None]


@dataclass(frozen=True, slots=True)
class Words:
    """What a person says of the commits: one message for all, or one for each, by its actions' numbers."""

    message: str | None = None
    messages: Mapping[tuple[int, ...], str] = field(default_factory=dict)

    def of(self, group: Group) -> str | None:
        return self.messages.get(tuple(group.numbers), self.message)


@dataclass(frozen=True, slots=True)
class Landing:
    lane: Lane
    onto: str  # the branch's full name
    groups: tuple[Group, ...]
    by: By
    words: Words = Words()


def plan_landing(
    recorder: Recorder, lane: str, by: str = "turn", onto: str | None = None, words: Words | None = None
) -> Landing:
    words = words or Words()
    if by not in get_args(By):
        raise UsageError(f"cannot land by {by!r}", hint="Land by turn, action or all.")
    found = find_lane(recorder, lane)
    entries = recorder.entries()
    standing = find_standing([e for e in entries if e.lane == found.name and e.timeline and e.within is None])
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
        Group(tuple(own), tuple(n for e in own if e.id for n in (e.id, *within.get(e.id, ()))))
        for own in grouped.values()
    )
    return Landing(found, find_target(recorder.site, onto), groups, cast(By, by), words)


def _spoken_of(standing: Sequence[LogEntry], messages: Mapping[tuple[int, ...], str]) -> list[LogEntry]:
    """Only what the messages were written for: what came since goes on, and lands another time."""
    named = [number for numbers in messages for number in numbers]
    found = [entry for entry in standing if entry.n in named]
    if len(found) != len(named):
        raise LaneMoved("something on the lane was taken back or landed while the messages were written")
    return found


def find_lane(recorder: Recorder, name: str) -> Lane:
    recorder.journal.refresh()
    for lane in recorder.lanes.all():
        if name in (lane.name, lane.ref, lane.name.removeprefix("chorus/")):
            return lane
    if name in recorder.site.refs.list(HEADS) or f"{HEADS}{name}" in recorder.site.refs.list(HEADS):
        raise NothingToLand(
            f"{name} is no lane of this work tree", hint="Run the command in the work tree it was made in."
        )
    raise NothingToLand(f"there is no lane {name}", hint="`chorus lanes` lists the lanes.")


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
        if ref not in site.refs.list(HEADS) and ref != site.repository.head().ref:
            raise NothingThere(f"there is no branch {onto}", hint="`git branch` lists the branches.")
    if ref.startswith(OWN_PREFIXES):
        raise UsageError(f"{ref.removeprefix(HEADS)} is a lane", hint="Land on a branch of your own.")
    return ref
