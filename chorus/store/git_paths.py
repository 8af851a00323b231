"""Where a repository is: its work tree and git directories, as git itself finds them.

Receives a directory, gives absolute paths, or says why there are none. Never writes.
"""

import os
from typing import NamedTuple

from chorus.errors import ChorusError
from chorus.store.git_process import Git, error_text

QUESTIONS = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")


class NoRepository(ChorusError):
    """There is no work tree of a git repository at this path."""

    hint = "Run the command inside a git work tree, or make one with `git init`."


class UnsupportedRepository(ChorusError):
    """A repository of a kind Chorus does not serve."""


class GitPaths(NamedTuple):
    git_dir: str
    common_dir: str
    work_tree: str

    @property
    def name(self) -> str:
        """This work tree among those of its repository, as a part of a ref name."""
        return work_tree_name(self.git_dir, self.common_dir)


def work_tree_name(git_dir: str, common_dir: str) -> str:
    return "main" if git_dir == common_dir else f"worktree-{os.path.basename(git_dir)}"  # noqa: PTH119


def read_git_paths(git: Git) -> GitPaths:
    """As git finds them from its directory."""
    done = git.attempt("rev-parse", "--path-format=absolute", *QUESTIONS)
    if done.returncode:
        raise explain_failure(git, error_text(done))
    lines = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    if len(lines) == len(QUESTIONS):
        return GitPaths(*lines)
    # A path with a newline in it: ask for one at a time.
    return GitPaths(*(git.text("rev-parse", "--path-format=absolute", question) for question in QUESTIONS))


def explain_failure(git: Git, words: str) -> ChorusError:
    if git.attempt("rev-parse", "--is-bare-repository").stdout == b"true\n":
        return UnsupportedRepository(
            f"{git.directory} is a bare repository: there are no files to watch",
            hint="Run the command in a work tree of it (`git worktree add`).",
        )
    if "repository extension" in words or "repo version" in words:
        return UnsupportedRepository(
            f"{git.directory}: {words}", hint="Install a git that knows this kind of repository."
        )
    return NoRepository(f"{git.directory}: {words}")
