"""The roster on disk, so that an agent that starts again knows whom it was watching."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chorus.model.session import Session, SessionTable, parse_session
from chorus.watcher.state.files import keep

# Ended sessions are remembered for `chorus status`, the latest ones only.
MOST_ENDED = 50


@dataclass(slots=True)
class SessionFile:
    path: Path
    roster: SessionTable

    def load(self) -> list[Session]:
        """Put the remembered sessions on the roster. A damaged file means: none."""
        with suppress(FileNotFoundError, ValueError, TypeError):
            for value in json.loads(self.path.read_bytes()):
                session = parse_session(value)
                self.roster.sessions[session.id] = session
        return list(self.roster.sessions.values())

    def keep(self) -> None:
        sessions = sorted(self.roster.sessions.values(), key=lambda session: session.last)
        ended = [session for session in sessions if session.state == "gone"]
        forgotten = set(ended[:-MOST_ENDED])
        keep(self.path, [s.as_json() for s in sessions if s not in forgotten])
