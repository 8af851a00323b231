"""Which tmux server is meant: a socket, from -L, -S, $TMUX or tmux's default, in that order."""

import os
import socket
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.tmux.errors import CannotStartServer

# What tmux itself calls the server nobody named.
DEFAULT_NAME = "default"


class UnsafeDirectory(ChorusError):
    """Somebody else could put a server of theirs where this user's is looked for."""

    exit_code = ExitCode.REFUSED
    hint = "Remove it, or name a directory of your own in $TMUX_TMPDIR."


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


def make_directory(address: Address) -> None:
    """Where this user's servers are, before the first of them: tmux makes it for a name, not for a path."""
    directory = address.socket.parent
    if directory.name != _own_name():
        return
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        found = directory.lstat()
    except OSError as error:
        raise CannotStartServer(f"cannot make {directory}: {error.strerror}") from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & stat.S_IRWXO:
        raise UnsafeDirectory(f"{directory} is not a directory of this user's alone")


def _directory(environment: Mapping[str, str]) -> Path:
    # tmux uses /tmp whatever TMPDIR says, and also when there is no directory TMUX_TMPDIR names.
    named = Path(environment.get("TMUX_TMPDIR") or "/tmp")  # noqa: S108
    return (named if named.is_dir() else Path("/tmp")) / _own_name()  # noqa: S108


def _own_name() -> str:
    return f"tmux-{os.getuid()}"
