"""Conflict markers for a file that cannot be merged, written by `git merge-file` in a temporary directory."""

import tempfile
from pathlib import Path

from chorus.store.git_process import Git

NAMES = ("ours", "base", "theirs")


def merge_with_markers(base: bytes, ours: bytes, theirs: bytes, labels: tuple[str, str, str]) -> bytes:
    """Merge, with conflict markers where needed. Labels: ours, base, theirs."""
    _, merged = run_merge_file(base, ours, theirs, *(part for label in labels for part in ("-L", label)))
    return merged


def run_merge_file(base: bytes, ours: bytes, theirs: bytes, *options: str) -> tuple[int, bytes]:
    """Run `git merge-file`. Return its exit code (0: no conflicts) and the merged content."""
    with tempfile.TemporaryDirectory(prefix="chorus-merge-") as name:
        folder = Path(name)
        for file, content in zip(NAMES, (ours, base, theirs), strict=True):
            (folder / file).write_bytes(content)
        done = Git(folder).attempt("merge-file", "-p", "-q", *options, *NAMES)
        return done.returncode, done.stdout
