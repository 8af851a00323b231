"""The watcher ends when its repository is removed."""

import asyncio
import shutil

import pytest

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
