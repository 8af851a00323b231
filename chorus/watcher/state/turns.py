"""The turns of all sessions: kept in memory, published as they change, and saved when they end.

The file has one line per turn that ended, so that an answer outlives its pane, its session and the watcher.
"""

import json
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from chorus.model.action import Action, Call
from chorus.model.commit_message import shorten
from chorus.model.ids import SessionId
from chorus.model.json_api import (
    CallEvent,
    EventJson,
    SessionJson,
    SessionSums,
    TextEvent,
    TurnEvent,
    TurnJson,
)
from chorus.model.outcomes import ActionClosed, CallOpened, Outcome, TextWritten
from chorus.model.tools import COMMAND_KEY
from chorus.model.turn import MAX_TURNS, TurnRecord, TurnTable, read_turns, sum_turns
from chorus.system.atomic_file import replace_file
from chorus.system.private_files import open_private
from chorus.watcher.sources.pipeline import now

log = logging.getLogger("chorus.watcher")

# One line of a terminal.
MAX_CALL_LENGTH = 100


class TurnStore:
    def __init__(self, path: Path, publish: Callable[[EventJson], None]) -> None:
        self._path = path
        self._publish = publish
        self._table = TurnTable()
        self._saved_of: dict[str, dict[str, TurnJson]] = {}  # by session: those of earlier watchers
        self._sums: dict[str, SessionSums] = {}  # by session, since its turns last changed

    def load(self) -> None:
        """Read the newest turns of earlier watchers, and drop the others from the file."""
        with suppress(OSError), self._path.open(encoding="utf-8", errors="replace") as file:
            found = read_turns(file)[-MAX_TURNS:]
            for turn in found:
                self._saved_of.setdefault(turn["session"], {})[turn["turn"]] = turn
            text = "".join(json.dumps(turn) + "\n" for turn in found)
            replace_file(self._path, text.encode(), mode=0o600)

    def feed(self, outcomes: Iterable[Outcome]) -> set[SessionId]:
        """Take outcomes; return the sessions whose turns they changed."""
        sessions: set[SessionId] = set()
        for outcome in outcomes:
            self._publish_live(outcome)
            changed = self._table.feed(outcome, time=now())
            if changed is not None:
                sessions.add(changed.session)
                self._sums.pop(changed.session, None)
                self._publish(TurnEvent(event="turn", turn=changed.as_json()))
                if changed.ended is not None:
                    self._save(changed)
        return sessions

    def _publish_live(self, outcome: Outcome) -> None:
        """Publish what the agent writes and calls, as it comes."""
        match outcome:
            case TextWritten(session, turn, text) if session is not None:
                self._publish(TextEvent(event="text", session=session, turn=turn, text=text))
            case CallOpened(call) if call.session is not None:
                self._publish(_call_event(call, "running", None))
            case ActionClosed(action) if action.session is not None:
                self._publish(_call_event(action, action.status, action.failure))

    def read(self, *, session: str | None, turn: str | None) -> list[TurnJson]:
        """Return the turns, oldest first."""
        known = {(one.session, one.turn): one.as_json() for one in self._table.all()}
        saved = {(s, t): one for s, turns in self._saved_of.items() for t, one in turns.items()}
        return [
            one
            for one in sorted((saved | known).values(), key=lambda one: one["started"])
            if (session is None or one["session"].startswith(session))
            and (turn is None or one["turn"].startswith(turn))
        ]

    def add_sums(self, session: SessionJson) -> None:
        """Add to a session what its turns took together."""
        name = SessionId(session["id"])
        sums = self._sums.get(name)
        if sums is None:
            known = {one.turn: one.as_json() for one in self._table.of_session(name)}
            turns = sorted((self._saved_of.get(name, {}) | known).values(), key=lambda one: one["started"])
            if not turns:
                return
            sums = self._sums[name] = sum_turns(turns, self._table.total_cost(name))
        session.update(sums)  # type: ignore[typeddict-item]  # all are keys of a session

    def _save(self, turn: TurnRecord) -> None:
        try:
            with open(self._path, "a", opener=open_private, encoding="utf-8") as file:
                file.write(json.dumps(turn.as_json()) + "\n")
        except OSError as error:
            log.warning("cannot write %s: %s", self._path.name, error)


def _call_event(call: Call | Action, status: str, failure: str | None) -> CallEvent:
    """Return one line about a call; the directory it runs in is known to whoever follows it."""
    about = [os.path.relpath(path, call.cwd) if call.cwd else path for path in call.paths]
    command = call.input.get(COMMAND_KEY)
    text = " ".join([call.tool, *(about or ([command] if isinstance(command, str) else []))])
    return CallEvent(
        event="call",
        session=call.session or "",
        turn=call.turn,
        id=call.id,
        text=shorten(" ".join(text.split()), MAX_CALL_LENGTH),
        status=status,
        failure=failure,
    )
