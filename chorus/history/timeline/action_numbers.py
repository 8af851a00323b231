"""The numbers of actions, counted over all work trees of a repository.

Each timeline knows its own numbers. A shared file holds the newest number of the repository, so that a number
means the same action in every work tree. The file is written after the action. After a crash in between,
another work tree may use the number again; TREE:NUMBER then says which action is meant.
"""

import os
from contextlib import suppress
from pathlib import Path

from chorus.history.timeline.timeline_log import REF_PREFIX
from chorus.model.commits.commit_message import NUMBER
from chorus.store.git_process import Git

FILE_NAME = "last-number"


class ActionNumbers:
    def __init__(self, common_dir: Path, git: Git) -> None:
        self._path = os.fspath(common_dir / "chorus" / FILE_NAME)
        self._git = git

    def next_after(self, own: int) -> int:
        """The next number for a work tree whose newest number is `own`."""
        return max(own, self._read()) + 1

    def take(self, number: int) -> None:
        """Write the number of a new action to the shared file, for the other work trees."""
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
        """The highest number on any timeline, read from the records because the shared file is missing.

        0 if no timeline has one, or if the caller's timeline is the only one.
        """
        refs = self._git.text("for-each-ref", "--format=%(refname)", REF_PREFIX.rstrip("/")).split()
        if len(refs) < 2:
            return 0  # there is no timeline but the caller's, and the caller knows its own numbers
        newest = ("log", "-1", f"--grep=^{NUMBER}: ", f"--format=%(trailers:key={NUMBER},valueonly)")
        found = [self._git.text(*newest, ref) for ref in refs]
        return max((int(text) for text in found if text.strip().isdigit()), default=0)
