"""Whether what happens here can be recorded: asked before a session is started or met."""

from pathlib import Path

from chorus.store.repository import Repository
from chorus.wire.home import Home, find_home


def find_supported_home(here: Path) -> Home:
    """The home of the repository `here` is in. Raises, with the way out, where Chorus cannot serve it."""
    home = find_home(here)
    Repository.open(here)
    return home
