"""The directory of a repository's watcher: `chorus/` inside the common git directory.

Finds the repository without running git, and does without `dataclasses`, whose import is a quarter of what a
command that asks the watcher costs.
"""

from pathlib import Path
from typing import NamedTuple

from chorus.errors import NotFound
from chorus.system import git_files


class NotARepository(NotFound):
    hint = "Run chorus inside a git work tree."


class Home(NamedTuple):
    common_dir: Path

    @property
    def root(self) -> Path:
        return self.common_dir / "chorus"

    @property
    def socket(self) -> Path:
        return self.root / "watcher.sock"

    @property
    def lock(self) -> Path:
        return self.root / "watcher.lock"

    @property
    def log(self) -> Path:
        return self.root / "watcher.log"

    @property
    def spool(self) -> Path:
        return self.root / "spool"


def find_home(start: Path) -> Home:
    """Return the home of the repository that `start` is in."""
    return find_work_tree(start)[1]


def find_work_tree(start: Path) -> tuple[Path, Home]:
    """Return the work tree that `start` is in, and its repository's home."""
    try:
        return _find_work_tree(start)
    except (OSError, ValueError) as error:  # a directory that cannot be read, an invalid name
        raise NotARepository(f"cannot read {start}: {error}") from error


def _find_work_tree(start: Path) -> tuple[Path, Home]:
    work_tree = git_files.find_work_tree(start.resolve())
    if work_tree is None:
        raise NotARepository(f"{start} is not inside a git work tree")
    return work_tree, Home(git_files.read_common_dir(git_files.read_git_dir(work_tree)))
