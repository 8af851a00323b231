"""The turns of all sessions: kept in memory, published as they change, and saved when they end."""

import json
import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from chorus.model.action import Action, Call
from chorus.model.api.json_api import CallEvent, SessionJson, SessionSums, TextEvent, TurnEvent, TurnJson
from chorus.model.commits.commit_message import shorten
from chorus.model.ids import SessionId
from chorus.model.outcomes import ActionClosed, CallOpened, Outcome, TextWritten
from chorus.model.review_state import find_turns
from chorus.model.tools import COMMAND_KEY
from chorus.model.turn import MAX_TURNS, TurnRecord, TurnTable, join_turn, read_turns, sum_turns
from chorus.system.files.atomic_file import replace_file
from chorus.system.files.private_files import append_line
from chorus.watcher.sources.pipeline import now
from chorus.watcher.work_trees import Publisher

log = logging.getLogger("chorus.watcher")

# Fits one line of a terminal.
MAX_CALL_LENGTH = 100


class TurnStore:
    def __init__(self, path: Path, publisher: Publisher) -> None:
        self._path = path
        self._publisher = publisher
        self._table = TurnTable()
        self._saved_of: dict[str, dict[str, TurnJson]] = {}  # by session: the turns of earlier watchers
        self._sums: dict[str, SessionSums] = {}  # by session; removed when one of its turns changes
        self._models: dict[str, str | None] = {}  # by session, as its turns name them

    def load(self) -> None:
        """Read the newest turns of earlier watchers, and drop older turns from the file."""
        with suppress(OSError), self._path.open(encoding="utf-8", errors="replace") as file:
            found = read_turns(file)[-MAX_TURNS:]
            for turn in found:
                self._saved_of.setdefault(turn["session"], {})[turn["turn"]] = turn
            text = "".join(json.dumps(turn) + "\n" for turn in found)
            replace_file(self._path, text.encode(), mode=0o600)

    def feed(self, outcomes: Iterable[Outcome]) -> set[SessionId]:
        """Update the turns from outcomes. Return the sessions whose turns have changed."""
        sessions: set[SessionId] = set()
        moment, publish = now(), self._publisher.publish
        is_followed = self._publisher.subscribers > 0
        for outcome in outcomes:
            if is_followed:
                self._publish_live(outcome)
            changed = self._table.feed(outcome, time=moment)
            if changed is not None:
                sessions.add(changed.session)
                self._sums.pop(changed.session, None)
                if not is_followed and changed.ended is None:
                    continue
                turn = self._describe(changed)
                if turn is not None and is_followed:
                    publish(TurnEvent(event="turn", turn=turn))
                if turn is not None and changed.ended is not None:
                    self._save(turn)
        return sessions

    def _publish_live(self, outcome: Outcome) -> None:
        """Publish the agent's text and calls as they arrive."""
        publish = self._publisher.publish
        match outcome:
            case TextWritten(session, turn, text) if session is not None:
                publish(TextEvent(event="text", session=session, turn=turn, text=text))
            case CallOpened(call) if call.session is not None:
                publish(_call_event(call, "running", None))
            case ActionClosed(action) if action.session is not None:
                publish(_call_event(action, action.status, action.failure))

    def read(self, *, session: str | None, turn: str | None) -> list[TurnJson]:
        """Return turns, oldest first: all turns, the turns of one session, or one turn."""
        known = {
            (turn["session"], turn["turn"]): turn for turn in map(self._describe, self._table.all()) if turn
        }
        saved = {(s, t): one for s, turns in self._saved_of.items() for t, one in turns.items()}
        found = [
            one
            for one in sorted((saved | known).values(), key=lambda one: one["started"])
            if session is None or one["session"].startswith(session)
        ]
        wanted = find_turns((one["turn"] for one in found), turn) if turn is not None else ()
        return [one for one in found if turn is None or one["turn"] in wanted]

    def add_sums(self, session: SessionJson) -> None:
        """Add the total tokens, cost and duration of a session's turns to its JSON object."""
        name = SessionId(session["id"])
        sums = self._sums.get(name)
        if sums is None:
            described = map(self._describe, self._table.of_session(name))
            known = {turn["turn"]: turn for turn in described if turn is not None}
            turns = sorted((self._saved_of.get(name, {}) | known).values(), key=lambda one: one["started"])
            if not turns:
                return
            sums = self._sums[name] = sum_turns(turns, self._table.total_cost(name))
            self._models[name] = next((one["model"] for one in reversed(turns) if one["model"]), None)
        session.update(sums)  # type: ignore[typeddict-item]  # all are keys of a session
        if session.get("model") is None:  # an interactive client does not name it
            session["model"] = self._models[name]

    def _describe(self, record: TurnRecord) -> TurnJson | None:
        """Return a turn as JSON, joined with its saved part. None if the turn was saved under another id.

        If a stream does not name its turns, they get new ids when the stream is read again after a restart.
        Such a turn is recognised by its messages: they are all in saved turns.
        """
        turn, saved = record.as_json(), self._saved_of.get(record.session, {})
        if record.turn in saved:
            return join_turn(saved[record.turn], turn)
        was_read = {message for one in saved.values() for message in one["messages"]}
        return None if turn["messages"] and was_read.issuperset(turn["messages"]) else turn

    def _save(self, turn: TurnJson) -> None:
        try:
            append_line(self._path, json.dumps(turn).encode() + b"\n")
        except OSError as error:
            log.warning("cannot write %s: %s", self._path.name, error)


def _call_event(call: Call | Action, status: str, failure: str | None) -> CallEvent:
    """Return an event with one line of text about a call, with paths relative to the call's directory."""
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
