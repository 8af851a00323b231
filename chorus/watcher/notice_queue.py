"""Notices queued for sessions, until they are delivered in a reply to a hook or the mod, or in a message.

Notices stay queued across a restart. If the user undoes a revert before its notice is delivered, the session
is notified of neither. While the queue is empty, hooks do not wait for notices.
"""

import json
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import Spool
from chorus.agents.interface import Events
from chorus.model.ids import SessionId
from chorus.model.session import Session
from chorus.review.revert.notice_text import AnyNotice, Notice, RevertNotice, drop_undone, render_notices
from chorus.watcher.state.files import save_json

# A session that is never resumed leaves its notices in the queue. Only the latest notices are kept.
MAX_NOTICES = 1000


class NoticeQueue:
    def __init__(self, path: Path, events: Events, spool: Spool) -> None:
        self._events = events
        self._path = path
        self._spool = spool
        self._queued: list[AnyNotice] = []
        self._sent: dict[str, list[AnyNotice]] = {}  # by hook event or message

    def load(self) -> None:
        """Read the notices that an earlier watcher did not deliver. A damaged file counts as empty."""
        with suppress(FileNotFoundError, ValueError, TypeError, KeyError):
            self._queued = [_parse(value) for value in json.loads(self._path.read_bytes())]

    def announce(self) -> None:
        """Make hooks wait for a reply while there are notices. The spool must be open."""
        self._spool.expect_answers(bool(self._queued or self._sent))

    def add(self, notices: Iterable[AnyNotice], sessions: Iterable[Session]) -> list[SessionId]:
        """Queue notices; return the running sessions that will get one of them through hooks or the mod."""
        added = list(notices)
        self._queued = drop_undone([*self._queued, *added])[-MAX_NOTICES:]
        self._save()
        waiting = {notice.session for notice in added if notice in self._queued}
        # A session that has ended gets its notices when it is resumed. Its fork, or the session after
        # `/clear`, never gets them.
        return [s.id for s in sessions if s.id in waiting and s.state != "gone" and s.is_live]

    def withdraw(self, notices: Iterable[RevertNotice]) -> None:
        """Remove the queued notices that the given notices cancel out. Do not queue the given notices."""
        added = list(notices)
        self._queued = [notice for notice in drop_undone([*self._queued, *added]) if notice not in added]
        self._save()

    def reply(self, event: HookEvent) -> None:
        """Reply to a waiting hook with the notices of its session, if there are any."""
        if not self._queued and not self._sent:
            return
        for replied, printed in self._spool.take_printed_answers().items():
            self._confirm(replied, arrived=printed)
        session = self._events.notice_session(event.value)
        if session is None:
            return
        mine = self._take(session) if self._spool.is_hook_waiting(event) else []
        if mine:
            self._sent[event.name] = mine
            self._spool.release(event, self._events.notice_reply(event.value, render_notices(mine)))

    def take(self, session: SessionId) -> str | None:
        """Remove this session's notices from the queue, and return their text; None without notices."""
        mine = self._take(session)
        if mine:
            self._save()
        return render_notices(mine) or None

    @contextmanager
    def deliver(self, session: SessionId) -> Iterator[str | None]:
        """Yield the text of this session's notices, or None. If the block fails, keep the notices."""
        mine = self._take(session)
        if not mine:
            yield None
            return
        name, is_sent = uuid.uuid4().hex, False
        self._sent[name] = mine
        try:
            yield render_notices(mine)
            is_sent = True
        finally:
            self._confirm(name, arrived=is_sent)

    def _confirm(self, event: str, *, arrived: bool) -> None:
        """Forget the notices sent under the name `event` if they have arrived; else queue them again."""
        sent = self._sent.pop(event, [])
        if not arrived:
            self._queued = drop_undone([*sent, *self._queued])
        self._save()

    def _take(self, session: SessionId) -> list[AnyNotice]:
        mine = [notice for notice in self._queued if notice.session == session]
        self._queued = [notice for notice in self._queued if notice.session != session]
        return mine

    def _save(self) -> None:
        left = [notice for sent in self._sent.values() for notice in sent] + self._queued
        self.announce()
        if not left:
            self._path.unlink(missing_ok=True)
            return
        save_json(self._path, [_render(notice) for notice in left])


def _render(notice: AnyNotice) -> list[str] | dict[str, Any]:
    return [notice.session, notice.text] if isinstance(notice, Notice) else asdict(notice)


def _parse(value: list[str] | dict[str, Any]) -> AnyNotice:
    if isinstance(value, list):
        session, text = value
        return Notice(SessionId(session), str(text))
    return RevertNotice(**{**value, "paths": tuple(value["paths"])})
