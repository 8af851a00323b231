"""A user's repository: where it is, what state it is in, who its user is.

Receives a path, gives facts. Refuses what Chorus cannot serve, with the reason. Never writes.
"""

import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from chorus.store.git_config import GitConfig
from chorus.store.git_paths import UnsupportedRepository, read_git_paths
from chorus.store.git_process import Git
from chorus.store.objects.commits import Signature
from chorus.store.refs import Head, Refs
from chorus.system.durable_writes import PendingWrites

FALLBACK_NAME = "Chorus"
FALLBACK_EMAIL = "chorus@localhost"

# What stands in the git directory while an operation is under way.
OPERATIONS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
# What says which branch a rebase goes back to.
REBASED = ("rebase-merge/head-name", "rebase-apply/head-name")


@dataclass(frozen=True, slots=True)
class Identity:
    """`stated` is False where the user has none and Chorus signs with its own."""

    name: str
    email: str
    stated: bool


class Repository:
    def __init__(self, work_tree: Path, git_dir: Path, common_dir: Path) -> None:
        self.work_tree = work_tree
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.git = Git(work_tree)
        self.config = GitConfig(self.git, git_dir, common_dir)
        self._signed: Signature | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """The repository whose work tree holds `path`; refuses what Chorus cannot serve."""
        git_dir, common_dir, work_tree = map(Path, read_git_paths(Git(path)))
        repository = cls(work_tree, git_dir, common_dir)
        refuse_unsupported(repository)
        return repository

    @property
    def own_dir(self) -> Path:
        """Chorus's files for this work tree."""
        return self.git_dir / "chorus"

    @property
    def shared_dir(self) -> Path:
        """Chorus's files for all work trees of this repository."""
        return self.common_dir / "chorus"

    @cached_property
    def pending_writes(self) -> PendingWrites:
        """What keeps refs from reaching the disk before the objects they lead to."""
        return PendingWrites(self.common_dir, wanted=self.config.get_bool("chorus.durable", default=True))

    @cached_property
    def refs(self) -> Refs:
        return Refs(self.git, self.git_dir, self.common_dir, self.pending_writes, self.signature)

    def head(self) -> Head:
        return self.refs.head()

    def checked_out(self) -> dict[str, Path]:
        """The branches that are checked out or being rebased, and in which work tree."""
        found = {}
        for block in self.git.text("worktree", "list", "--porcelain").split("\n\n"):
            fields = dict(line.partition(" ")[::2] for line in block.splitlines())
            if "branch" in fields:
                found[fields["branch"]] = Path(fields["worktree"])
        return found | self._rebased()

    def _rebased(self) -> dict[str, Path]:
        """The branches that a rebase has detached HEAD from: it moves them at its end."""
        links = [self.common_dir / "gitdir", *self.common_dir.glob("worktrees/*/gitdir")]
        found = {}
        for link in links:
            for mark in (link.parent / name for name in REBASED):
                if mark.exists():
                    place = read_line(link) if link.exists() else str(self.common_dir)
                    found[read_line(mark)] = Path(place).parent
        return found

    def operation(self) -> str | None:
        """The operation the user is in the middle of, if any."""
        return next((name for mark, name in OPERATIONS.items() if (self.git_dir / mark).exists()), None)

    def signature(self, seconds: int | None = None) -> Signature:
        """The user as committer, at the given time or now, in the local zone."""
        moment = int(time.time()) if seconds is None else seconds
        if self._signed is None or self._signed.seconds != moment:
            who = self.identity()
            zone = time.strftime("%z", time.localtime(moment))
            self._signed = Signature(who.name, who.email, moment, zone)
        return self._signed

    def identity(self) -> Identity:
        name = self.config.get("committer.name") or self.config.get("user.name")
        email = self.config.get("committer.email") or self.config.get("user.email")
        return Identity(name or FALLBACK_NAME, email or FALLBACK_EMAIL, stated=bool(name and email))


def read_line(place: Path) -> str:
    return os.fsdecode(place.read_bytes()).removesuffix("\n")


def refuse_unsupported(repository: Repository) -> None:
    storage = repository.config.get("extensions.objectformat") or "sha1"
    if storage != "sha1":
        raise UnsupportedRepository(
            f"{repository.work_tree} names its objects by {storage}; Chorus knows sha1 only",
            hint="Use a repository made with `git init --object-format=sha1`.",
        )
    refs = repository.config.get("extensions.refstorage") or "files"
    if refs != "files":
        raise UnsupportedRepository(
            f"{repository.work_tree} keeps its refs in a {refs}; Chorus knows refs in files only",
            hint="`git refs migrate --ref-format=files`, from git 2.48 on, turns them into files.",
        )
