"""Run tmux commands, one process per call, through libtmux's `Server`. About 2 ms per call.

libtmux's Session and Pane objects are not used: they start up to nine processes where one or two do
(splitting and closing a pane took 3.6 times as long), pass a program to a shell as one string, and list
nothing on any failure.
"""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import libtmux
from libtmux import exc

from chorus.tmux.address import Address
from chorus.tmux.errors import TmuxNotInstalled, TmuxRefused, translate_refusal

# The first version with `attach-session -f`, `-N` and `#{C:}` in conditions.
MIN_VERSION = (3, 2)


class Tmux(Protocol):
    """Runs commands on a server. Several in one call run without those of other clients in between."""

    @property
    def address(self) -> Address: ...

    def run(self, *commands: Sequence[str]) -> list[str]:
        """Return the lines the commands print. Raises the errors of `chorus.tmux.errors`."""
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
        server = libtmux.Server(socket_path=self.address.socket)
        try:
            # Without -u, tmux prints "_" for characters outside the caller's locale.
            done = server.cmd("-u", *arguments)
        except exc.TmuxCommandNotFound:
            raise TmuxNotInstalled from None
        except exc.LibTmuxException as error:
            raise TmuxRefused(f"tmux: {error}") from error
        if done.stderr:
            raise translate_refusal(done.stderr[0], socket=str(self.address.socket))
        return list(done.stdout)


def read_version() -> str:
    """The version as tmux prints it: `3.3a`, `next-3.5`, `master`."""
    try:
        done = subprocess.run(["tmux", "-V"], capture_output=True, text=True)
    except FileNotFoundError:
        raise TmuxNotInstalled from None
    return done.stdout.strip().removeprefix("tmux ")


def is_supported(version: str) -> bool:
    """Whether Chorus supports this version. One without a number is built from the newest source."""
    numbers = re.search(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= MIN_VERSION
