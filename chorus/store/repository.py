"""The user's repository: its directories, its state, its refs and its configuration."""

import os
from functools import cached_property
from pathlib import Path
from typing import Self

from chorus.store.committer import Committer
from chorus.store.git_config import GitConfig
from chorus.store.git_paths import UnsupportedRepository, read_git_paths
from chorus.store.git_process import Git, PrivateGit
from chorus.store.refs import Head, Refs
from chorus.system.files.durable_writes import PendingWrites

# Files and directories of the git directory that exist during an operation.
OPERATIONS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
# Files that name the branch being rebased.
REBASE_HEAD_NAMES = ("rebase-merge/head-name", "rebase-apply/head-name")


class Repository:
    def __init__(self, work_tree: Path, git_dir: Path, common_dir: Path) -> None:
        self.work_tree = work_tree
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.git = Git(work_tree)
        self.private_git = PrivateGit(work_tree)
        self.config = GitConfig(self.git, git_dir, common_dir)
        self.committer = Committer(self.config)

    @classmethod
    def open(cls, path: Path) -> Self:
        """The repository whose work tree contains `path`. Raises if Chorus does not support it."""
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
        """Objects not yet on the disk; a ref update waits for them."""
        return PendingWrites(self.common_dir, enabled=self.config.get_bool("chorus.durable", default=True))

    @cached_property
    def refs(self) -> Refs:
        return Refs(self.git, self.git_dir, self.common_dir, self.pending_writes, self.committer.sign)

    def head(self) -> Head:
        return self.refs.head()

    def checked_out(self) -> dict[str, Path]:
        """Branches that are checked out or being rebased, with their work trees."""
        found = {}
        for block in self.git.text("worktree", "list", "--porcelain").split("\n\n"):
            fields = dict(line.partition(" ")[::2] for line in block.splitlines())
            if "branch" in fields:
                found[fields["branch"]] = Path(fields["worktree"])
        return found | self._rebased()

    def _rebased(self) -> dict[str, Path]:
        """Branches that a rebase will move when it ends; HEAD is detached until then."""
        links = [self.common_dir / "gitdir", *self.common_dir.glob("worktrees/*/gitdir")]
        found = {}
        for link in links:
            for mark in (link.parent / name for name in REBASE_HEAD_NAMES):
                if mark.exists():
                    git_dir = read_line(link) if link.exists() else str(self.common_dir)
                    found[read_line(mark)] = Path(git_dir).parent
        return found

    def operation(self) -> str | None:
        return next((name for mark, name in OPERATIONS.items() if (self.git_dir / mark).exists()), None)


def read_line(path: Path) -> str:
    return os.fsdecode(path.read_bytes()).removesuffix("\n")


def refuse_unsupported(repository: Repository) -> None:
    storage = repository.config.get("extensions.objectformat") or "sha1"
    if storage != "sha1":
        raise UnsupportedRepository(
            f"{repository.work_tree} uses {storage} object ids; Chorus supports sha1 only",
            hint="Use a repository created with `git init --object-format=sha1`.",
        )
    refs = repository.config.get("extensions.refstorage") or "files"
    if refs != "files":
        raise UnsupportedRepository(
            f"{repository.work_tree} keeps its refs in a {refs}; Chorus supports refs in files only",
            hint="Convert them with `git refs migrate --ref-format=files` (git 2.48 or newer).",
        )
