"""One deadline for all watchers; an odd one spoils no other answer."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chorus.system.processes import peer
from chorus.wire.async_client import open_streams
from chorus.wire.client import WatcherNotRunning, WatcherUnreachable, connect
from chorus.wire.fan_out import Request, ask_each
from chorus.wire.protocol import encode
from tests.inbox.conftest import OddWatcher, odd_watcher, registered_home, scripted
from tests.panel.scripted_watcher import ScriptedWatcher

__all__ = ["odd_watcher", "scripted"]  # fixtures

HELLO: list[Request] = [("hello", {}), ("prompts", {})]


def test_each_watcher_answers_and_odd_ones_are_told_apart(
    scripted: Callable[[str], ScriptedWatcher], odd_watcher: Callable[..., OddWatcher], tmp_path: Path
) -> None:
    live = scripted("live")
    hung = odd_watcher("hung")
    newer = odd_watcher("newer", lambda request: json.dumps({"v": 99, "id": request["id"]}).encode() + b"\n")
    closing = odd_watcher("closing", lambda _: b"")
    older = odd_watcher(
        "older", lambda request: encode({"id": request["id"], "error": {"message": "unknown request"}})
    )
    stopped = registered_home(tmp_path / "stopped")
    dead = scripted("dead")
    socket_file = dead.home.socket
    dead.stop()
    socket_file.touch()  # what a killed watcher leaves behind

    closing.close()
    began = time.monotonic()
    homes = [live.home, hung.home, newer.home, closing.home, older.home, stopped, dead.home]
    replies = ask_each(dict.fromkeys(homes, HELLO), seconds=0.5)

    assert list(replies) == homes
    assert replies[live.home].problem is None
    assert set(replies[live.home].answers) == {"hello", "prompts"}
    assert (replies[hung.home].problem, replies[hung.home].running) == ("the watcher does not respond", True)
    assert "protocol version 1" in str(replies[newer.home].problem)
    assert "Run `chorus stop`" in str(replies[newer.home].problem)
    assert "unknown request" in str(replies[older.home].problem)
    assert [replies[home].running for home in (closing.home, stopped, dead.home)] == [False] * 3
    assert time.monotonic() - began < 10  # one deadline for all


def test_answers_and_refusals_of_one_watcher_come_together(odd_watcher: Callable[..., OddWatcher]) -> None:
    def reply(request: dict[str, object]) -> bytes:
        if request["do"] == "hello":
            return encode({"id": request["id"], "answer": {"version": "0.0.1"}})
        event = encode({"event": "alert"})
        return event + encode({"id": request["id"], "error": {"message": "no such request", "exit_code": 2}})

    odd = odd_watcher("older", reply)
    (answered,) = ask_each({odd.home: HELLO}, seconds=5).values()
    assert answered.answers == {"hello": {"version": "0.0.1"}}
    assert answered.problem == "no such request"


async def test_a_socket_that_another_user_serves_is_not_used(
    scripted: Callable[[str], ScriptedWatcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = scripted("live").home
    monkeypatch.setattr(peer, "read_peer", lambda connection: (1, os.geteuid() + 1))
    reply = ask_each({home: HELLO}, seconds=5)[home]
    assert (reply.answers, reply.running) == ({}, False)
    assert "another user" in str(reply.problem)
    with pytest.raises(WatcherUnreachable, match="another user"):
        connect(home)
    with pytest.raises(WatcherNotRunning, match="another user"):
        await open_streams(home)
    monkeypatch.setattr(peer, "read_peer", lambda connection: (None, None))  # where it is not known
    assert ask_each({home: HELLO}, seconds=5)[home].problem is None
    connect(home).close()
