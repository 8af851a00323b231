"""Read any object that git can read, through one long-running `git cat-file --batch`.

An object that a partial clone lacks counts as missing: nothing is fetched.
"""

import subprocess
import threading

from chorus.model.ids import Oid
from chorus.store.git_process import Git, GitFailed


class BatchReader:
    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def read(self, oid: Oid) -> tuple[bytes, bytes] | None:
        """Return the object's kind and bytes, or None if git has no such object."""
        with self._lock:
            for _ in range(2):
                try:
                    return self._ask(oid)
                except (OSError, EOFError):
                    # The process ended. If it was killed, a new process can read the object. If git gave up
                    # because a partial clone lacks the object, the second attempt fails too.
                    self._end()
            return None

    def close(self) -> None:
        with self._lock:
            self._end()

    def _ask(self, oid: Oid) -> tuple[bytes, bytes] | None:
        process = self._process = self._process or self._git.start("cat-file", "--batch")
        if process.stdin is None or process.stdout is None:
            raise GitFailed("`git cat-file` has no pipes")
        process.stdin.write(oid.encode() + b"\n")
        process.stdin.flush()
        header = process.stdout.readline()
        if not header.endswith(b"\n"):
            raise EOFError
        _, kind, *size = header.split()
        if not size:
            return None
        data = process.stdout.read(int(size[0]) + 1)
        if len(data) <= int(size[0]):
            raise EOFError
        return kind, data[:-1]

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()
