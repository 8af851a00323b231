"""Small JSON files that a watcher saves for the next watcher. A write error is only logged."""

import json
import logging
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chorus.model.session import Session, SessionTable, parse_session
from chorus.system.files.atomic_file import replace_file
from chorus.system.files.private_files import open_private

# Far more than recording an action takes.
FREE_BYTES = 2**20
# Ended sessions are kept for `chorus status`, the latest ones only.
MAX_ENDED_SESSIONS = 50

log = logging.getLogger("chorus.watcher")


def save_json(path: Path, value: object) -> None:
    if not path.parent.exists():
        return  # Chorus is being removed from the repository
    try:
        # Some files hold permission requests, which no other user may read.
        replace_file(path, json.dumps(value).encode(), mode=0o600)
    except OSError as error:
        log.warning("cannot write %s: %s", path.name, error)


def has_free_space(directory: Path) -> bool:
    """True if a file of `FREE_BYTES` can be written to this disk."""
    trial = directory / "room.tmp"
    try:
        with open(trial, "wb", opener=open_private) as file:
            file.write(bytes(FREE_BYTES))
    except OSError:
        return False
    finally:
        with suppress(OSError):
            trial.unlink()
    return True


@dataclass(slots=True)
class SessionFile:
    """The roster on disk, so that a restarted watcher knows its sessions."""

    path: Path
    roster: SessionTable

    def load(self) -> list[Session]:
        """Put the saved sessions on the roster. Return all sessions of the roster."""
        with suppress(FileNotFoundError, ValueError, TypeError):
            for value in json.loads(self.path.read_bytes()):
                session = parse_session(value)
                self.roster.sessions[session.id] = session
        return list(self.roster.sessions.values())

    def save(self) -> None:
        sessions = sorted(self.roster.sessions.values(), key=lambda session: session.last)
        ended = [session for session in sessions if session.state == "gone"]
        dropped = set(ended[:-MAX_ENDED_SESSIONS])
        save_json(self.path, [s.as_json() for s in sessions if s not in dropped])
