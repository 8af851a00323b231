"""Moves of HEAD and of the stash that others made, and the file changes that these moves explain.

A checkout, reset, rebase or stash writes files; a commit moves HEAD and writes none.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chorus.history.workspace import Workspace
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.object_store import ObjectMissing
from chorus.store.objects.trees import TreeEntry
from chorus.store.refs import NO_OID, Head

STASH = "refs/stash"
DETACHED = "detached"
UNBORN = "unborn"

# The end of the reflog that is read: about 300 lines, more moves than happen between two looks.
REFLOG_TAIL_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class ReflogStep:
    """One line of a reflog."""

    old: Oid | None
    new: Oid | None
    reason: str

    @property
    def writes(self) -> bool:
        """Whether git may have written files: `commit`, `commit (amend)` and the like write none."""
        return not self.reason.startswith("commit")


@dataclass(frozen=True, slots=True)
class HeadMove:
    """A move of HEAD or the stash. `steps`: only the steps in which git may have written files."""

    after: Head
    reason: str
    steps: tuple[ReflogStep, ...]
    is_switch: bool  # the user checked out a branch or commit; False for commits a rebase passes


class HeadTracker:
    def __init__(self, workspace: Workspace, last: str | None, branch: str | None) -> None:
        """`last`: HEAD when something was last recorded. `branch`: the timeline's `last_branch`."""
        self._workspace = workspace
        self.head = parse_head(last) if last else workspace.repository.head()
        self._stash = workspace.refs.read(STASH)
        self.branch = self.head.ref or self._detached_branch(branch)
        # HEAD when the changes found now were made. It may be older than `head`: an agent may change files
        # and commit them in one command.
        self.base = self.head
        # Whether the next look keeps `base`: the changes found last are not recorded, so it finds them again.
        self.keeps_base = False
        self._before_look = (self.head, self._stash, self.branch, self.base, self.keeps_base)

    def look(self) -> HeadMove | None:
        """Return the move of HEAD or the stash since the last look; None if neither moved."""
        *_, base, keeps_base = self._before_look = (
            self.head, self._stash, self.branch, self.base, self.keeps_base
        )  # fmt: skip
        move = self._find_move()
        if keeps_base and not (move and move.steps):
            self.base = base
        self.keeps_base = False
        return move

    def forget_look(self) -> None:
        """Undo the last look, so that the next one finds its move again."""
        self.head, self._stash, self.branch, self.base, self.keeps_base = self._before_look

    def _find_move(self) -> HeadMove | None:
        before, stash = self.head, self._stash
        self.head, self._stash = self._workspace.repository.head(), self._workspace.refs.read(STASH)
        self.base = self.head
        if self.head != before:
            move = self._head_move(before)
            self.base = self.head if move.steps else before
            if move.is_switch or self.head.ref:
                self.branch = self.head.ref or detached_at(self.head)
            return move
        if self._stash != stash:
            # Stashing changes files from their stashed content to that in HEAD; popping does the reverse.
            ends = [(self.head.oid, stash), (self.head.oid, self._stash), (self._stash, self.head.oid)]
            for untracked in (*self._untracked(stash), *self._untracked(self._stash)):
                ends += [(untracked, None), (None, untracked)]
            steps = tuple(ReflogStep(old, new, "stash") for old, new in ends)
            return HeadMove(self.head, "stash", steps, is_switch=False)
        return None

    def paths_of(self, move: HeadMove) -> list[RepoPath] | None:
        """The files that git may have written; None if the old commit of a step is gone."""
        paths: dict[RepoPath, None] = {}
        for step in move.steps:
            old, new = self._tree(step.old), self._tree(step.new)
            if old is None and step.old is not None:
                return None
            paths |= dict.fromkeys(change.path for change in self._workspace.trees.diff(old, new))
        return list(paths)

    def explains(self, move: HeadMove, path: RepoPath, after: TreeEntry | None) -> bool:
        """Whether the move alone explains the current content of `path`."""
        stored = self._workspace.normal(path, after)
        found = (self._workspace.trees.lookup(self._tree(step.new), path) for step in move.steps)
        return any((None if entry is None or entry.is_tree else entry) == stored for entry in found)

    def _head_move(self, before: Head) -> HeadMove:
        steps = read_reflog_steps(self._workspace.repository.git_dir, before.oid, self.head.oid)
        if steps is None:
            steps = [self._guess_step(before)]
        reason = next((step.reason for step in reversed(steps) if step.writes), steps[-1].reason)
        writing = tuple(step for step in steps if step.writes)
        switched = any(step.reason.startswith("checkout:") for step in steps)
        return HeadMove(self.head, reason, writing, switched)

    def _guess_step(self, before: Head) -> ReflogStep:
        """Guess which step moved HEAD, if the reflog does not show it.

        The step is a commit if HEAD is on the same branch and the old commit is a parent of the new one.
        """
        after = self.head
        if after.ref == before.ref and after.oid and before.oid in self._parents(after.oid):
            return ReflogStep(before.oid, after.oid, "commit")
        reason = f"checkout: {after.ref or after.oid}" if after.ref != before.ref else "HEAD moved"
        return ReflogStep(before.oid, after.oid, reason)

    def _detached_branch(self, branch: str | None) -> str:
        """Return the name to use as the branch while HEAD is detached.

        Keep `branch` if it is such a name already, or while a rebase or the like is in progress. Otherwise
        make a name from HEAD's commit.
        """
        if branch and (branch.startswith(DETACHED) or self._workspace.repository.operation()):
            return branch
        return detached_at(self.head)

    def _tree(self, commit: Oid | None) -> Oid | None:
        try:
            return self._workspace.store.read_commit(commit).tree if commit else None
        except ObjectMissing:
            return None

    def _untracked(self, stash: Oid | None) -> tuple[Oid, ...]:
        """The commit of untracked files, the third parent of a stash made with --include-untracked."""
        try:
            return self._parents(stash)[2:] if stash else ()
        except ObjectMissing:
            return ()

    def _parents(self, commit: Oid) -> tuple[Oid, ...]:
        return self._workspace.store.read_commit(commit).parents


def detached_at(head: Head) -> str:
    return f"{DETACHED} {(head.oid or UNBORN)[:12]}"


def render_head(head: Head) -> str:
    """Render HEAD as `refs/heads/main OID`; if detached, as `detached OID`."""
    return f"{head.ref or DETACHED} {head.oid or UNBORN}"


def parse_head(text: str) -> Head:
    ref, _, oid = text.rpartition(" ")
    return Head(None if ref == DETACHED else ref, None if oid == UNBORN else Oid(oid))


def read_reflog_steps(git_dir: Path, start: Oid | None, end: Oid | None) -> list[ReflogStep] | None:
    """The steps of HEAD's reflog from `start` to `end`, oldest first; None if the reflog lacks them."""
    try:
        with (git_dir / "logs" / "HEAD").open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(-min(size, REFLOG_TAIL_BYTES), os.SEEK_END)
            lines = file.read().decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return None
    steps = list(parse_reflog(lines))
    if not steps or steps[-1].new != end:
        return None
    starts = [index for index, step in enumerate(steps) if step.old == start]
    return steps[starts[-1] :] if starts else None


def parse_reflog(lines: list[str]) -> Iterator[ReflogStep]:
    """Parse lines `OLD NEW name seconds zone<TAB>reason`. A line whose start was cut off is left out."""
    for line in lines:
        head, _, reason = line.partition("\t")
        old, new, *_ = *head.split(" ", 2), "", ""
        if len(old) == len(new) == len(NO_OID):
            yield ReflogStep(None if old == NO_OID else Oid(old), None if new == NO_OID else Oid(new), reason)
