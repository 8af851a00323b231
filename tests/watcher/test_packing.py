"""A running watcher packs what it has recorded."""

import asyncio
import os

import pytest

from chorus.store.maintenance.side_store import list_loose, list_packs
from chorus.watcher import work_trees
from chorus.watcher.watcher import Watcher
from chorus.wire.home import find_home
from tests.history.agent_at_work import action, on_disk, replayed
from tests.repos import UserRepo

EDITS = 40


async def test_a_running_watcher_packs_what_it_has_recorded(
    repo: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_trees, "LOOSE_LIMIT", -1)
    monkeypatch.setattr(work_trees, "PACK_SECONDS", 0.02)
    home = find_home(repo.path)
    home.root.mkdir(parents=True, exist_ok=True)
    home.lock.touch()
    stopping = asyncio.Event()
    watcher = Watcher(home)
    serving = asyncio.create_task(watcher.serve(stopping))
    tree = watcher.trees.find(str(repo.path))
    assert tree is not None
    recorder, place = tree.recorder, repo.path / "app.py"
    for number in range(EDITS):
        place.write_text(f"x = {number}\n")
        recorder.record_named_paths([action(f"toolu_{number}", place)])
    store = recorder.workspace.store.directory
    for found in list_loose(store):
        os.utime(found.path, (1, 1))  # old enough to be packed
    async with asyncio.timeout(60):
        while not list_packs(store) or list_loose(store):
            await asyncio.sleep(0.02)
    place.write_text("x = 'goes on'\n")
    recorder.record_named_paths([action("toolu_last", place)])
    assert replayed(recorder) == on_disk(repo)
    assert len([entry for entry in recorder.entries() if entry.n is not None]) == EDITS + 1
    assert repo.fsck() == ""
    stopping.set()
    await asyncio.wait_for(serving, 60)
