"""Find a work tree and its git directories by looking at files, without starting git.

This is fast, but git may still refuse the repository that was found: `store/git_paths.py` asks git. Paths are
strings, because short commands import this module, and importing pathlib takes a third as long as starting
Python.
"""

import os
from os.path import exists, isfile, join, normpath, realpath

AnyPath = str | os.PathLike[str]


def find_work_tree(start: AnyPath) -> str | None:
    """The nearest directory at or above `start` that contains `.git`; None if there is none."""
    directory = realpath(start)
    while not _holds_git(directory):
        directory, below = os.path.split(directory)
        if not below:
            return None
    return directory


def read_git_dir(work_tree: AnyPath) -> str:
    """The git directory of a work tree: `.git`, or the directory that a `.git` file names."""
    git = join(work_tree, ".git")
    if not isfile(git):
        return git
    return realpath(join(work_tree, _read_line(git).removeprefix("gitdir:").strip()))


def read_common_dir(git_dir: AnyPath) -> str:
    """The git directory that all work trees of a repository share."""
    pointer = join(git_dir, "commondir")
    if not isfile(pointer):
        return os.fspath(git_dir)
    return normpath(join(git_dir, _read_line(pointer)))


def work_tree_label(git_dir: AnyPath, common_dir: AnyPath) -> str:
    """The name of a work tree for users: `main`, or the name that git gave a linked work tree.

    No two work trees get the same name: a linked one that git named `main` is called `worktree-main`, and one
    that git named `worktree-main` gets the prefix once more.
    """
    if os.fspath(git_dir) == os.fspath(common_dir):
        return "main"
    name = os.path.basename(git_dir)
    return f"worktree-{name}" if name.replace("worktree-", "") == "main" else name


def label_of(directory: AnyPath) -> str | None:
    """The name of the work tree that contains `directory`; None if there is none, or on an error."""
    try:
        root = find_work_tree(directory)
        git_dir = realpath(read_git_dir(root)) if root is not None else None
        return work_tree_label(git_dir, realpath(read_common_dir(git_dir))) if git_dir is not None else None
    except (OSError, ValueError):
        return None


def list_work_trees(common_dir: AnyPath) -> dict[str, str]:
    """The root of each existing work tree that Chorus has recorded, by name; the main work tree first."""
    found: dict[str, str] = {}
    common = os.fspath(common_dir)
    main = os.path.dirname(common)
    if _has_history(common) and exists(join(main, ".git")) and realpath(read_git_dir(main)) == common:
        found["main"] = main
    try:
        linked = sorted(os.listdir(join(common, "worktrees")))
    except (FileNotFoundError, NotADirectoryError):
        return found
    for name in linked:
        git_dir = join(common, "worktrees", name)
        root = _linked_root(git_dir)
        if root is not None and _has_history(git_dir):
            found[work_tree_label(git_dir, common)] = root
    return found


def _holds_git(directory: str) -> bool:
    """True if `directory` contains `.git`. Raises OSError if that cannot be checked."""
    try:
        os.stat(join(directory, ".git"))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _has_history(git_dir: str) -> bool:
    return exists(join(git_dir, "chorus", "recording.lock"))  # whoever records takes this lock


def _linked_root(git_dir: str) -> str | None:
    """The work tree of a linked git directory; None if it was removed or moved."""
    try:
        pointer = _read_line(join(git_dir, "gitdir"))
        root = realpath(os.path.dirname(normpath(join(git_dir, pointer))))
        return root if read_git_dir(root) == realpath(git_dir) else None
    except (OSError, ValueError):
        return None


def _read_line(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read().strip()
