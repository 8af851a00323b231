"""The transcripts of the sessions that are watched, main and sub-agents', followed together.

Gives each new line with the session it belongs to, and whether it was there before the session was
watched: such a line is history, told so that turns and messages are known, and recorded by nobody.
Remembers across a restart how far each file was read.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from chorus.agents.claude_code.transcripts import TranscriptTail, subagent_transcripts
from chorus.model.ids import SessionId
from chorus.watcher.state.files import keep

# A client writes its last lines within a second of its end; what it left running may add some.
LATE_SECONDS = 60.0
# Positions are written anew with whatever is read: those of the sessions of some weeks are enough.
MOST_POSITIONS = 500


@dataclass(frozen=True, slots=True)
class Line:
    session: SessionId
    text: bytes
    history: bool


@dataclass(slots=True)
class _Followed:
    session: SessionId
    tail: TranscriptTail
    watched_from: int  # what stands before this position is history


@dataclass(slots=True)
class Tails:
    kept: Path  # where positions are remembered
    frozen: bool = False  # what was read last is not recorded yet: the next agent must read it again
    _files: dict[Path, _Followed] = field(default_factory=dict)
    _mains: dict[Path, SessionId] = field(default_factory=dict)
    _positions: dict[str, int] = field(default_factory=dict)  # the one that moved last is last
    _quiet: dict[SessionId, float] = field(default_factory=dict)  # since when, of sessions that ended

    def load(self) -> None:
        """What an earlier agent had read. A file that cannot be read means: nothing."""
        with suppress(FileNotFoundError, ValueError):
            known = json.loads(self.kept.read_bytes())
            if isinstance(known, Mapping):
                self._positions = {path: at for path, at in known.items() if isinstance(at, int)}

    def follow(self, session: SessionId, transcript: Path, *, from_start: bool = False) -> None:
        """Follow a session. Unless it is known, what its file holds by now is history.

        `from_start`: the session began under our eyes, so none of it is history.
        """
        if transcript in self._mains:
            return
        self._mains[transcript] = session
        known = str(transcript) in self._positions
        self._add(session, transcript, from_start=from_start)
        for path in subagent_transcripts(transcript):
            # One that an earlier agent did not see has appeared since: it would know it otherwise.
            self._add(session, path, from_start=from_start or known)
        if not known:
            self.keep()  # an agent that is killed now must not leave this session as one never watched

    def forget(self, session: SessionId) -> None:
        """Stop following an ended session; its positions stay known."""
        for path in [path for path, known in self._mains.items() if known == session]:
            del self._mains[path]
        for path in [path for path, followed in self._files.items() if followed.session == session]:
            del self._files[path]

    @property
    def followed(self) -> set[SessionId]:
        return set(self._mains.values())

    def leave(self, ended: Collection[SessionId], now: float) -> None:
        """Stop following those of the ended sessions from which nothing came for a while."""
        self._quiet = {session: self._quiet.get(session, now) for session in ended}
        for session in [session for session, since in self._quiet.items() if now - since > LATE_SECONDS]:
            self.forget(session)

    def read(self) -> Iterator[Line]:
        """Every line completed since the last call. A sub-agent that appears later is new from its start."""
        for transcript, session in list(self._mains.items()):
            for path in subagent_transcripts(transcript):
                if path not in self._files:
                    self._add(session, path, from_start=True)
        for path, followed in list(self._files.items()):
            start = followed.tail.position
            for text in followed.tail.read_lines():
                self._quiet.pop(followed.session, None)
                yield Line(followed.session, text, history=followed.tail.position <= followed.watched_from)
            if followed.tail.position != start:
                self._positions.pop(str(path), None)
                self._positions[str(path)] = followed.tail.position

    @property
    def problems(self) -> list[str]:
        """Why some of them cannot be read."""
        return [followed.tail.problem for followed in self._files.values() if followed.tail.problem]

    def keep(self) -> None:
        """Write down how far everything is read and recorded, for the next agent."""
        if self.frozen:
            return
        left = [path for path in self._positions if Path(path) not in self._files]
        for path in left[:-MOST_POSITIONS]:
            del self._positions[path]
        keep(self.kept, self._positions)

    def _add(self, session: SessionId, path: Path, *, from_start: bool) -> None:
        known = self._positions.setdefault(str(path), 0 if from_start else _size(path))
        self._files[path] = _Followed(session, TranscriptTail(path), watched_from=known)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0
