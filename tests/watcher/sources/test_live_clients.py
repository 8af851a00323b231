import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.model.ids import SessionId
from chorus.model.outcomes import SessionEnded
from chorus.model.session import SessionTable
from chorus.system.processes.processes import read_process, read_start
from chorus.system.this_system import IS_LINUX
from chorus.watcher.sources import live_clients
from chorus.watcher.sources.live_clients import (
    ENDED_CLIENT,
    LiveClients,
    find_client_key,
    is_running,
    is_young,
)
from chorus.watcher.state.temporary_hooks import TemporaryHooks
from tests.waiting import wait_for


def test_a_client_is_running_until_its_process_ends() -> None:
    child = subprocess.Popen(["sleep", "60"])
    client = find_client_key(child.pid) or ""
    assert is_running(client)
    child.kill()
    child.wait()
    assert not is_running(client)


def test_a_client_is_young_just_after_its_start() -> None:
    child = subprocess.Popen(["sleep", "60"])
    client = find_client_key(child.pid) or ""
    assert is_young(client)
    assert not is_young("1:0")  # as old as the machine
    assert not is_young("1:Mon Nov 16 12:00:00 2026")  # as ps says it, where there is no /proc
    assert not is_young(ENDED_CLIENT)
    child.kill()
    child.wait()


def test_another_process_with_the_same_id_is_not_the_client() -> None:
    child = subprocess.Popen(["sleep", "60"])
    assert not is_running(f"{child.pid}:1")
    assert not is_running(ENDED_CLIENT)
    child.kill()
    child.wait()


async def test_every_client_of_a_session_that_has_ended_is_reported(tmp_path: Path) -> None:
    roster, lost = SessionTable(), asyncio.Queue[tuple[SessionId, str]]()
    alive = find_client_key(os.getpid()) or ""
    for client in ("1:0", alive, "1:1", alive):
        roster.set_location(SessionId("dead"), time="t", source="hook", client=client)
    roster.set_location(SessionId("unknown"), time="t", source="hook")

    async def end_client(session: SessionId, client: str) -> None:
        await lost.put((session, client))

    task = asyncio.create_task(
        LiveClients(roster, end_client, TemporaryHooks(tmp_path / "temporary-hooks.json"), AGENT.setup).run()
    )
    assert await asyncio.wait_for(lost.get(), 60) == ("dead", "1:0")
    assert await asyncio.wait_for(lost.get(), 60) == ("dead", "1:1")
    task.cancel()


@pytest.mark.skipif(not IS_LINUX, reason="elsewhere clients are checked once a second")
async def test_the_end_of_a_client_is_reported_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_clients, "WATCHED_POLL_SECONDS", 3600.0)
    roster, lost = SessionTable(), asyncio.Queue[str]()

    async def end_client(session: SessionId, client: str) -> None:
        roster.feed(SessionEnded(session, "gone"), time="t", source="pane")
        await lost.put(client)

    clients = LiveClients(roster, end_client, TemporaryHooks(tmp_path / "temporary-hooks.json"), AGENT.setup)
    task = asyncio.create_task(clients.run())
    await asyncio.sleep(0)
    for _ in range(2):  # a client that is there, and one that comes later
        child = await asyncio.create_subprocess_exec("sleep", "3600")
        client = find_client_key(child.pid) or ""
        clients.note(roster.set_location(SessionId("one"), time="t", source="hook", client=client))
        while client not in clients._watched:
            await asyncio.sleep(0.01)
        child.kill()
        assert await asyncio.wait_for(lost.get(), 60) == client
        await child.wait()
        assert not clients._watched
    task.cancel()


def test_the_start_of_a_process_read_quickly_is_that_of_the_process() -> None:
    process = read_process(os.getpid())
    assert process is not None
    assert read_start(os.getpid()) == process.started
    child = subprocess.Popen(["true"])
    wait_for(lambda: read_process(child.pid) is None, what="it has ended", seconds=10)
    assert read_start(child.pid) is None  # a zombie
    child.wait()
    assert read_start(child.pid) is None
