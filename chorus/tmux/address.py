"""Which tmux server is meant: a socket, from -L, -S, $TMUX or tmux's default, in that order."""

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chorus.errors import UsageError

# What tmux itself calls the server nobody named.
DEFAULT_NAME = "default"


@dataclass(frozen=True, slots=True)
class Address:
    socket: Path


def select_address(environment: Mapping[str, str], *, name: str | None, path: str | None) -> Address:
    if name is not None and path is not None:
        raise UsageError("give -L NAME or -S PATH, not both")
    if path is not None:
        return Address(Path(path).absolute())
    if name is not None:
        if "/" in name:
            raise UsageError(f"-L takes a name, not a path: {name}", hint="Use -S for a path.")
        return Address(_directory(environment) / name)
    inside = environment.get("TMUX", "").rsplit(",", 2)[0]
    return Address(Path(inside) if inside else _directory(environment) / DEFAULT_NAME)


def list_addresses(environment: Mapping[str, str]) -> list[Address]:
    """Every server of this user that accepts connections. tmux leaves the sockets of dead ones behind."""
    directory = _directory(environment)
    places = sorted(directory.iterdir()) if directory.is_dir() else []
    return [address for address in map(Address, places) if answers(address)]


def answers(address: Address) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(address.socket))
        except OSError:
            return False
    return True


def _directory(environment: Mapping[str, str]) -> Path:
    # tmux uses /tmp whatever TMPDIR says.
    return Path(environment.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108
