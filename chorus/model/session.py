"""The sessions and their states, computed from outcomes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from chorus.model.api.json_api import SessionJson
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import (
    ActionClosed,
    CallOpened,
    ErrorReported,
    Outcome,
    PromptClosed,
    PromptOpened,
    RateLimited,
    RequestRetried,
    SessionDescribed,
    SessionDiscovered,
    SessionEnded,
    SessionIdle,
    SessionLinked,
    TurnEnded,
    TurnReported,
    TurnStarted,
)

SessionState = Literal["working", "waiting", "idle", "gone"]

# Sources that report a call while the client waits.
LIVE_SOURCES = frozenset({"hook", "mod"})

# How the error of a session begins while the client tries again.
RETRYING = "retrying "
# How far a rate limit is used up: the client's words, and Chorus's.
_LIMITS = {"rejected": "reached", "allowed_warning": "nearly reached"}
_BUSY = frozenset({"working", "waiting"})
# A title is one line of a narrow panel.
MAX_TITLE_LENGTH = 60
# A command such as `/clear` or `/model opus` is no title: it does not say what the session is about. `/tmp/x`
# is not a command.
_COMMAND = re.compile(r"/[\w:-]+(?: .*)?")


@dataclass(frozen=True, slots=True)
class Session:
    """A session of the agent, as `chorus status` shows it."""

    id: SessionId
    state: SessionState = "idle"
    cwd: str | None = None
    title: str = ""
    transcript: str | None = None
    pane: PaneId | None = None
    server: str | None = None  # the socket of the pane's tmux server
    client: str | None = None  # the client's process, by pid and start time
    parent: SessionId | None = None
    sources: tuple[str, ...] = ()
    since: str = ""
    last: str = ""
    model: str | None = None
    mode: str | None = None
    version: str | None = None
    limit: str | None = None
    error: str | None = None

    @property
    def is_live(self) -> bool:
        return not LIVE_SOURCES.isdisjoint(self.sources)

    def as_json(self) -> SessionJson:
        return {
            "id": self.id,
            "state": self.state,
            "cwd": self.cwd,
            "title": self.title,
            "transcript": self.transcript,
            "pane": self.pane,
            "server": self.server,
            "client": self.client,
            "parent": self.parent,
            "sources": list(self.sources),
            "since": self.since,
            "last": self.last,
            "model": self.model,
            "mode": self.mode,
            "version": self.version,
            "limit": self.limit,
            "error": self.error,
        }


@dataclass(slots=True)
class SessionTable:
    """All sessions by id, and the clients that run each session: two clients may resume the same session."""

    sessions: dict[SessionId, Session] = field(default_factory=dict)
    shared: set[SessionId] = field(default_factory=set)  # the sessions that several clients run
    _clients: dict[SessionId, list[str]] = field(default_factory=dict)  # the client seen last is last

    def feed(self, outcome: Outcome, *, time: str, source: str) -> Session | None:
        """Apply an outcome to its session. Return the session; None if nothing was updated."""
        match outcome:
            case SessionDiscovered(session, cwd):
                return self._update(session, time, source, state="idle", **_without_none(cwd=cwd))
            case SessionLinked(session, parent) if session != parent:
                return self._update(session, time, source, parent=parent)
            case SessionEnded(session):
                self._set_clients(session, [])
                return self._update(session, time, source, state="gone")
            case TurnStarted(session, _, message) if session is not None:
                return self._start_turn(session, message, time, source)
            case TurnEnded(session) if session is not None:
                return self._update(session, time, source, state="idle")
            case SessionIdle(session) if (known := self.sessions.get(session)) and known.state in _BUSY:
                return self._update(session, time, source, state="idle")
            case CallOpened(call) if call.session is not None:
                return self._update(call.session, time, source, state="working")
            case ActionClosed(action) if action.session is not None:
                return self._update(action.session, time, source)
            case PromptOpened(session=session) if session is not None:
                return self._update(session, time, source, state="waiting")
            case PromptClosed(session=session) if session is not None:
                return self._update(session, time, source, state="working")
            case _:
                return self._describe(outcome, time, source)

    def _describe(self, outcome: Outcome, time: str, source: str) -> Session | None:
        match outcome:
            case SessionDescribed(session, model, mode, version):
                described = _without_none(model=model, mode=mode, version=version)
                return self._update(session, time, source, **described)
            case RateLimited(session, status, resets):
                used = _LIMITS.get(status, status)
                limit = f"{used}, resets at {_render_time(resets)}" if resets is not None else used
                return self._update(session, time, source, limit=None if status == "allowed" else limit)
            case RequestRetried(session, _, reason, attempt, limit) if session is not None:
                text = f"{RETRYING}after {reason} ({attempt} of {limit})"
                return self._update(session, time, source, error=text)
            case ErrorReported(session, _, reason) if session is not None:
                return self._update(session, time, source, error=reason)
            case TurnReported(session, error=error, answer=answer) if session is not None:
                if error is None and answer is None:
                    return None
                return self._update(session, time, source, error=error)
            case _:
                return None

    def set_location(self, session: SessionId, *, time: str, source: str, **known: str | None) -> Session:
        """Set the given fields of a session, such as its pane or its client, and return the session.

        None leaves a field as it is. A `gone` session becomes `idle`. A new client is removed from every
        other session.
        """
        old = self.sessions.get(session)
        back = {"state": "idle"} if old is not None and old.state == "gone" else {}
        client = known.get("client")
        if client is not None and self.clients_of(session)[-1:] != [client]:
            elsewhere = [s for s, clients in self._clients.items() if client in clients and s != session]
            for other in elsewhere:
                self.remove_client(other, client)
            self._set_clients(session, [c for c in self.clients_of(session) if c != client] + [client])
        return self._update(session, time, source, **back, **_without_none(**known))

    def clients_of(self, session: SessionId) -> list[str]:
        if session in self._clients:
            return self._clients[session]
        known = self.sessions.get(session)
        return [known.client] if known and known.client and known.state != "gone" else []

    def remove_client(self, session: SessionId, client: str) -> bool:
        """Remove a client from a session. Return True if another client still runs the session."""
        left = [other for other in self.clients_of(session) if other != client]
        self._set_clients(session, left)
        if left:
            self.sessions[session] = replace(self.sessions[session], client=left[-1])
        return bool(left)

    def _set_clients(self, session: SessionId, clients: list[str]) -> None:
        self._clients[session] = clients
        if not clients:
            del self._clients[session]
        (self.shared.add if len(clients) > 1 else self.shared.discard)(session)

    def _start_turn(self, session: SessionId, message: str | None, time: str, source: str) -> Session:
        # The client may handle a command itself and then reports no end of the turn, so the state stays.
        busy = {} if message and _COMMAND.fullmatch(message) else {"state": "working"}
        updated = self._update(session, time, source, **busy)
        if message and (not updated.title or _COMMAND.fullmatch(updated.title)):
            updated = self._update(session, time, source, title=_title(message))
        return updated

    def _update(self, session: SessionId, time: str, source: str, **changes: Any) -> Session:  # noqa: ANN401  any fields
        old = self.sessions.get(session) or Session(session, since=time)
        sources = old.sources if source in old.sources else (*old.sources, source)
        self.sessions[session] = updated = replace(old, last=time, sources=sources, **changes)
        return updated


def parse_session(value: Mapping[str, Any]) -> Session:
    """Parse the result of `Session.as_json`. Fields that this version does not know are ignored."""
    known = {name: value[name] for name in Session.__slots__ if name in value}
    return Session(**{**known, "sources": tuple(value.get("sources", ()))})


def _without_none(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _render_time(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="minutes")
    except (ValueError, OverflowError, OSError):
        return str(seconds)


def _title(message: str) -> str:
    line = " ".join(message.split(maxsplit=MAX_TITLE_LENGTH)[:MAX_TITLE_LENGTH])  # a message may be a book
    return line if len(line) <= MAX_TITLE_LENGTH else line[: MAX_TITLE_LENGTH - 1] + "…"
