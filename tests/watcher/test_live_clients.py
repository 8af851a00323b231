import asyncio
import subprocess
from pathlib import Path

from chorus.agents.claude_code.adapter import AGENT
from chorus.model.ids import SessionId
from chorus.model.session import SessionTable
from chorus.system.processes import read_process
from chorus.watcher.sources.live_clients import client_key, is_running, is_young, watch_clients
from chorus.watcher.state.lent_hooks import LentHooks


def test_a_client_is_running_until_its_process_ends() -> None:
    child = subprocess.Popen(["sleep", "60"])
    client = client_key(child.pid, read_process(child.pid))
    assert is_running(client)
    child.kill()
    child.wait()
    assert not is_running(client)


def test_a_client_is_young_just_after_its_start() -> None:
    child = subprocess.Popen(["sleep", "60"])
    client = client_key(child.pid, read_process(child.pid))
    assert is_young(client)
    assert not is_young("1:0")  # as old as the machine
    assert not is_young("1:Mon Nov 16 12:00:00 2026")  # as ps says it, where there is no /proc
    assert not is_young(client_key(child.pid, None))
    child.kill()
    child.wait()


def test_another_process_with_the_same_id_is_not_the_client() -> None:
    child = subprocess.Popen(["sleep", "60"])
    assert not is_running(f"{child.pid}:1")
    assert not is_running(client_key(child.pid, None))
    child.kill()
    child.wait()


async def test_a_session_whose_client_has_ended_is_reported(tmp_path: Path) -> None:
    roster, lost = SessionTable(), asyncio.Queue[SessionId]()
    roster.set_location(SessionId("dead"), time="t", source="hook", client="1:0")
    roster.set_location(SessionId("unknown"), time="t", source="hook")
    task = asyncio.create_task(
        watch_clients(roster, lost.put, LentHooks(tmp_path / "lent.json"), AGENT.setup)
    )
    assert await asyncio.wait_for(lost.get(), 60) == "dead"
    task.cancel()
