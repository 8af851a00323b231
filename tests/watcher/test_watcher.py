"""The parts of a watcher work together, and it ends when its repository is removed."""

import asyncio
import shutil

import pytest

from chorus.watcher.server.http_exchange import HttpRequest
from chorus.watcher.sources import hook_source as hooks
from chorus.watcher.watcher import Watcher
from chorus.wire.home import find_home
from tests.repos import UserRepo


async def test_a_watcher_ends_when_its_repository_is_removed(
    repo: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "POLL_SECONDS", 0.05)
    home = find_home(repo.path)
    home.root.mkdir(parents=True, exist_ok=True)
    home.lock.touch()
    watcher = Watcher(home)
    serving = asyncio.create_task(watcher.serve(asyncio.Event()))
    assert watcher.trees.find(str(repo.path)) is not None
    while not home.socket.exists():
        await asyncio.sleep(0.01)
    shutil.rmtree(repo.path)
    await asyncio.wait_for(serving, 60)
    assert not repo.path.exists()


async def test_a_work_tree_knows_that_a_report_of_the_mod_waits_until_the_last_one_is_recorded(
    repo: UserRepo,
) -> None:
    home = find_home(repo.path)
    home.root.mkdir(parents=True, exist_ok=True)
    home.lock.touch()
    watcher, stopping = Watcher(home), asyncio.Event()
    serving = asyncio.create_task(watcher.serve(stopping))
    tree = watcher.trees.find(str(repo.path))
    assert tree is not None
    session = {"session_id": "s1", "transcript_path": str(repo.path / "none.jsonl"), "cwd": str(repo.path)}
    call = {
        "tool": "Edit",
        "input": {"file_path": str(repo.path / "a.txt")},
        "call": "c1",
        "session": session,
    }
    async with watcher.pipeline.lock:
        assert not tree.has_unread()
        taking = asyncio.create_task(
            watcher.mod.handle(HttpRequest("/report", {"event": "before", **call}), None)
        )
        async with asyncio.timeout(60):
            while not tree.has_unread():
                await asyncio.sleep(0.01)
    await taking
    assert not tree.has_unread()
    stopping.set()
    await asyncio.wait_for(serving, 60)
