"""Plan a landing: which actions of a lane become which commits, with which messages, on which branch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast, get_args

from chorus.config.user_config import LandingSettings, read_preferences
from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.history.lanes.lanes import Lane
from chorus.history.log.entry import LogEntry
from chorus.history.marks.landings import find_landed, find_named_actions
from chorus.history.marks.mark_log import ActionMarks
from chorus.history.recorder import Recorder
from chorus.history.timeline.file_lines import Versions
from chorus.model.ids import Oid, RepoPath
from chorus.model.lane_name import branch_name
from chorus.review.landing.messages import (
    NO_MESSAGES,
    CommitGroup,
    CommitMessages,
    GroupBy,
    render_commit_message,
    resolve_messages,
)
from chorus.review.landing.selection import LandingRequest, select_actions, select_part
from chorus.review.landing.target import NothingToLand, find_commit, find_lane, find_target
from chorus.store.objects.trees import TreeEntry
from chorus.text.width import list_of


class LaneChanged(ChorusError):
    """The lane no longer holds the actions that the messages were written for. Nothing was changed."""

    exit_code = ExitCode.CONFLICT
    hint = "Run `chorus land` again, and write messages for the actions that are left."


DEFAULT_SETTINGS = LandingSettings()


@dataclass(frozen=True, slots=True)
class LandingPlan:
    lane: Lane
    onto: str  # full name of the branch
    groups: tuple[CommitGroup, ...]
    by: GroupBy
    messages: CommitMessages = NO_MESSAGES
    disk: Oid | None = None  # the work tree as last recorded: it decides the order of inserted lines
    entries: tuple[LogEntry, ...] = ()  # the whole log, to name what is in the way
    landed: frozenset[str] = frozenset()  # the actions that are on the branch already
    already: tuple[int, ...] = ()  # the numbers of those that the user asked for
    created_at: Oid | None = None  # where the branch begins, if it does not exist
    is_new: bool = False
    with_context: bool = False
    fixup: Oid | None = None
    part: Mapping[RepoPath, TreeEntry | None] | None = None  # the only action's files with its chosen hunks
    settings: LandingSettings = DEFAULT_SETTINGS
    # The versions of each file: a merge finds out from them which line became which.
    versions: Mapping[RepoPath, Versions] = field(default_factory=dict)

    def render_message(self, group: CommitGroup) -> str:
        return render_commit_message(group, self.by, self._find_message(group), self.settings)

    def _find_message(self, group: CommitGroup) -> str | None:
        if group.contexts:
            return None
        named = dict(self.messages.named).get(str(group.key), self.messages.message)
        return self.messages.messages.get(tuple(group.numbers), named)


def plan_landing(recorder: Recorder, request: LandingRequest) -> LandingPlan:
    if request.by not in get_args(GroupBy):
        raise UsageError(f"cannot land by {request.by!r}", hint="Land by turn, action or all.")
    by = cast(GroupBy, request.by)
    lane = find_lane(recorder, request.lane)
    target, is_new = find_target(recorder.workspace, request.onto)
    head = recorder.workspace.repository.head().oid
    start = head if is_new else recorder.workspace.refs.read(target)
    entries = recorder.entries()
    landed = _find_landed_on(recorder, entries, lane.base, start, dry_run=request.dry_run)
    chosen, already = select_actions(entries, lane, request, landed)
    if request.messages.messages:
        chosen = _select_described(chosen, request.messages.messages)
    if not chosen:
        where = f"; {branch_name(target)} already has {_join(already)}" if already else ""
        undone = [e.n for e in entries if e.lane == lane.name and e.status == "undone" and e.n is not None]
        if undone and not request.actions:
            which = list_of(undone, "action")
            hint = f"The change of {which} is gone from disk. Name an action to land it anyway."
            raise NothingToLand(f"nothing on {lane.name} is left to land", hint=hint)
        raise NothingToLand(f"nothing on {lane.name} is left to land{where}")
    part = select_part(recorder, chosen, request.hunks) if request.hunks else None
    groups = _group(entries, chosen, "all" if request.fixup else by, is_part=part is not None)
    fixup = find_commit(recorder.workspace, request.fixup) if request.fixup else None
    return LandingPlan(
        lane,
        target,
        groups,
        by,
        resolve_messages(entries, groups, by, request.messages),
        disk=recorder.timeline.tree,
        entries=tuple(entries),
        landed=frozenset(landed),
        already=tuple(already),
        created_at=head if is_new else None,
        is_new=is_new,
        with_context=request.with_context,
        fixup=fixup,
        part=part,
        settings=read_preferences().landing,
        versions=recorder.lanes.lines.versions_of({path for entry in chosen for path in entry.paths}),
    )


def _find_landed_on(
    recorder: Recorder, entries: Sequence[LogEntry], base: Oid | None, tip: Oid | None, *, dry_run: bool
) -> set[str]:
    """Return the ids of the actions that are on the branch with this tip.

    Actions that the user cherry-picked by hand are included and, unless `dry_run`, marked as landed.
    """
    if tip is None:
        return set()
    git = recorder.workspace.repository.git
    landings = ActionMarks(recorder.journal.marks.lines).landings
    landed = find_landed(git, landings, [tip])
    # Also what the user has cherry-picked from the lane by hand.
    named = find_named_actions(git, [tip, *([f"^{base}"] if base else [])])
    picked = {entry.id for entry in entries if entry.id and entry.id in named} - landed
    if picked and not dry_run:
        recorder.mark("landed", sorted(picked), [tip])
    return landed | picked


def _group(
    entries: Sequence[LogEntry], chosen: Sequence[LogEntry], by: GroupBy, *, is_part: bool
) -> tuple[CommitGroup, ...]:
    within: dict[str, list[str]] = {}
    for entry in entries:
        if entry.within and entry.id:
            within.setdefault(entry.within, []).append(entry.id)
    grouped: dict[object, list[LogEntry]] = {}
    chosen_numbers = {entry.id: entry.n for entry in chosen}
    for entry in chosen:
        # The revert of a hunk goes into the commit of its action: that commit then lacks the hunk.
        origins = [chosen_numbers[name] for name in entry.reverts_part if name in chosen_numbers]
        key: object = {"turn": entry.turn, "action": next(iter(origins), entry.n), "all": None}[by]
        grouped.setdefault(key, []).append(entry)
    groups = []
    for group_key, group in grouped.items():
        names = tuple(n for e in group if e.id for n in (e.id, *within.get(e.id, ())))
        groups.append(
            CommitGroup(tuple(group), () if is_part else names, names if is_part else (), key=group_key)
        )
    return tuple(groups)


def _select_described(
    unlanded: Sequence[LogEntry], messages: Mapping[tuple[int, ...], str]
) -> list[LogEntry]:
    """Return the actions that the messages name. Raises LaneChanged if one of them is not in `unlanded`."""
    named = [number for numbers in messages for number in numbers]
    found = [entry for entry in unlanded if entry.n in named]
    if len(found) != len(named):
        raise LaneChanged("an action of the lane was reverted or landed while the messages were written")
    return found


def _join(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
