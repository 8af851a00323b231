"""The work tree and git directories of a repository, as git finds them.

Only git knows whether it accepts the repository (`safe.directory`, an unknown extension).
"""

import os
from typing import NamedTuple

from chorus.errors import ChorusError
from chorus.store.git_process import Git, GitFailed, error_text
from chorus.system.files.git_files import work_tree_label

REV_PARSE_OPTIONS = ("--absolute-git-dir", "--git-common-dir", "--show-toplevel")


class NoRepository(ChorusError):
    """The path is not inside a git work tree."""

    hint = "Run the command inside a git work tree, or create one with `git init`."


class UnsupportedRepository(ChorusError):
    """A kind of repository that Chorus does not support."""


class GitPaths(NamedTuple):
    """The paths of a repository, all absolute."""

    git_dir: str
    common_dir: str
    work_tree: str

    @property
    def name(self) -> str:
        """The name of this work tree within its repository, used in ref names."""
        return work_tree_name(self.git_dir, self.common_dir)

    @property
    def label(self) -> str:
        return work_tree_label(self.git_dir, self.common_dir)


def work_tree_name(git_dir: str, common_dir: str) -> str:
    return "main" if git_dir == common_dir else f"worktree-{os.path.basename(git_dir)}"  # noqa: PTH119  hot path


def read_git_paths(git: Git) -> GitPaths:
    """Ask git for the paths. Raises NoRepository, UnsupportedRepository or GitFailed."""
    done = git.attempt("rev-parse", "--path-format=absolute", *REV_PARSE_OPTIONS)
    if done.returncode:
        raise explain_failure(git, error_text(done))
    lines = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    if len(lines) == len(REV_PARSE_OPTIONS):
        return GitPaths(*lines)
    # A path contains a newline: ask for one at a time.
    return GitPaths(
        *(git.text("rev-parse", "--path-format=absolute", question) for question in REV_PARSE_OPTIONS)
    )


def explain_failure(git: Git, message: str) -> ChorusError:
    if git.attempt("--version").returncode:
        # For example, macOS's git without the developer tools.
        return GitFailed(
            f"git does not run: {message}",
            hint="Install git 2.34 or newer; on macOS, run `xcode-select --install`.",
        )
    if git.attempt("rev-parse", "--is-bare-repository").stdout == b"true\n":
        return UnsupportedRepository(
            f"{git.directory} is a bare repository: it has no files to watch",
            hint="Run the command in a work tree; `git worktree add` creates one.",
        )
    if "repository extension" in message or "repo version" in message:
        return UnsupportedRepository(
            f"{git.directory}: {message}", hint="Install a newer git, which supports this kind of repository."
        )
    if "not a git repository" in message or "work tree" in message:
        return NoRepository(f"{git.directory}: {message}")
    # For example, a damaged config, or a repository of another user.
    return NoRepository(
        f"{git.directory}: {message}", hint="Fix what git reports, then run the command again."
    )
