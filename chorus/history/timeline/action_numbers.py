"""The numbers of actions, counted over all work trees of a repository.

A shared file holds the newest number. The file is written after the action, so a crash may cause a number to
be used twice. TREE:NUMBER then says which action is meant.
"""

import os
from contextlib import suppress

from chorus.history.marks.mark_log import FILE_NAME as MARKS_NAME
from chorus.history.marks.mark_log import parse_marks, read_marks
from chorus.history.timeline.timeline_log import OLD_REF_PREFIX, REF_PREFIX
from chorus.model.commits.commit_message import NUMBER
from chorus.store.repository import Repository

FILE_NAME = "last-number"


class ActionNumbers:
    def __init__(self, repository: Repository) -> None:
        self._path = os.fspath(repository.shared_dir / FILE_NAME)
        self._repository = repository

    def next_after(self, own: int) -> int:
        """The next number for a work tree whose newest number is `own`."""
        return max(own, self._read()) + 1

    def take(self, number: int) -> None:
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(descriptor, b"%-19d\n" % number, 0)
            finally:
                os.close(descriptor)

    def _read(self) -> int:
        try:
            with open(self._path, "rb", buffering=0) as file:  # noqa: PTH123  hot path
                return int(file.read(20))
        except (FileNotFoundError, ValueError):
            return self._newest_recorded()

    def _newest_recorded(self) -> int:
        """Return the highest number in the records and marks of all work trees; 0 if there is none.

        A timeline with missing objects is left out: it must not stop the others.
        """
        git, refs, common_dir = self._repository.git, self._repository.refs, self._repository.common_dir
        tips = {*refs.list(OLD_REF_PREFIX).values(), *refs.list(REF_PREFIX).values()}
        newest = ("log", "-1", "--basic-regexp", f"--grep=^{NUMBER}: ")
        trailer = f"--format=%(trailers:key={NUMBER},valueonly)"
        texts = [git.attempt(*newest, trailer, tip).stdout.strip() for tip in tips]
        found = [int(text) for text in texts if text.isdigit()]
        for git_dir in (common_dir, *common_dir.glob("worktrees/*")):
            calls, _ = read_marks(git_dir / "chorus" / MARKS_NAME)
            found += [call["n"] for call in parse_marks(b"\n".join(calls))]
        return max(found, default=0)
