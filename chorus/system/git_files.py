"""Find a work tree and its git directories by looking at files, without starting git.

For commands that must answer within milliseconds, and for paths that may be in no repository.
`store/git_paths.py` asks git itself, which alone knows whether it would work there (bare repositories,
unknown extensions, `safe.directory`). Standard library only: short commands import it.
"""

import os
from pathlib import Path


def find_work_tree(start: Path) -> Path | None:
    """The nearest directory at or above `start` that holds `.git`."""
    return next((directory for directory in (start, *start.parents) if (directory / ".git").exists()), None)


def read_git_dir(work_tree: Path) -> Path:
    """The git directory of a work tree: `.git` itself, or where that file points (linked work trees)."""
    git = work_tree / ".git"
    if not git.is_file():
        return git
    text = git.read_text(encoding="utf-8", errors="surrogateescape").strip()
    return (work_tree / text.removeprefix("gitdir:").strip()).resolve()


def read_common_dir(git_dir: Path) -> Path:
    """The directory that all work trees of a repository share."""
    pointer = git_dir / "commondir"
    if not pointer.is_file():
        return git_dir
    return Path(os.path.normpath(git_dir / pointer.read_text(encoding="utf-8").strip()))
