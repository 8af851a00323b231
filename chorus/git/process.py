"""The one door through which Chorus runs git.

Receives argument lists, gives bytes. Never lets the caller's `GIT_*` variables, the user's hooks,
fsmonitor, signing or automatic gc take part, never takes an optional lock (so a user's index is
never refreshed), never reaches the network, not even to fetch the missing objects of a partial clone.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from chorus.errors import ChorusError

# Where git finds its own programs: the one inherited variable that does not steer what git does.
KEPT_VARIABLES = {"GIT_EXEC_PATH"}

FIXED_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # A name is a name: `:x`, `*` and `-x` are files here, never patterns.
    "GIT_LITERAL_PATHSPECS": "1",
    # Older than 2.45, git knows only the second; with both, a missing object is an error, not a fetch.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}

QUIET_CONFIG = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "commit.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


class GitFailed(ChorusError):
    """git refused what Chorus asked of it."""


def scrubbed_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment every git process of Chorus gets."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in KEPT_VARIABLES
    }
    return kept | FIXED_VARIABLES | dict(extra or {})


class Git:
    """git, run in one directory."""

    __slots__ = ("directory",)

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def run(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
        accept: Sequence[int] = (0,),
    ) -> bytes:
        """stdout of one git command; a return code not in `accept` is an error with git's own words."""
        done = self.attempt(*arguments, stdin=stdin, extra=extra)
        if done.returncode not in accept:
            raise GitFailed(f"`git {spoken(arguments[0])}` failed: {said_by(done)}")
        return done.stdout

    def text(self, *arguments: str | bytes, accept: Sequence[int] = (0,)) -> str:
        """The answer without its line end, undecodable bytes kept as surrogate escapes."""
        return os.fsdecode(self.run(*arguments, accept=accept)).removesuffix("\n")

    def attempt(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one git command and say how it went, whatever it was."""
        try:
            return subprocess.run(
                command(arguments),
                input=stdin,
                capture_output=True,
                cwd=self.directory,
                env=scrubbed_environment(extra),
            )
        except FileNotFoundError as error:
            raise cannot_start(error, self.directory) from error

    def start(
        self, *arguments: str | bytes, extra: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """A git process that stays: the caller owns it and ends it."""
        try:
            return subprocess.Popen(
                command(arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self.directory,
                env=scrubbed_environment(extra),
            )
        except FileNotFoundError as error:
            raise cannot_start(error, self.directory) from error


def command(arguments: Sequence[str | bytes]) -> list[str | bytes]:
    quiet = [part for setting in QUIET_CONFIG for part in ("-c", setting)]
    return ["git", *quiet, *arguments]


def said_by(done: subprocess.CompletedProcess[bytes]) -> str:
    """What git said, or its return code where it said nothing."""
    words = done.stderr.decode(errors="replace").strip()
    return words or f"exit code {done.returncode}"


def spoken(argument: str | bytes) -> str:
    return argument.decode(errors="replace") if isinstance(argument, bytes) else argument


def cannot_start(error: FileNotFoundError, directory: Path) -> GitFailed:
    if not directory.is_dir():
        return GitFailed(f"{directory} is not there", hint="Run the command in a directory that exists.")
    return GitFailed(f"git cannot be started: {error}", hint="Install git 2.30 or newer.")
