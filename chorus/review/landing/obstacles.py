"""Explain why a change does not fit a branch: which line of which file builds on what.

A change conflicts where the branch does not have the lines it starts from. Those lines are followed back
through the lane. Either they are uncommitted lines of the user or of another session, or an action that does
not land wrote them, or they were committed when the lane began and the branch has changed them since.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from chorus.changes.diff import hunks
from chorus.changes.line_merge import Overlap, merge_lines
from chorus.changes.line_trace import follow_line, trace_lines_back
from chorus.history.lanes.lane_change import lane_entry
from chorus.history.lanes.lanes import USER_ORIGINS
from chorus.history.log.entry import LogEntry
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.api.json_api import LeftActionJson
from chorus.model.commits.commit_message import parse_actions, parse_contexts, shorten
from chorus.model.ids import Oid, RepoPath
from chorus.model.lane_name import branch_name
from chorus.review.landing.merge import PathConflict, PositionsOf, tree_of
from chorus.review.landing.plan import LandingPlan
from chorus.store.objects.trees import TreeEntry
from chorus.text.sanitize import printable

Why: TypeAlias = Literal["context", "session", "action", "branch", "staged"]
# What to do about each kind.
HINTS: dict[Why, str] = {
    "context": "Land your lines as well with --with-context, or commit them first.",
    "session": "Land those actions first, or their lines with --with-context.",
    "action": "Land those actions as well.",
    "branch": "The branch has moved on: resolve it by hand with `git cherry-pick {commits}` on {onto}.",
    "staged": "Commit or unstage that first (`git restore --staged PATH`).",
}
MAX_QUOTED = 40


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What prevents an action from landing, at one place. `by`: the action it builds on. Lines start at 1."""

    path: RepoPath
    why: Why
    reason: str
    line: int | None = None
    by: int | None = None
    context: Oid | None = None  # the lane's commit with the lines it builds on


@dataclass(frozen=True, slots=True)
class LeftAction:
    """An action that does not land, with everything in its way."""

    entry: LogEntry
    obstacles: tuple[Obstacle, ...]

    @property
    def number(self) -> int:
        assert self.entry.n is not None
        return self.entry.n


@dataclass(frozen=True, slots=True)
class _LaneVersion:
    """A commit of the lane that changed the file. None: no file."""

    commit: Oid
    message: str
    before: TreeEntry | None
    after: TreeEntry | None


@dataclass(frozen=True, slots=True)
class _Place:
    """A file, or some of its lines as they are on disk. `text`: of a single line, what it builds on."""

    path: RepoPath
    line: int | None = None
    count: int = 0
    text: str | None = None
    is_gone: bool = False  # it builds on there being no file

    def __str__(self) -> str:
        if self.line is None:
            return printable(self.path)
        lines = f"line {self.line}" if self.count == 1 else f"lines {self.line}-{self.line + self.count - 1}"
        return f"{lines} of {printable(self.path)}"

    @property
    def builds_on(self) -> str:
        return f"{self} {'build' if self.count > 1 else 'builds'} on"

    @property
    def users_own(self) -> str:
        """The user's own lines at that place."""
        if self.line is None:
            return (
                "your uncommitted deletion of it" if self.is_gone else "a file of yours that is not committed"
            )
        if self.text is None or not self.text.strip():
            return "your uncommitted lines" if self.count > 1 else "a line you have not committed"
        return f'your uncommitted line "{printable(shorten(self.text, MAX_QUOTED))}"'


@dataclass(frozen=True, slots=True)
class ObstacleFinder:
    """`start`: the branch's last commit."""

    workspace: Workspace
    plan: LandingPlan
    start: Oid | None
    positions_of: PositionsOf

    def find(self, entry: LogEntry, conflict: PathConflict, landing: Collection[str]) -> list[Obstacle]:
        """Everything that prevents an action from landing. `landing`: actions the branch has or gets."""
        change, ours = conflict.change, conflict.ours
        versions = list(self._versions(entry, change.path))
        before, after = self._text(change.before), self._text(change.after)
        branch = self._text(ours)
        overlap = None
        if before is not None and after is not None and branch is not None:
            positions = self.positions_of(change.path)
            overlap = merge_lines(before, branch, after, positions=positions)
        if isinstance(overlap, Overlap) and overlap.ranges:
            assert before is not None
            last = before.count(b"\n") - before.endswith(b"\n")
            lines = [
                min(line, last)
                for found in overlap.ranges
                for line in range(found.start, max(found.end, found.start + 1))
            ]
            return self._describe_lines(change.path, before, lines, versions, landing)
        return [self._describe_file(change.path, change.before, ours, versions, landing)]

    def _describe_lines(
        self,
        path: RepoPath,
        before: bytes,
        lines: Sequence[int],
        versions: Sequence[_LaneVersion],
        landing: Collection[str],
    ) -> list[Obstacle]:
        disk = self._text(self.workspace.normal(path, lane_entry(self.workspace, self.plan.disk, path)))
        since = hunks(before, disk or b"")
        texts = before.split(b"\n")
        writers = self._find_writers(before, lines, versions)
        runs: list[tuple[int, int, _LaneVersion | None]] = []
        for line in lines:
            writer = writers.get(line)
            if runs and runs[-1][1] == line and runs[-1][2] == writer:
                runs[-1] = (runs[-1][0], line + 1, writer)
            else:
                runs.append((line, line + 1, writer))
        found = []
        for start, end, writer in runs:
            first = follow_line(start, since)[0] + 1
            text = texts[start].decode("utf-8", "replace") if end == start + 1 else None
            found.append(self._describe(_Place(path, first, end - start, text), writer, landing))
        return found

    def _describe_file(
        self,
        path: RepoPath,
        before: TreeEntry | None,
        ours: TreeEntry | None,
        versions: Sequence[_LaneVersion],
        landing: Collection[str],
    ) -> Obstacle:
        """A conflict without lines: a file that is missing or in the way, a link, binary content."""
        if before is None or ours is None:
            writer = next((v for v in versions if (v.after if before is None else v.before) is None), None)
        else:
            writer = versions[0] if versions else None
        return self._describe(_Place(path, is_gone=before is None), writer, landing)

    def _describe(self, place: _Place, writer: _LaneVersion | None, landing: Collection[str]) -> Obstacle:
        if writer is not None:
            origin = self._origin(writer, place.path)
            if origin is not None and origin.startswith(USER_ORIGINS):
                reason = f"{place.builds_on} {place.users_own}"
                return Obstacle(place.path, "context", reason, place.line, None, writer.commit)
            names = (origin, *parse_actions(writer.message))
            wrote = next((entry for entry in self.plan.entries if entry.id and entry.id in names), None)
            if wrote is not None and wrote.id not in landing:
                why: Why = "action" if wrote.lane == self.plan.lane.name else "session"
                lane = f" of {wrote.lane}" if why == "session" else ""
                onto = branch_name(self.plan.onto)
                reason = f"{place.builds_on} action {wrote.n}{lane}, which is not on {onto}"
                context = writer.commit if origin is not None else None
                return Obstacle(place.path, why, reason, place.line, wrote.n, context)
        return Obstacle(place.path, "branch", f"{place} {self._branch_change(place)}", place.line)

    def _branch_change(self, place: _Place) -> str:
        """The change of the file on the branch since the lane began."""
        was, build = ("were", "build") if place.count > 1 else ("was", "builds")
        name = branch_name(self.plan.onto)
        if self.start is None:
            return f"{build} on commits that {name} does not have"
        git, base = self.workspace.repository.git, self.plan.lane.base
        since = [f"^{base}"] if base else []
        by = git.text("log", "-1", "--format=%h %s", self.start, *since, "--", place.path)
        if by:
            return f"{was} changed on {name} by {printable(by)}"
        return f"{build} on commits that {name} does not have"

    def _origin(self, version: _LaneVersion, path: RepoPath) -> str | None:
        """Who wrote the lines of a context commit; None for the commit of an action."""
        contexts = [value.split(" ", 1) for value in parse_contexts(version.message)]
        found = [origin for origin, *rest in contexts if rest == [path]]
        return found[0] if found else contexts[0][0] if contexts else None

    def _find_writers(
        self, before: bytes, lines: Sequence[int], versions: Sequence[_LaneVersion]
    ) -> dict[int, _LaneVersion]:
        """The commit of the lane that wrote each of these lines; none for those the lane began with."""
        writers: dict[int, _LaneVersion] = {}
        positions, now = {line: line for line in lines}, before
        for version in versions:
            after, older = self._text(version.after) or b"", self._text(version.before) or b""
            positions, _ = trace_lines_back(positions, hunks(after, now))
            positions, written = trace_lines_back(positions, hunks(older, after))
            writers |= dict.fromkeys(written, version)
            now = older
        return writers

    def _versions(self, entry: LogEntry, path: RepoPath) -> Iterator[_LaneVersion]:
        """The commits of the lane that changed the file before this action did, newest first."""
        store = self.workspace.store
        if entry.commit is None:
            return
        parents = store.read_commit(entry.commit).parents
        while parents and parents[0] != self.plan.lane.base:
            oid = parents[0]
            commit = store.read_commit(oid)
            parents = commit.parents
            older = tree_of(self.workspace, parents[0]) if parents else None
            before = lane_entry(self.workspace, older, path)
            after = lane_entry(self.workspace, commit.tree, path)
            if before != after:
                yield _LaneVersion(oid, commit.message, before, after)

    def _text(self, entry: TreeEntry | None) -> bytes | None:
        if entry is None or entry.mode not in PLAIN_MODES:
            return None
        return self.workspace.store.read_blob(entry.oid)


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
    """One line for each kind of obstacle."""
    kinds = dict.fromkeys(obstacle.why for action in left for obstacle in action.obstacles)
    moved = [a.entry.commit for a in left if any(o.why == "branch" for o in a.obstacles) and a.entry.commit]
    commits = " ".join(commit[:10] for commit in moved)
    return [HINTS[why].format(commits=commits, onto=branch_name(onto)) for why in kinds]
