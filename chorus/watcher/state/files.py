"""What an agent writes down for the next one: small JSON files, replaced whole.

A disk that takes no more is a line in the log: what an agent remembers is found again from the sources, so
none of its loops ends for it.
"""

import json
import logging
from contextlib import suppress
from pathlib import Path

from chorus.system.atomic_file import replace_file

# Far more than an action takes.
ROOM_BYTES = 2**20

log = logging.getLogger("chorus.watcher")


def keep(path: Path, value: object) -> None:
    if not path.parent.exists():
        return  # Chorus is being taken out of the repository
    try:
        # Only the user may read what a session is asked about.
        replace_file(path, json.dumps(value).encode(), mode=0o600)
    except OSError as error:
        log.warning("%s cannot be written: %s", path.name, error)


def has_room(directory: Path) -> bool:
    """Whether the disk takes what an agent writes at once."""
    trial = directory / "room.tmp"
    try:
        trial.write_bytes(bytes(ROOM_BYTES))
    except OSError:
        return False
    finally:
        with suppress(OSError):
            trial.unlink()
    return True
