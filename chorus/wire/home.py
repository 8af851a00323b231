"""The directory of a repository's watcher: `chorus/` inside the common git directory.

Short commands import this module, so paths are strings: importing pathlib takes a third of the time Python
needs to start.
"""

from __future__ import annotations

import os

from chorus.errors import NotFound
from chorus.system.files import git_files

TYPE_CHECKING = False  # typing costs as much as pathlib
if TYPE_CHECKING:
    from pathlib import Path


class NotARepository(NotFound):
    hint = "Run the command inside a git work tree, or create one with `git init`."


class Home:
    __slots__ = ("repository",)

    def __init__(self, common_dir: git_files.AnyPath) -> None:
        self.repository = os.fspath(common_dir)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Home) and self.repository == other.repository

    def __hash__(self) -> int:
        return hash(self.repository)

    def __repr__(self) -> str:
        return f"Home({self.repository!r})"

    def file(self, name: str) -> str:
        return os.path.join(self.repository, "chorus", name)

    @property
    def common_dir(self) -> Path:
        return _path(self.repository)

    @property
    def root(self) -> Path:
        return self.common_dir / "chorus"

    @property
    def socket(self) -> Path:
        return _path(self.file("watcher.sock"))

    @property
    def lock(self) -> Path:
        return _path(self.file("watcher.lock"))

    @property
    def log(self) -> Path:
        return _path(self.file("watcher.log"))

    @property
    def spool(self) -> Path:
        return _path(self.file("spool"))


def find_home(start: git_files.AnyPath) -> Home:
    """Return the home of the repository that `start` is in. Raise NotARepository outside a work tree."""
    return _find_work_tree(start)[1]


def find_work_tree(start: git_files.AnyPath) -> tuple[Path, Home]:
    """Return the work tree that `start` is in, and its repository's home."""
    work_tree, home = _find_work_tree(start)
    return _path(work_tree), home


def _find_work_tree(start: git_files.AnyPath) -> tuple[str, Home]:
    try:
        work_tree = git_files.find_work_tree(start)
        if work_tree is not None:
            return work_tree, Home(git_files.read_common_dir(git_files.read_git_dir(work_tree)))
    except (OSError, ValueError) as error:  # a directory that cannot be read, an invalid name
        raise NotARepository(
            f"cannot read {start}: {error}",
            hint="Check that the directory exists and that you can read it.",
        ) from error
    raise NotARepository(f"{start} is not inside a git work tree")


def label_work_tree(work_tree: git_files.AnyPath, home: Home) -> str:
    """Return the name that Chorus shows for a work tree, such as `main`."""
    git_dir = os.path.realpath(git_files.read_git_dir(work_tree))
    return git_files.work_tree_label(git_dir, os.path.realpath(home.repository))


def list_work_trees(home: Home) -> dict[str, Path]:
    """Return the work trees of a repository that exist and were recorded by Chorus, by name."""
    return {name: _path(root) for name, root in git_files.list_work_trees(home.repository).items()}


def _path(text: str) -> Path:
    from pathlib import Path  # noqa: PLC0415  see above

    return Path(text)
