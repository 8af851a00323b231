"""Run tmux commands through libtmux, one process and about 2 ms per call.

libtmux's Session and Pane objects are not used. They start up to nine processes where one or two are enough
(splitting and closing a pane took 3.6 times as long), and return empty lists on any failure.
"""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from libtmux import exc
from libtmux.common import tmux_cmd

from chorus.tmux.address import Address
from chorus.tmux.errors import TmuxNotInstalled, TmuxRefused, translate_refusal
from chorus.tmux.silent_servers import note_reply, note_timeout, raise_if_silent

# A process is started for each call, which takes time on a busy machine. A stopped server never replies.
REPLY_TIMEOUT_SECONDS = 5.0
# A server that starts reads the user's configuration first, and runs the programs it names.
START_TIMEOUT_SECONDS = 60.0
# The first version with `attach-session -f`, `-N` and `#{C:}` in conditions.
MIN_VERSION = (3, 2)


class Tmux(Protocol):
    """Runs commands on a server. No command of another client runs between the commands of one call."""

    @property
    def address(self) -> Address: ...

    def run(self, *commands: Sequence[str]) -> list[str]:
        """Run the commands and return the lines they print. Raises the errors of `chorus.tmux.errors`."""
        ...


@dataclass(frozen=True, slots=True)
class TmuxServer:
    """A `Tmux` that starts a process for each call."""

    address: Address

    def run(self, *commands: Sequence[str]) -> list[str]:
        arguments: list[str] = []
        for command in commands:
            # A word that ends in a semicolon would end the command.
            arguments += [";"] * bool(arguments) + [
                word[:-1] + "\\;" if word[-1:] == ";" else word for word in command
            ]
        raise_if_silent(self.address)
        starts_server = any(command[0] == "new-session" for command in commands)
        seconds = START_TIMEOUT_SECONDS if starts_server else REPLY_TIMEOUT_SECONDS
        try:
            # Without -u, tmux prints "_" for characters outside the caller's locale.
            done = _LimitedCommand(["-S", str(self.address.socket), "-u", *arguments], seconds)
        except exc.TmuxCommandNotFound:
            raise TmuxNotInstalled from None
        except exc.LibTmuxException as error:
            raise TmuxRefused(f"tmux: {error}") from error
        except subprocess.TimeoutExpired:
            raise note_timeout(self.address) from None
        note_reply(self.address)
        if done.stderr:
            raise translate_refusal(done.stderr[0], socket=str(self.address.socket))
        return list(done.stdout)


class _LimitedCommand(tmux_cmd):
    """A libtmux command with a time limit, which libtmux itself does not have."""

    def __init__(self, arguments: Sequence[str], seconds: float) -> None:
        self._seconds = seconds
        super().__init__(*arguments)

    @property  # type: ignore[override]  # it has what libtmux uses
    def process(self) -> "_LimitedProcess":
        return self._process

    @process.setter
    def process(self, started: subprocess.Popen[str]) -> None:
        self._process = _LimitedProcess(started, self._seconds)


@dataclass(frozen=True, slots=True)
class _LimitedProcess:
    """Popen as libtmux uses it. At the time limit, the process is killed and TimeoutExpired raised."""

    started: subprocess.Popen[str]
    seconds: float

    @property
    def returncode(self) -> int | None:
        return self.started.returncode

    def communicate(self) -> tuple[str, str]:
        try:
            return self.started.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            # Its output is not read to the end: tmux has passed the pipes to the server, which holds them.
            self.started.kill()
            self.started.wait()
            for pipe in (self.started.stdout, self.started.stderr):
                assert pipe
                pipe.close()
            raise


def read_version() -> str:
    """The version as tmux prints it: `3.3a`, `next-3.5`, `master`."""
    try:
        done = subprocess.run(["tmux", "-V"], capture_output=True, text=True)
    except FileNotFoundError:
        raise TmuxNotInstalled from None
    return done.stdout.strip().removeprefix("tmux ")


def is_supported(version: str) -> bool:
    """True if Chorus supports this version, or if the version has no number, such as `master`."""
    numbers = re.search(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= MIN_VERSION
