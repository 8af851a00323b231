"""Pass the caller's environment to a program that tmux starts.

A pane gets the environment of the tmux server. So the caller's environment is passed in a file that only the
user can read.
"""

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chorus.system.files.private_files import make_private
from chorus.wire.home import Home

# Prefixes of the variables that a pane sets itself.
PANE_VARIABLES = ("TMUX", "TERM", "COLUMNS", "LINES")
# A program reads its environment in its first second; an older file is left over, and may hold secrets.
STALE_SECONDS = 3600.0


@contextmanager
def handed_over(home: Home, environment: Mapping[str, str]) -> Iterator[Path]:
    """Write the environment to a file, and yield the file's path. Remove the file if the block raises."""
    path = write_environment(home, environment)
    try:
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_environment(home: Home, environment: Mapping[str, str]) -> Path:
    make_private(home.root)
    _remove_stale(home)
    path = home.root / f"environment-{uuid.uuid4().hex[:12]}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"\0".join(os.fsencode(f"{name}={value}") for name, value in environment.items()))
    return path


def take_environment(path: Path) -> dict[str, str]:
    """Return the environment in the file, and remove the file.

    Variables whose names begin with one of PANE_VARIABLES come from this process instead of the file.
    """
    pairs = path.read_bytes().split(b"\0")
    path.unlink()
    handed_environment = dict(os.fsdecode(pair).split("=", 1) for pair in pairs if b"=" in pair)
    own = {name: value for name, value in os.environ.items() if name.startswith(PANE_VARIABLES)}
    return {
        **{name: value for name, value in handed_environment.items() if not name.startswith(PANE_VARIABLES)},
        **own,
    }


def _remove_stale(home: Home) -> None:
    for path in home.root.glob("environment-*"):
        try:
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                path.unlink()
        except FileNotFoundError:
            continue  # removed just now
