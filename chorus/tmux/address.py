"""The address of the tmux server to use: the socket from -L or -S, else from $TMUX, else the default."""

import os
import socket
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.tmux.errors import CannotStartServer

# tmux's name for the default server.
DEFAULT_NAME = "default"


class UnsafeDirectory(ChorusError):
    """Another user could put a server into the directory of this user's sockets."""

    exit_code = ExitCode.REFUSED
    hint = "Remove that directory, or set $TMUX_TMPDIR to a directory of your own."


@dataclass(frozen=True, slots=True)
class Address:
    """The socket of a tmux server. Addresses are equal if their paths lead to the same socket."""

    socket: Path = field(compare=False)
    _real: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_real", os.path.realpath(self.socket))


def select_address(environment: Mapping[str, str], *, name: str | None, path: str | None) -> Address:
    """Return the selected address. A socket from -S or $TMUX is not checked."""
    if name is not None and path is not None:
        raise UsageError("-L and -S cannot be used together", hint="Leave one out.")
    if path is not None:
        return Address(Path(path).absolute())
    if name is not None:
        if "/" in name:
            raise UsageError(f"-L takes a name, not a path: {name}", hint="Use -S for a path.")
        return Address(_directory(environment) / name)
    inside = environment.get("TMUX", "").rsplit(",", 2)[0]
    return Address(Path(inside) if inside else _directory(environment) / DEFAULT_NAME)


def list_addresses(environment: Mapping[str, str]) -> list[Address]:
    """The addresses of this user's servers that accept connections.

    Only the directory of this user's sockets is searched; a socket selected with -S may be elsewhere. Raises
    UnsafeDirectory if another user could have put a socket into that directory.
    """
    directory = _directory(environment)
    sockets = sorted(directory.iterdir()) if directory.is_dir() else []
    return [address for address in map(Address, sockets) if accepts_connections(address)]


def accepts_connections(address: Address) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(address.socket))
        except OSError:
            return False
    return True


def make_directory(address: Address) -> None:
    """Create the socket's directory if it has the name of tmux's default directory (`tmux-UID`).

    tmux creates this directory itself, but not with `-S`, which Chorus uses.
    """
    directory = address.socket.parent
    if directory.name != _own_name():
        return
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise CannotStartServer(f"cannot create {directory}: {error.strerror}") from error
    _refuse_unsafe(directory)


def _directory(environment: Mapping[str, str]) -> Path:
    # tmux ignores TMPDIR, and uses /tmp if TMUX_TMPDIR is not a directory.
    named = Path(environment.get("TMUX_TMPDIR") or "/tmp")  # noqa: S108  tmux's own default
    directory = (named if named.is_dir() else Path("/tmp")) / _own_name()  # noqa: S108  tmux's own default
    _refuse_unsafe(directory)
    return directory


def _refuse_unsafe(directory: Path) -> None:
    """Check the owner and mode of the directory, as tmux does. A missing directory passes."""
    try:
        found = directory.lstat()
    except OSError:
        return
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & stat.S_IRWXO:
        raise UnsafeDirectory(f"{directory} is not a directory that only you can write to")


def _own_name() -> str:
    return f"tmux-{os.getuid()}"
