"""The user's git configuration, as git itself reads it.

Receives a repository's places, gives settings. Read again when a file it came from changes. Never writes.
"""

import math
import os
import time
from pathlib import Path

from chorus.store.git_process import Git
from chorus.store.worktree.file_state import Stamp, stamp_of

LOOK_SECONDS = 1.0  # a setting changed by hand may count this much later
NO_WORDS = ("false", "no", "off", "0", "")


class GitConfig:
    def __init__(self, git: Git, git_dir: Path, common_dir: Path) -> None:
        """Where settings come from; files that these include are not looked at for changes."""
        self.files = [
            Path("/etc/gitconfig"),
            home() / "config",
            Path.home() / ".gitconfig",
            common_dir / "config",
            git_dir / "config.worktree",
        ]
        self._git = git
        self._values: dict[str, str] = {}
        self._stamps: tuple[Stamp | None, ...] = ()
        self._looked = -math.inf

    def get(self, key: str) -> str | None:
        """The last value of a setting. Section and name are in lower case."""
        now = time.monotonic()
        if now - self._looked > LOOK_SECONDS:
            stamps = tuple(map(stamp_of, self.files))
            if stamps != self._stamps:
                self._values = read_config(self._git)
                self._stamps = stamps
            self._looked = now
        return self._values.get(key)

    def get_bool(self, key: str, *, default: bool) -> bool:
        value = self.get(key)
        return default if value is None else value.lower() not in NO_WORDS

    def rule_file(self, key: str, name: str) -> Path:
        """The user's own ignore or attributes file: the one a setting names, or the usual one."""
        named = self.get(key)
        return Path(named).expanduser() if named else home() / name


def home() -> Path:
    """Where git looks for the user's own `config`, `ignore` and `attributes`."""
    place = os.environ.get("XDG_CONFIG_HOME")
    return Path(place) / "git" if place else Path.home() / ".config" / "git"


def read_config(git: Git) -> dict[str, str]:
    config: dict[str, str] = {}
    for item in os.fsdecode(git.run("config", "--list", "-z")).split("\0"):
        key, found, value = item.partition("\n")
        if key:
            # `[core] bare` without a value means true, and `-z` prints it without a newline.
            config[key] = value if found else "true"
    return config
