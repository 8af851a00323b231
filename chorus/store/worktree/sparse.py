"""Find the paths that a sparse checkout leaves out of the work tree.

Once a file is created at an excluded path, the user's index no longer marks the path as excluded. So git
applies the sparse rules to a copy of the index, with an empty work tree.
"""

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from chorus.model.ids import RepoPath
from chorus.store.git_process import Git, split_names
from chorus.store.repository import Repository
from chorus.store.user_index import SKIPPED


def find_excluded_by_sparse(repository: Repository, paths: Iterable[RepoPath]) -> set[RepoPath]:
    """Return the `paths` that a sparse checkout leaves out."""
    wanted = set(paths)
    if not wanted or not _is_sparse(repository):
        return set()
    with tempfile.TemporaryDirectory(prefix="sparse-", dir=repository.own_dir) as name:
        empty = Path(name) / "empty"
        empty.mkdir()
        index = shutil.copyfile(repository.git_dir / "index", Path(name) / "index")
        # Run in the empty directory: git looks for files where it runs.
        git = Git(empty)
        options = (f"--git-dir={repository.git_dir}", f"--work-tree={empty}")
        extra = {"GIT_INDEX_FILE": str(index)}
        git.run(*options, "sparse-checkout", "reapply", extra=extra)
        listed = split_names(git.run(*options, "ls-files", "-t", "-z", extra=extra))
    skipped = (RepoPath(line[2:]) for line in listed if line.startswith(f"{SKIPPED} "))
    return wanted.intersection(skipped)


def _is_sparse(repository: Repository) -> bool:
    """True if the checkout is sparse. Nothing is cached, because git may just have changed the setting."""
    if not (repository.git_dir / "info" / "sparse-checkout").exists():
        return False
    return repository.git.text("config", "--type=bool", "core.sparseCheckout", accept=(0, 1)) == "true"
