"""The caller's environment, handed to a program that tmux starts.

A pane gets the environment of the tmux server, not that of the shell a command was typed in. So the
caller writes its own into a file that only its user can read, and the program in the pane takes it.
"""

import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chorus.wire.home import Home

# A pane has its own of these.
OF_THE_PANE = ("TMUX", "TERM", "COLUMNS", "LINES")
# A program takes its environment in its first second; what is this old waits for nobody, and may hold keys.
STALE_SECONDS = 3600.0


@contextmanager
def handed_over(home: Home, environment: Mapping[str, str]) -> Iterator[Path]:
    """The file for the program that is started inside. If it cannot be started, no file is left."""
    path = write_environment(home, environment)
    try:
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def write_environment(home: Home, environment: Mapping[str, str]) -> Path:
    home.root.mkdir(mode=0o700, exist_ok=True)
    _remove_stale(home)
    path = home.root / f"environment-{uuid.uuid4().hex[:12]}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"\0".join(os.fsencode(f"{name}={value}") for name, value in environment.items()))
    return path


def take_environment(path: Path) -> dict[str, str]:
    """The environment for a program in this pane; the file is gone afterwards."""
    pairs = path.read_bytes().split(b"\0")
    path.unlink()
    given = dict(os.fsdecode(pair).split("=", 1) for pair in pairs if b"=" in pair)
    own = {name: value for name, value in os.environ.items() if name.startswith(OF_THE_PANE)}
    return {**{name: value for name, value in given.items() if not name.startswith(OF_THE_PANE)}, **own}


def _remove_stale(home: Home) -> None:
    for path in home.root.glob("environment-*"):
        try:
            if time.time() - path.stat().st_mtime > STALE_SECONDS:
                path.unlink()
        except FileNotFoundError:
            continue  # taken just now
