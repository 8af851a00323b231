"""Resolve the paths that another process names, even if they mean something else in this process.

Links are followed as they are now. A link in `/proc` (`/proc/self/cwd`, `/dev/stdin`) means something else in
every process, so a path through one has no answer. The work tree may also be found under a second path that
no link shows (a bind mount, `/System/Volumes/Data` on macOS): such a path is given as below the work tree.
"""

import errno
import os
import posixpath
import re
from pathlib import Path

# No system opens a path that is longer, but a program may shorten it first.
_MAX_LENGTH = 10_000
# As on Linux. What needs more links cannot be opened.
_MAX_LINKS = 40
# Directories of macOS in which a name does not show which file it is: they hold files by number, for example.
_OPAQUE = ("/.vol/", "/.nofollow/", "/.resolve/")

# As a disk of Windows gives them to names that are longer than eight characters, or begin with a dot.
_SHORT_NAME = re.compile(r"~[0-9]")


class PathResolver:
    """Resolves paths. Results of disk lookups are kept, so create a new one for each question."""

    def __init__(self, working: str, root: str) -> None:
        self._working = working
        self._root = root
        self._targets: dict[str, str | None] = {}  # of links; None for what is none
        self._is_root_by_path: dict[str, bool] = {}

    def resolve(self, path: str) -> str | None:
        """The absolute path without links, as for a process in the working directory; None if unknown."""
        if len(path) > _MAX_LENGTH:
            return None
        try:
            found = self._follow(posixpath.join(self._working, path))
            return None if found is None else self._path_in_root(found) or found
        except (OSError, ValueError):
            return None

    def _follow(self, path: str) -> str | None:
        at, links = "/", 0
        rest = path.split("/")[::-1]
        while rest:
            part = rest.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                at = posixpath.dirname(at)
                continue
            at = posixpath.join(at, part)
            if f"{at}/".startswith(_OPAQUE):
                return None
            if self._is_short_name(at, part):
                return None
            target = self._read_link(at)
            if target is None:
                continue
            links += 1
            if links > _MAX_LINKS or at.startswith("/proc/"):
                return None
            at = "/" if target.startswith("/") else posixpath.dirname(at)
            rest += target.split("/")[::-1]
        return at

    def _is_short_name(self, path: str, name: str) -> bool:
        """Whether the name is a second one that its directory does not list, as `GIT~1` for `.git`."""
        if _SHORT_NAME.search(name) is None or not os.path.lexists(path):
            return False
        return name not in os.listdir(posixpath.dirname(path))  # noqa: PTH208  only the names

    def _read_link(self, path: str) -> str | None:
        if path not in self._targets:
            try:
                self._targets[path] = os.readlink(path)  # noqa: PTH115  thousands of paths in one question
            except OSError as error:
                if error.errno == errno.ENAMETOOLONG:
                    raise
                self._targets[path] = None
        return self._targets[path]

    def _path_in_root(self, path: str) -> str | None:
        """The path as one below the root's own name; None if it does not lead through the root."""
        if f"{path}/".startswith(f"{self._root.rstrip('/')}/"):
            return path
        above, below = path, ""
        while above != "/":
            if self._is_root(above):
                return self._root + below
            above, name = posixpath.split(above)
            below = f"/{name}{below}"
        return None

    def _is_root(self, directory: str) -> bool:
        if directory not in self._is_root_by_path:
            try:
                same = Path(directory).samefile(self._root)
            except OSError:
                same = False
            self._is_root_by_path[directory] = same
        return self._is_root_by_path[directory]
