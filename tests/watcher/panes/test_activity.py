"""A pane is reported soon after it prints, whoever read the event from the connection."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.control_protocol import ControlEvent
from chorus.watcher.panes import activity
from chorus.watcher.panes.activity import PaneActivity
from chorus.watcher.panes.watched_panes import WatchedPane

PRINTED = ControlEvent("output", b"%1 text")


class Connection:
    """A connection to tmux from which nothing can be read any more: a reply came with all that was there."""

    def __init__(self) -> None:
        self._unread, self._other = os.pipe()
        self.found: list[ControlEvent] = []
        self.on_events: Callable[[], object] = lambda: None

    def fileno(self) -> int:
        return self._unread

    def events(self) -> list[ControlEvent]:
        found, self.found = self.found, []
        return found

    def close(self) -> None:
        os.close(self._unread)
        os.close(self._other)


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Connection:
    connection = Connection()
    monkeypatch.setattr(activity, "ControlConnection", lambda *_, **__: connection)
    return connection


def follow(reported: list[set[tuple[Address, PaneId]]]) -> tuple[PaneActivity, Address]:
    found = PaneActivity(reported.append)
    address = Address(Path("/tmp/tmux-0/default"))
    pane = SimpleNamespace(address=address, id=PaneId("%1"), state=SimpleNamespace(session="work"))
    found.follow(cast(WatchedPane, pane))
    return found, address


async def test_a_pane_whose_event_came_with_a_reply_is_reported(connection: Connection) -> None:
    reported: list[set[tuple[Address, PaneId]]] = []
    panes, address = follow(reported)
    connection.found = [PRINTED]
    connection.on_events()
    async with asyncio.timeout(10):
        while not reported:
            await asyncio.sleep(0.01)
    assert reported == [{(address, PaneId("%1"))}]
    panes.close()


async def test_an_event_of_a_connection_that_was_closed_meanwhile_is_ignored(connection: Connection) -> None:
    reported: list[set[tuple[Address, PaneId]]] = []
    panes, _ = follow(reported)
    connection.on_events()
    panes.close()
    await asyncio.sleep(activity.DEBOUNCE_SECONDS * 2)
    assert reported == []
