"""Run git.

Inherited `GIT_*` variables, hooks, fsmonitor, signing and automatic gc are switched off. Optional locks are
not taken, so the user's index is not refreshed. The missing objects of a partial clone are not fetched.
`UserGit`, for landing, keeps the user's hooks and signing.
"""

import os
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from chorus.errors import ChorusError
from chorus.model.ids import RepoPath

# The only inherited variable that is kept. It tells git where its own programs are.
KEPT_VARIABLES = {"GIT_EXEC_PATH"}

FIXED_VARIABLES = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    # `:x` and `*` are file names here, never patterns.
    "GIT_LITERAL_PATHSPECS": "1",
    # These two make a missing object an error; git would fetch it. git before 2.45 knows only the second.
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
    """A git command failed."""


def scrubbed_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    return inherited_environment() | FIXED_VARIABLES | dict(extra or {})


def inherited_environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in KEPT_VARIABLES
    }


class Git:
    """Runs git in one directory."""

    __slots__ = ("directory",)

    umask = -1  # keep the umask of this process

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def run(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
        accept: Sequence[int] = (0,),
    ) -> bytes:
        """Run one command and return its stdout. Raises GitFailed for a return code not in `accept`."""
        done = self.attempt(*arguments, stdin=stdin, extra=extra)
        if done.returncode not in accept:
            raise GitFailed(f"`git {command_name(arguments)}` failed: {error_text(done)}")
        return done.stdout

    def text(self, *arguments: str | bytes, accept: Sequence[int] = (0,)) -> str:
        """Like `run`, decoded and without the last newline; undecodable bytes become surrogate escapes."""
        return os.fsdecode(self.run(*arguments, accept=accept)).removesuffix("\n")

    def attempt(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        extra: Mapping[str, str] | None = None,
        limit_seconds: float | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one command, whatever its return code. After `limit_seconds`, kill its whole process group."""
        with self._started(arguments, extra, subprocess.PIPE) as process:
            try:
                stdout, stderr = process.communicate(stdin, limit_seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                stdout, stderr = b"", f"no answer within {limit_seconds:g} seconds".encode()
            return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def start(self, *arguments: str | bytes) -> subprocess.Popen[bytes]:
        return self._started(arguments, None, subprocess.DEVNULL)

    def _started(
        self, arguments: Sequence[str | bytes], extra: Mapping[str, str] | None, stderr: int
    ) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self.command(arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=self.directory,
                env=self.environment(extra),
                umask=self.umask,
                # A process group of its own: git gets no Ctrl-C, and is killed with a filter that hangs.
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise start_error(error, self.directory) from error

    def command(self, arguments: Sequence[str | bytes]) -> list[str | bytes]:
        return with_settings(QUIET_CONFIG, arguments)

    def environment(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        return scrubbed_environment(extra)


class PrivateGit(Git):
    """Runs git commands that write Chorus's own files. Only the owner can read these files."""

    __slots__ = ()

    umask = 0o077

    def command(self, arguments: Sequence[str | bytes]) -> list[str | bytes]:
        return with_settings((*QUIET_CONFIG, "core.sharedRepository=0600"), arguments)


class UserGit(Git):
    """Runs git with the user's hooks and signing, for commits on the user's branches.

    Hooks may run git themselves, so `FIXED_VARIABLES` are not set.
    """

    __slots__ = ()

    def command(self, arguments: Sequence[str | bytes]) -> list[str | bytes]:
        return with_settings(("gc.auto=0", "maintenance.auto=false"), arguments)

    def environment(self, extra: Mapping[str, str] | None) -> dict[str, str]:
        return inherited_environment() | {"GIT_TERMINAL_PROMPT": "0"} | dict(extra or {})


def with_settings(settings: Iterable[str], arguments: Sequence[str | bytes]) -> list[str | bytes]:
    return ["git", *(part for setting in settings for part in ("-c", setting)), *arguments]


def error_text(done: subprocess.CompletedProcess[bytes]) -> str:
    stderr = done.stderr.decode(errors="replace").strip()
    return stderr or f"exit code {done.returncode}"


def command_name(arguments: Sequence[str | bytes]) -> str:
    remaining = list(arguments)
    while remaining[0] == "-c":
        del remaining[:2]
    return remaining[0].decode(errors="replace") if isinstance(remaining[0], bytes) else remaining[0]


def start_error(error: FileNotFoundError, directory: Path) -> GitFailed:
    if not directory.is_dir():
        return GitFailed(f"{directory} does not exist", hint="Run the command in a directory that exists.")
    return GitFailed(f"cannot start git: {error}", hint="Install git 2.34 or newer.")


def join_names(names: Iterable[str]) -> bytes:
    """Render names as git reads them with `-z`."""
    return b"".join(os.fsencode(name) + b"\0" for name in names)


def split_names(data: bytes) -> list[RepoPath]:
    """Parse names as git prints them with `-z`."""
    return [RepoPath(os.fsdecode(name)) for name in data.split(b"\0")[:-1]]
