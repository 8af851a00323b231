"""One tmux process per call, through libtmux: for what is done once. About 2 ms a call."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import libtmux
from libtmux import exc

from chorus.tmux.address import Address
from chorus.tmux.errors import TmuxNotInstalled, TmuxRefused, translate_refusal


class Tmux(Protocol):
    """A way to have a server run commands. Several in one call run with nobody else's in between."""

    @property
    def address(self) -> Address: ...

    def run(self, *commands: Sequence[str]) -> list[str]:
        """The lines the commands printed. Raises what `chorus.tmux.errors` names."""
        ...


@dataclass(frozen=True, slots=True)
class TmuxServer:
    address: Address

    def run(self, *commands: Sequence[str]) -> list[str]:
        words: list[str] = []
        for command in commands:
            # A word that ends in a semicolon would end the command.
            words += [";"] * bool(words) + [
                word[:-1] + "\\;" if word[-1:] == ";" else word for word in command
            ]
        server = libtmux.Server(socket_path=self.address.socket)
        try:
            # -u: without it tmux prints "_" for what the caller's locale cannot show.
            done = server.cmd("-u", *words)
        except exc.TmuxCommandNotFound:
            raise TmuxNotInstalled from None
        except exc.LibTmuxException as error:
            raise TmuxRefused(f"tmux: {error}") from error
        if done.stderr:
            raise translate_refusal(done.stderr[0], socket=str(self.address.socket))
        return list(done.stdout)


# `attach-session -f`, `-N` and `#{C:}` in conditions.
MIN_VERSION = (3, 2)


def read_version() -> str:
    """As tmux says it: `3.3a`, `next-3.5`, `master`."""
    try:
        done = subprocess.run(["tmux", "-V"], capture_output=True, text=True)
    except FileNotFoundError:
        raise TmuxNotInstalled from None
    return done.stdout.strip().removeprefix("tmux ")


def is_supported(version: str) -> bool:
    """A version without a number is built from the newest source."""
    numbers = re.search(r"(\d+)\.(\d+)", version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= MIN_VERSION
