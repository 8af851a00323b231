"""HEAD, and the stash, moved by somebody else: what moved, why, and which bytes that explains.

Receives where they were last seen. Gives the move with git's own words for it, and tells whether a
change on disk is what that move puts there. A commit moves HEAD and writes no file: what is on disk then
is not its doing. Costs a few small reads when nothing moved. Never moves a ref.
"""

from dataclasses import dataclass

from chorus.history.reflog import Step, read_steps
from chorus.history.site import Site
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.store import ObjectMissing
from chorus.store.objects.trees import Entry
from chorus.store.refs import Head

STASH = "refs/stash"
DETACHED = "detached"
UNBORN = "unborn"


@dataclass(frozen=True, slots=True)
class Move:
    """`steps` are those in which git may have written files."""

    after: Head
    reason: str
    steps: tuple[Step, ...]
    is_switch: bool = False  # a branch or commit checked out on purpose, not one a rebase passes through


class Heads:
    def __init__(self, site: Site, last: str | None, branch: str | None) -> None:
        """`last`: HEAD when something was last recorded; `branch`: that of the last lane written to."""
        self._site = site
        self.head = parse_head(last) if last else site.repository.head()
        self._stash = site.refs.read(STASH)
        self.branch = self.head.ref or self._detached_branch(branch)
        # Where what is found now started from: the agent may change files and commit them in one command.
        self.base = self.head

    def look(self) -> Move | None:
        """What moved since the last look."""
        before, stash = self.head, self._stash
        self.head, self._stash = self._site.repository.head(), self._site.refs.read(STASH)
        self.base = self.head
        if self.head != before:
            move = self._moved(before)
            self.base = self.head if move.steps else before
            if move.is_switch or self.head.ref:
                self.branch = self.head.ref or detached_at(self.head)
            return move
        if self._stash != stash:
            # Stashing goes from what was stashed to HEAD, popping the other way round.
            ends = [(self.head.oid, stash), (self.head.oid, self._stash), (self._stash, self.head.oid)]
            return Move(self.head, "stash", tuple(Step(old, new, "stash") for old, new in ends))
        return None

    def paths_of(self, move: Move) -> list[RepoPath] | None:
        """The files git may have written; None where what was is not there any more."""
        paths: dict[RepoPath, None] = {}
        for step in move.steps:
            old, new = self._tree(step.old), self._tree(step.new)
            if old is None and step.old is not None:
                return None
            paths |= dict.fromkeys(change.path for change in self._site.trees.diff(old, new))
        return list(paths)

    def explains(self, move: Move, path: RepoPath, after: Entry | None) -> bool:
        """Whether git's move alone makes the file at `path` what it now is."""
        stored = self._site.normal(path, after)
        found = (self._site.trees.lookup(self._tree(step.new), path) for step in move.steps)
        return any((None if entry is None or entry.is_tree else entry) == stored for entry in found)

    def _moved(self, before: Head) -> Move:
        steps = read_steps(self._site.repository.git_dir, before.oid, self.head.oid)
        if steps is None:
            steps = [self._guessed(before)]
        reason = next((step.reason for step in reversed(steps) if step.writes), steps[-1].reason)
        writing = tuple(step for step in steps if step.writes)
        switched = any(step.reason.startswith("checkout:") for step in steps)
        return Move(self.head, reason, writing, switched)

    def _guessed(self, before: Head) -> Step:
        """Without a reflog: a commit made on top of the last one is taken for just that."""
        after = self.head
        if after.ref == before.ref and after.oid and before.oid in self._parents(after.oid):
            return Step(before.oid, after.oid, "commit")
        words = f"checkout: {after.ref or after.oid}" if after.ref != before.ref else "HEAD moved"
        return Step(before.oid, after.oid, words)

    def _detached_branch(self, branch: str | None) -> str:
        """A lane goes on while a rebase or the like has HEAD detached."""
        if branch and (branch.startswith(DETACHED) or self._site.repository.operation()):
            return branch
        return detached_at(self.head)

    def _tree(self, commit: Oid | None) -> Oid | None:
        try:
            return self._site.store.read_commit(commit).tree if commit else None
        except ObjectMissing:
            return None

    def _parents(self, commit: Oid) -> tuple[Oid, ...]:
        return self._site.store.read_commit(commit).parents


def detached_at(head: Head) -> str:
    return f"{DETACHED} {(head.oid or UNBORN)[:12]}"


def render_head(head: Head) -> str:
    """`refs/heads/main OID`"""
    return f"{head.ref or DETACHED} {head.oid or UNBORN}"


def parse_head(text: str) -> Head:
    ref, _, oid = text.rpartition(" ")
    return Head(None if ref == DETACHED else ref, None if oid == UNBORN else Oid(oid))
