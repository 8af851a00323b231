"""What sessions have still to hear, and the hook replies that carry it.

Receives notices for sessions. Gives each as the reply to the next hook of its session that the model hears
of. A notice counts as told when the hook has printed it; until then it stays, also across a restart. With
nothing to tell, no hook is looked at.
"""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from chorus.agents.claude_code.hooks.event_file import HookEvent
from chorus.agents.claude_code.hooks.spool import Spool
from chorus.model.ids import SessionId
from chorus.model.session import Session
from chorus.review.revert.notice_text import Notice
from chorus.watcher.state.files import keep

# What is added to the reply of one of these reaches the model. Stop is not among them: it would begin a turn.
HEARD = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolBatch"})
# A session that never comes back leaves its notices behind: the latest ones are kept.
MOST_WAITING = 100

# The session under which the actions of a session are recorded: it goes on with that one.
Root = Callable[[SessionId], SessionId | None]


class Telling:
    def __init__(self, place: Path, spool: Spool, root: Root) -> None:
        self._place = place
        self._spool = spool
        self._root = root
        self._waiting: list[Notice] = []
        self._given: dict[str, list[Notice]] = {}  # by hook event

    def load(self) -> None:
        """What an earlier agent did not get to tell. A damaged file means: nothing."""
        with suppress(FileNotFoundError, ValueError, TypeError):
            read = json.loads(self._place.read_bytes())
            self._waiting = [Notice(SessionId(session), str(text)) for session, text in read]

    def add(self, notices: Iterable[Notice], sessions: Iterable[Session]) -> list[SessionId]:
        """Keep notices for the sessions concerned; those of them that will hear it with their next hook."""
        alive = [session for session in sessions if session.state != "gone"]
        hearing: list[SessionId] = []
        for notice in notices:
            mine = [s for s in alive if notice.session in (s.id, self._root(s.id))]
            hearing += [session.id for session in mine if "hook" in session.sources]
            # With nobody there, it is for whoever takes the session up again.
            heirs = [session.id for session in mine] or [notice.session]
            self._waiting += [Notice(heir, notice.text) for heir in heirs]
        self._waiting = self._waiting[-MOST_WAITING:]
        self._keep()
        return list(dict.fromkeys(hearing))

    def answer(self, event: HookEvent) -> None:
        """Let this hook go with what its session has still to hear, if that is anything."""
        if not self._waiting and not self._given:
            return
        for answered, printed in self._spool.take_printed_answers().items():
            self._settle(answered, printed=printed)
        name, session = event.value.get("hook_event_name"), event.value.get("session_id")
        # A sub-agent's hooks reach the sub-agent alone.
        if name not in HEARD or not isinstance(session, str) or event.value.get("agent_id") is not None:
            return
        mine = self._take(SessionId(session)) if self._spool.is_hook_waiting(event) else []
        if mine:
            self._given[event.name] = mine
            output = {"hookEventName": name, "additionalContext": _join(mine)}
            self._spool.release(event, {"hookSpecificOutput": output})

    def take(self, session: SessionId) -> str | None:
        """What this session has still to hear, for somebody who says it in another way."""
        mine = self._take(session)
        if mine:
            self._keep()
        return _join(mine) or None

    def _settle(self, event: str, *, printed: bool) -> None:
        """The hook printed its reply, or went on without: then it is for the next one."""
        given = self._given.pop(event, [])
        if not printed:
            self._waiting = given + self._waiting
        self._keep()

    def _take(self, session: SessionId) -> list[Notice]:
        names = {session, self._root(session)}
        mine = [notice for notice in self._waiting if notice.session in names]
        self._waiting = [notice for notice in self._waiting if notice.session not in names]
        return mine

    def _keep(self) -> None:
        left = [notice for given in self._given.values() for notice in given] + self._waiting
        if not left:
            self._place.unlink(missing_ok=True)
            return
        keep(self._place, [(notice.session, notice.text) for notice in left])


def _join(notices: Iterable[Notice]) -> str:
    return "\n\n".join(notice.text for notice in notices)
