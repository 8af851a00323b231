"""Explain why a change does not fit a branch: which line of which file builds on what.

A change conflicts where the branch lacks the lines that the change starts from. The lane shows who wrote each
of these lines.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from chorus.changes.diff import Hunk, hunks, split_lines
from chorus.changes.line_merge import Overlap, merge_lines
from chorus.changes.line_trace import follow_line, trace_lines_back
from chorus.history.lanes.context_lines import is_users
from chorus.history.lanes.lane_change import lane_entry
from chorus.history.lanes.lanes import Lane
from chorus.history.log.entry import LogEntry
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.api.json_api import LeftActionJson
from chorus.model.commits.commit_message import parse_actions, parse_contexts, shorten
from chorus.model.ids import Oid, RepoPath
from chorus.model.lane_name import branch_name
from chorus.review.landing.merge import PathConflict, PositionsOf, tree_of
from chorus.review.landing.plan import LandingPlan
from chorus.store.objects.commits import Commit
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import TreeEntry
from chorus.text.sanitize import printable

ReadText: TypeAlias = Callable[[TreeEntry | None], bytes | None]
Why: TypeAlias = Literal["context", "session", "action", "branch", "staged"]
# What to do about each kind of obstacle.
HINTS: dict[Why, str] = {
    "context": "Land your lines as well with --with-context, or commit them first.",
    "session": "Land those actions first, or their lines with --with-context.",
    "action": "Land those actions as well.",
    "branch": "The branch has changed: run `git cherry-pick {commits}` on {onto}, and resolve the conflicts.",
    "staged": "Commit the staged changes, or unstage them with `git restore --staged PATH`.",
}
MAX_QUOTED = 40


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What prevents an action from landing, at one place. `line` is counted from 1.

    `by`: the number of the action that wrote the line and does not land.
    """

    path: RepoPath
    why: Why
    reason: str
    line: int | None = None
    by: int | None = None
    context: Oid | None = None  # the lane's context commit with the lines it builds on


@dataclass(frozen=True, slots=True)
class LeftAction:
    entry: LogEntry
    obstacles: tuple[Obstacle, ...]

    @property
    def number(self) -> int:
        assert self.entry.n is not None
        return self.entry.n


@dataclass(frozen=True, slots=True)
class _LaneVersion:
    """A commit of the lane that changed the file."""

    commit: Oid
    message: str
    before: TreeEntry | None
    after: TreeEntry | None


@dataclass(frozen=True, slots=True)
class _Place:
    """A file, or some of its lines on disk, counted from 1.

    `own`: how to describe the place if it is an uncommitted change of the user.
    """

    path: RepoPath
    own: str
    lines: Sequence[int] = ()

    def __str__(self) -> str:
        if not self.lines:
            return printable(self.path)
        first, *others = self.lines
        lines = f"lines {first}-{others[-1]}" if others else f"line {first}"
        return f"{lines} of {printable(self.path)}"

    @property
    def line(self) -> int | None:
        return next(iter(self.lines), None)

    @property
    def is_plural(self) -> bool:
        return bool(self.lines[1:])

    @property
    def builds_on(self) -> str:
        return f"{self} {'build' if self.is_plural else 'builds'} on"


class _LaneFile:
    """The versions of one file on the lane, oldest first, and the version that wrote each line."""

    def __init__(self, read: ReadText) -> None:
        self._read = read
        self.versions: list[_LaneVersion] = []
        self._changes: list[tuple[Hunk, ...]] = []  # of each version compared so far
        self._followed = 0  # the number of versions that `_writers` includes
        self._writers: list[_LaneVersion | None] = []

    def find_writers(self, lines: Iterable[int], count: int) -> dict[int, _LaneVersion | None]:
        """The version that wrote each of these lines; None if the lane began with the line.

        `lines`: positions in the file as it is after its first `count` versions.
        """
        if count < self._followed or not self._followed:
            self._followed = 0
            self._writers = [None] * len(split_lines(self.text(0)))
        for index in range(self._followed, count):
            for hunk in reversed(self._change(index)):
                self._writers[hunk.before_start : hunk.before_end] = [self.versions[index]] * hunk.added
        self._followed = count
        return {line: self._writers[line] for line in lines if line < len(self._writers)}

    def follow_to_tip(self, line: int, count: int) -> int:
        """Return where a line is in the newest version. `line`: its position after `count` versions."""
        for index in range(count, len(self.versions)):
            line, _ = follow_line(line, self._change(index))
        return line

    def text(self, count: int) -> bytes:
        if not self.versions:
            return b""
        return self._read(self.versions[count - 1].after if count else self.versions[0].before) or b""

    def _change(self, index: int) -> tuple[Hunk, ...]:
        while len(self._changes) <= index:
            done = len(self._changes)
            self._changes.append(hunks(self.text(done), self.text(done + 1)))
        return self._changes[index]


class _LaneFiles:
    def __init__(self, workspace: Workspace, lane: Lane, read: ReadText) -> None:
        self._workspace = workspace
        self._lane = lane
        self._read = read
        self._counts: dict[Oid, int] = {}  # by commit: the number of commits up to it
        self._files: dict[RepoPath, tuple[_LaneFile, list[int]]] = {}  # with each version's count

    def before(self, commit: Oid, path: RepoPath) -> tuple[_LaneFile, int]:
        """The versions of a file on the lane, and how many of them are older than `commit`."""
        if not self._counts and (tip := self._workspace.refs.read(self._lane.ref)) is not None:
            self._walk_to(tip)
        self._walk_to(commit)
        file, counts = self._files.get(path) or (_LaneFile(self._read), [])
        return file, bisect_left(counts, self._counts[commit])

    def _walk_to(self, commit: Oid) -> None:
        new: list[tuple[Oid, Commit]] = []
        oid: Oid | None = commit
        while oid is not None and oid != self._lane.base and oid not in self._counts:
            found = self._workspace.store.read_commit(oid)
            new.append((oid, found))
            oid = found.first_parent
        for oid, found in reversed(new):
            self._counts[oid] = len(self._counts) + 1
            older = tree_of(self._workspace, found.first_parent)
            for change in self._workspace.trees.diff(older, found.tree):
                known = self._files.setdefault(change.path, (_LaneFile(self._read), []))
                known[0].versions.append(_LaneVersion(oid, found.message, change.before, change.after))
                known[1].append(self._counts[oid])


def _read_text(store: ObjectStore, entry: TreeEntry | None) -> bytes | None:
    if entry is None or entry.mode not in PLAIN_MODES:
        return None
    return store.read_blob(entry.oid)


class ObstacleFinder:
    """Finds what prevents actions from landing. `start`: the branch's last commit."""

    def __init__(
        self, workspace: Workspace, plan: LandingPlan, start: Oid | None, positions_of: PositionsOf
    ) -> None:
        self._workspace = workspace
        self._plan = plan
        self._start = start
        self._positions_of = positions_of
        self._read = partial(_read_text, workspace.store)
        self._files = _LaneFiles(workspace, plan.lane, self._read)
        self._entries = {entry.id: entry for entry in reversed(plan.entries) if entry.id}
        self._branch_commits: dict[RepoPath, str] = {}
        self._on_disk: dict[RepoPath, tuple[Hunk, ...]] = {}

    def find(self, entry: LogEntry, conflict: PathConflict, landing: Collection[str]) -> list[Obstacle]:
        """Find everything in one conflicting file that prevents an action from landing.

        `landing`: the actions that are on the branch already or land now.
        """
        change, ours = conflict.change, conflict.ours
        assert entry.commit is not None
        file, count = self._files.before(entry.commit, change.path)
        before, after = self._read(change.before), self._read(change.after)
        branch = self._read(ours)
        overlap = None
        if before is not None and after is not None and branch is not None:
            positions = self._positions_of(change.path)
            overlap = merge_lines(before, branch, after, positions=positions)
        if isinstance(overlap, Overlap) and overlap.ranges:
            assert before is not None
            last = before.count(b"\n") - before.endswith(b"\n")
            lines = [
                min(line, last)
                for found in overlap.ranges
                for line in range(found.start, max(found.end, found.start + 1))
            ]
            return self._describe_lines(change.path, before, lines, (file, count), landing)
        versions = file.versions[:count]
        return [self._describe_file(change.path, change.before, ours, versions, landing)]

    def _describe_lines(
        self,
        path: RepoPath,
        before: bytes,
        lines: Sequence[int],
        at: tuple[_LaneFile, int],
        landing: Collection[str],
    ) -> list[Obstacle]:
        """Describe a conflict in these lines of `before`.

        `at`: the file on the lane, and how many of its versions are older than the action.
        """
        file, count = at
        texts = before.split(b"\n")
        # The file on the lane is exactly `before`, unless a sparse checkout left the file out.
        on_lane, _ = trace_lines_back({line: line for line in lines}, hunks(file.text(count), before))
        found_writers = file.find_writers(on_lane.values(), count)
        writers = {line: found_writers.get(position) for line, position in on_lane.items()}
        since = self._changes_since_tip(path, file)
        runs: list[tuple[int, int, _LaneVersion | None]] = []
        for line in lines:
            writer = writers.get(line)
            if runs and runs[-1][1] == line and runs[-1][2] == writer:
                runs[-1] = (runs[-1][0], line + 1, writer)
            else:
                runs.append((line, line + 1, writer))
        found = []
        for start, end, writer in runs:
            if start in on_lane:
                first = follow_line(file.follow_to_tip(on_lane[start], count), since)[0] + 1
            else:
                first = follow_line(start, hunks(before, self._read_disk(path)))[0] + 1
            own = _describe_own_lines(texts[start:end])
            place = _Place(path, own, range(first, first + end - start))
            found.append(self._describe(place, writer, landing))
        return found

    def _changes_since_tip(self, path: RepoPath, file: _LaneFile) -> tuple[Hunk, ...]:
        if path not in self._on_disk:
            self._on_disk[path] = hunks(file.text(len(file.versions)), self._read_disk(path))
        return self._on_disk[path]

    def _read_disk(self, path: RepoPath) -> bytes:
        """The file as last recorded from disk, in the form git stores."""
        return (
            self._read(self._workspace.normal(path, lane_entry(self._workspace, self._plan.disk, path)))
            or b""
        )

    def _describe_file(
        self,
        path: RepoPath,
        before: TreeEntry | None,
        ours: TreeEntry | None,
        versions: Sequence[_LaneVersion],
        landing: Collection[str],
    ) -> Obstacle:
        """Describe a conflict without lines: a file that is missing or in the way, a link, binary content."""
        if before is None or ours is None:
            ends = (v for v in reversed(versions) if (v.after if before is None else v.before) is None)
            writer = next(ends, None)
        else:
            writer = versions[-1] if versions else None
        own = "your uncommitted deletion of it" if before is None else "your uncommitted file"
        return self._describe(_Place(path, own), writer, landing)

    def _describe(self, place: _Place, writer: _LaneVersion | None, landing: Collection[str]) -> Obstacle:
        if writer is not None:
            origin = self._origin(writer, place.path)
            if origin is not None and is_users(origin):
                reason = f"{place.builds_on} {place.own}"
                return Obstacle(place.path, "context", reason, place.line, None, writer.commit)
            names = (origin, *parse_actions(writer.message))
            wrote = next((self._entries[name] for name in names if name in self._entries), None)
            if wrote is not None and wrote.id not in landing:
                why: Why = "action" if wrote.lane == self._plan.lane.name else "session"
                lane = f" of {wrote.lane}" if why == "session" else ""
                onto = branch_name(self._plan.onto)
                reason = f"{place.builds_on} action {wrote.n}{lane}, which is not on {onto}"
                context = writer.commit if origin is not None else None
                return Obstacle(place.path, why, reason, place.line, wrote.n, context)
        return Obstacle(place.path, "branch", f"{place} {self._branch_change(place)}", place.line)

    def _branch_change(self, place: _Place) -> str:
        was, build = ("were", "build") if place.is_plural else ("was", "builds")
        name = branch_name(self._plan.onto)
        if self._start is None:
            return f"{build} on commits that {name} does not have"
        if place.path not in self._branch_commits:
            git, base = self._workspace.repository.git, self._plan.lane.base
            since = [f"^{base}"] if base else []
            found = git.text("log", "-1", "--format=%h %s", self._start, *since, "--", place.path)
            self._branch_commits[place.path] = found
        by = self._branch_commits[place.path]
        if by:
            return f"{was} changed on {name} by {printable(by)}"
        return f"{build} on commits that {name} does not have"

    def _origin(self, version: _LaneVersion, path: RepoPath) -> str | None:
        """Who wrote the lines of a context commit; None for the commit of an action."""
        contexts = [value.split(" ", 1) for value in parse_contexts(version.message)]
        found = [origin for origin, *rest in contexts if rest == [path]]
        return found[0] if found else contexts[0][0] if contexts else None


def _describe_own_lines(texts: Sequence[bytes]) -> str:
    if texts[1:]:
        return "your uncommitted lines"
    (text,) = (each.decode("utf-8", "replace") for each in texts)
    if not text.strip():
        return "your uncommitted empty line"
    return f'your uncommitted line "{printable(shorten(text, MAX_QUOTED))}"'


def left_json(left: Sequence[LeftAction]) -> list[LeftActionJson]:
    return [
        {
            "n": action.number,
            "commit": action.entry.commit,
            "path": obstacle.path,
            "line": obstacle.line,
            "why": obstacle.why,
            "reason": obstacle.reason,
            "by": obstacle.by,
        }
        for action in left
        for obstacle in action.obstacles
    ]


def left_hints(left: Sequence[LeftAction], onto: str) -> list[str]:
    kinds = dict.fromkeys(obstacle.why for action in left for obstacle in action.obstacles)
    moved = [a.entry.commit for a in left if any(o.why == "branch" for o in a.obstacles) and a.entry.commit]
    commits = " ".join(commit[:10] for commit in moved)
    return [HINTS[why].format(commits=commits, onto=branch_name(onto)) for why in kinds]
