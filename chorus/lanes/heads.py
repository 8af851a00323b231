"""HEAD, and the stash, moved by somebody else: what moved, why, and which bytes that explains.

Receives where they were last seen. Gives the move with git's own words for it, and tells whether a
change on disk is what that move puts there. Costs one small read when nothing moved. Never moves a ref.
"""

from dataclasses import dataclass

from chorus.core.ids import Oid, RepoPath
from chorus.git.objects import ObjectMissing
from chorus.git.refs import Head
from chorus.git.trees import Entry
from chorus.lanes.site import Site

STASH = "refs/stash"
DETACHED = "detached"
UNBORN = "unborn"
# The last lines of a reflog are in here; a line is some 200 bytes.
TAIL_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Move:
    """`trees`: what git may have written to the work tree."""

    before: Head
    after: Head
    reason: str
    trees: tuple[Oid | None, ...]

    @property
    def is_switch(self) -> bool:
        """A commit checked out on purpose, not one that a rebase passes through."""
        return self.reason.startswith("checkout:")


class Heads:
    def __init__(self, site: Site, last: str | None, branch: str | None) -> None:
        """`last`: HEAD when something was last recorded; `branch`: that of the last lane written to."""
        self._site = site
        self.head = parse_head(last) if last else site.repository.head()
        self._stash = site.refs.read(STASH)
        self.branch = self.head.ref or self._detached_branch(branch)

    def look(self) -> Move | None:
        """What moved since the last look."""
        before, stash = self.head, self._stash
        self.head, self._stash = self._site.repository.head(), self._site.refs.read(STASH)
        if self.head != before:
            move = Move(before, self.head, self._why(before) or "HEAD moved", (self._tree(self.head.oid),))
            if move.is_switch or self.head.ref:
                self.branch = self.head.ref or detached_at(self.head)
            return move
        if self._stash != stash:
            trees = tuple(self._tree(oid) for oid in (self.head.oid, stash, self._stash))
            return Move(before, self.head, "stash", trees)
        return None

    def paths_between(self, move: Move) -> list[RepoPath] | None:
        """The files in which what was and what is differ; None where what was is not there any more."""
        start = self._tree(move.before.oid)
        if start is None and move.before.oid is not None:
            return None
        changes = (change for tree in move.trees for change in self._site.trees.diff(start, tree))
        return list(dict.fromkeys(change.path for change in changes))

    def explains(self, move: Move, path: RepoPath, after: Entry | None) -> bool:
        """Whether git's move alone makes the file at `path` what it now is."""
        stored = self._site.normal(path, after)
        found = (self._site.trees.lookup(tree, path) for tree in move.trees)
        return any((None if entry is None or entry.is_tree else entry) == stored for entry in found)

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

    def _why(self, before: Head) -> str | None:
        """git's own words, from the reflog of HEAD."""
        place = self._site.repository.git_dir / "logs" / "HEAD"
        try:
            with place.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - TAIL_BYTES))
                lines = file.read().decode(errors="replace").splitlines()
        except FileNotFoundError:
            lines = []
        newest = lines[-1].partition("\t") if lines else ("", "", "")
        if newest[0].split(" ")[1:2] == [self.head.oid]:
            return newest[2]
        return f"switched to {self.head.ref}" if self.head.ref != before.ref and self.head.ref else None


def detached_at(head: Head) -> str:
    return f"{DETACHED} {(head.oid or UNBORN)[:12]}"


def render_head(head: Head) -> str:
    """`refs/heads/main OID`"""
    return f"{head.ref or DETACHED} {head.oid or UNBORN}"


def parse_head(text: str) -> Head:
    ref, _, oid = text.rpartition(" ")
    return Head(None if ref == DETACHED else ref, None if oid == UNBORN else Oid(oid))
