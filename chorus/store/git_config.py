"""The user's git configuration, read by git and cached until one of its files changes."""

import math
import os
import time
from pathlib import Path

from chorus.store.git_process import Git
from chorus.store.worktree.file_state import Stamp, stamp_of

CHECK_SECONDS = 1.0  # how long a changed setting may go unnoticed
FALSE_VALUES = ("false", "no", "off", "0", "")


class GitConfig:
    def __init__(self, git: Git, git_dir: Path, common_dir: Path) -> None:
        # A file that one of these includes (`include.path`) is not checked for changes.
        self.files = [
            Path("/etc/gitconfig"),
            config_home() / "config",
            Path.home() / ".gitconfig",
            common_dir / "config",
            git_dir / "config.worktree",
        ]
        self._git = git
        self._values: dict[str, str] = {}
        self._stamps: tuple[Stamp | None, ...] = ()
        self._version = 0
        self._checked = -math.inf

    def get(self, key: str) -> str | None:
        """The last value of a setting. Give section and name in lower case."""
        self._check()
        return self._values.get(key)

    @property
    def version(self) -> int:
        """A number that changes when one of the files has changed."""
        self._check()
        return self._version

    def _check(self) -> None:
        now = time.monotonic()
        if now - self._checked > CHECK_SECONDS:
            stamps = tuple(map(stamp_of, self.files))
            if stamps != self._stamps:
                self._values = read_config(self._git)
                self._stamps = stamps
                self._version += 1
            self._checked = now

    def get_bool(self, key: str, *, default: bool) -> bool:
        value = self.get(key)
        return default if value is None else value.lower() not in FALSE_VALUES

    def rule_file(self, key: str, name: str) -> Path:
        """The user's own ignore or attributes file.

        It is the path in the setting `key`, or else the file `name` in git's configuration directory.
        """
        named = self.get(key)
        return Path(named).expanduser() if named else config_home() / name


def config_home() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME")
    return Path(home) / "git" if home else Path.home() / ".config" / "git"


def read_config(git: Git) -> dict[str, str]:
    config: dict[str, str] = {}
    for item in os.fsdecode(git.run("config", "--list", "-z")).split("\0"):
        key, found, value = item.partition("\n")
        if key:
            # `[core] bare` without a value means true, and `-z` prints it without a newline.
            config[key] = value if found else "true"
    return config
