"""Resolve paths as another process sees them, from its working directory.

Links in `/proc` differ for each process, so a path through such a link (`/proc/self/cwd`, `/dev/stdin`) is
not resolved. The work tree may have a second path without any link (a bind mount, `/System/Volumes/Data` on
macOS). A path below the second path is returned as a path below the work tree.
"""

import errno
import os
import posixpath
import re
from pathlib import Path

# Longer paths are not resolved. Systems open only shorter ones, but a program may shorten a path first.
_MAX_LENGTH = 10_000
# As on Linux, where a path through more links cannot be opened.
_MAX_LINKS = 40
# Directories of macOS in which a path does not show which file it means. `/.vol` names files by number.
_OPAQUE = ("/.vol/", "/.nofollow/", "/.resolve/")

# A disk of Windows has a second, short name for each name that is longer than eight characters or begins with
# a dot.
_SHORT_NAME = re.compile(r"~[0-9]")


class PathResolver:
    """Resolves paths. Caches what it reads from the disk, so create a new resolver for each check."""

    def __init__(self, working: str, root: str) -> None:
        self._working = working
        self._root = root
        self._targets: dict[str, str | None] = {}  # by path; None if the path is not a link
        self._is_root_by_path: dict[str, bool] = {}

    def resolve(self, path: str) -> str | None:
        """Return the absolute path without links; None if it cannot be resolved."""
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
        """True if `name` is a short name of Windows, such as `GIT~1` for `.git`.

        A short name can be opened, but the directory does not list it.
        """
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
        """Return `path` spelled with the work tree's own path; None if it is outside the work tree."""
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
