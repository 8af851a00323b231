"""Which work tree a directory belongs to, when each is opened and closed, and what runs beside recording."""

import asyncio
import logging
import os
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar, cast

import pytest

from chorus.errors import ChorusError
from chorus.history.recorder import Recorder
from chorus.history.records import Edit
from chorus.model.api.json_api import EventJson
from chorus.model.outcomes import ActionClosed
from chorus.store.repository import Repository
from chorus.watcher import work_trees
from chorus.watcher.recorder_pool import RecorderPool
from chorus.watcher.work_trees import WatchedTree, WatchedTrees, is_polled
from chorus.wire.home import find_home
from tests.history.agent_at_work import action, bash
from tests.repos import UserRepo
from tests.watcher.clock import Clock
from tests.watcher.test_work_tree_windows import facts, opened

Result = TypeVar("Result")


@dataclass
class Subscribers:
    subscribers: int = 1
    events: list[Any] = field(default_factory=list)

    def publish(self, event: EventJson) -> None:
        self.events.append(event)


def noting(calls: list[str], function: Callable[..., Result]) -> Callable[..., Result]:
    """The same function, with a list of what it was called with."""

    def call(*arguments: object) -> Result:
        calls.append(" ".join(map(str, arguments)))
        return function(*arguments)

    return call


@pytest.fixture
def publisher() -> Subscribers:
    return Subscribers()


@pytest.fixture
async def trees(repo: UserRepo, publisher: Subscribers) -> AsyncIterator[WatchedTrees]:
    trees = WatchedTrees(find_home(repo.path), publisher, RecorderPool())
    yield trees
    trees.close()


def found(trees: WatchedTrees, cwd: Path) -> WatchedTree:
    tree = trees.find(str(cwd))
    assert tree is not None
    return tree


@pytest.fixture
def linked(repo: UserRepo) -> Path:
    place = repo.path.parent / "linked"
    repo.git("worktree", "add", "-q", str(place), "-b", "linked")
    return place


async def test_a_directory_belongs_to_the_work_tree_around_it(
    trees: WatchedTrees, repo: UserRepo, linked: Path
) -> None:
    tree = found(trees, repo.path)
    assert tree.root == repo.path
    assert found(trees, repo.path / "src") is tree
    assert found(trees, linked) is not tree
    assert trees.all.keys() == {repo.path, linked}
    assert (trees.root_of(str(linked)), trees.root_of(str(repo.path.parent))) == (linked, None)
    assert trees._head_moved.is_set()  # a commit may have been made before it was watched


async def test_directories_of_no_or_another_repository_are_not_watched(
    trees: WatchedTrees, repo: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_trees, "ROOT_SECONDS", 0.0)
    other = UserRepo.copy(repo.path, repo.path.parent / "other")
    for _ in range(2):
        assert trees.find(str(other.path)) is None
        assert trees.find(str(repo.path.parent)) is None
        assert trees.find(str(repo.path / ("x/" * 2000))) is None
        assert trees.find("/\0") is None
    assert trees.all == {}


async def test_a_root_is_looked_at_once_for_one_report(
    trees: WatchedTrees, repo: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, looks = Clock(), list[str]()
    stamp = work_trees._stamp_root
    monkeypatch.setattr(work_trees, "time", clock)
    monkeypatch.setattr(work_trees, "_stamp_root", noting(looks, stamp))
    finds = list[str]()
    find = trees._find
    monkeypatch.setattr(trees, "_find", noting(finds, find))
    root = str(repo.path)
    counts = []
    for clock.now in (100.0, 100.0, 100.009, 100.011, 100.012, 100.5):
        assert trees.find(root) is trees.all[repo.path]
        counts.append((len(looks), len(finds)))
    assert counts == [(1, 1), (1, 1), (1, 1), (2, 1), (2, 1), (3, 1)]
    for _ in range(2):  # below a root nothing is remembered: another repository may appear there
        trees.find(f"{root}/src")
    assert finds[1:] == [f"{root}/src"] * 2


async def test_a_root_with_another_git_file_is_looked_up_again(
    trees: WatchedTrees, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_trees, "ROOT_SECONDS", 0.0)
    tree = found(trees, linked)
    finds = list[str]()
    find = trees._find
    monkeypatch.setattr(trees, "_find", noting(finds, find))
    assert found(trees, linked) is tree
    assert finds == []
    text = (linked / ".git").read_text()
    (linked / ".git").write_text(text)
    os.utime(linked / ".git", (1, 1))
    assert found(trees, linked) is tree
    assert finds == [str(linked)]


def test_the_stamp_of_a_root_ignores_what_comes_and_goes_in_its_git_directory(repo: UserRepo) -> None:
    before = work_trees._stamp_root(str(repo.path))
    assert before is not None
    os.utime(repo.path / ".git", (1, 1))
    assert work_trees._stamp_root(str(repo.path)) == before
    state, git = repo.path.stat(), (repo.path / ".git").stat()
    assert before == (state.st_dev, state.st_ino, git.st_dev, git.st_ino, 0)
    assert work_trees._stamp_root(str(repo.path / "src")) is None


async def test_a_removed_tree_is_closed_and_opened_again_when_it_is_back(
    trees: WatchedTrees, repo: UserRepo, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_trees, "ROOT_SECONDS", 0.0)
    main, first = found(trees, repo.path), found(trees, linked)
    trees.changed.clear()
    repo.git("worktree", "remove", "--force", str(linked))
    assert trees.find(str(linked)) is None
    assert trees.present() == [main]
    assert trees.changed.is_set()
    assert not first.directory.is_there()
    assert first.directory._descriptor == -1  # closed
    repo.git("worktree", "add", "-q", str(linked), "linked")
    again = found(trees, linked)
    assert again is not first
    assert set(trees.present()) == {main, again}
    assert again.directory._descriptor >= 0


async def test_a_tree_replaced_by_another_is_found_as_the_new_one(
    trees: WatchedTrees, repo: UserRepo, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_trees, "ROOT_SECONDS", 0.0)
    first = found(trees, linked)
    shutil.copytree(linked, f"{linked}2")
    shutil.rmtree(linked)
    Path(f"{linked}2").rename(linked)
    assert found(trees, linked) is not first
    assert first.directory._descriptor >= 0  # until nobody uses it
    trees.present()
    assert first.directory._descriptor == -1


async def test_the_history_of_every_tree_can_be_read_watched_or_not(
    trees: WatchedTrees, repo: UserRepo, linked: Path, caplog: pytest.LogCaptureFixture
) -> None:
    main = found(trees, repo.path)
    found(trees, linked)
    label = trees.all[linked].recorder.workspace.label
    trees.all.pop(linked).close()
    trees._roots.clear()
    readers = trees.readers()
    assert len(readers) == 2
    assert readers[main.recorder.workspace.label] is main.recorder
    assert readers[label].workspace.repository.work_tree == linked
    assert trees.readers()[label] is readers[label]  # opened once
    watched = found(trees, linked)
    assert trees._readers == {}  # it has a recorder of its own now
    assert trees.readers()[label] is watched.recorder

    own = SimpleNamespace(recorder=SimpleNamespace(workspace=SimpleNamespace(label="elsewhere")))
    assert trees.readers(cast(WatchedTree, own))["elsewhere"] is own.recorder


async def test_a_history_that_cannot_be_read_hides_no_other(
    trees: WatchedTrees,
    repo: UserRepo,
    linked: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    main = found(trees, repo.path)
    found(trees, linked)
    trees.all.pop(linked).close()
    for error in (ChorusError("broken"), OSError("unreachable")):

        def fail(root: Path, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(Recorder, "open", fail)
        caplog.clear()
        assert list(trees.readers().values()) == [main.recorder]
        assert f"cannot read the history of {linked}: {error}" in caplog.text


async def test_a_reader_of_a_removed_tree_is_closed(
    trees: WatchedTrees, repo: UserRepo, linked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(trees, linked)
    trees.all.pop(linked).close()
    trees.readers()
    closed = list[str]()
    reader = trees._readers[linked]
    monkeypatch.setattr(reader, "close", noting(closed, reader.close))
    repo.git("worktree", "remove", "--force", str(linked))
    assert linked not in {one.workspace.repository.work_tree for one in trees.readers().values()}
    assert closed == [""]
    assert linked not in trees._readers


async def test_what_chorus_writes_is_not_the_change_of_a_running_command(
    trees: WatchedTrees, repo: UserRepo
) -> None:
    tree = found(trees, repo.path)
    command = bash("t1")
    await tree.feed([opened(command)], source="hook", is_waiting=lambda: True)
    repo.write("made.txt", b"by the command\n")
    repo.write(".claude/settings.local.json", b"{}\n")
    trees.record_own_change(repo.path, repo.path / ".claude/settings.local.json")
    trees.record_own_change(repo.path, repo.path.parent / "elsewhere.json")
    await tree.settle()
    await tree.feed([ActionClosed(command)], source="hook", is_waiting=None)
    assert facts(tree) == [
        ("outside", None, (".claude/settings.local.json",)),
        ("committed", "t1", ("made.txt",)),
    ]


async def test_an_edit_is_a_rewind_if_all_its_files_were_rewound(trees: WatchedTrees, repo: UserRepo) -> None:
    tree = found(trees, repo.path)
    one, two = (cast(Edit, SimpleNamespace(path=path)) for path in ("a", "b"))
    is_rewind = tree.recorder.journal.is_rewind
    assert not is_rewind([one])
    trees.was_rewound = lambda path: path == repo.path / "a"
    assert is_rewind([one])
    assert not is_rewind([one, two])


async def test_calls_that_end_together_are_held_and_recorded_in_every_tree(
    trees: WatchedTrees, repo: UserRepo, linked: Path
) -> None:
    main, other = found(trees, repo.path), found(trees, linked)
    trees.set_more_to_come(True)
    assert (main.more_to_come, other.more_to_come) == (True, True)
    for tree in (main, other):
        place = tree.root / "app.py"
        place.write_bytes(b"x = 2\n")
        done = action(f"toolu_{tree.root.name}", place)
        await tree.feed([ActionClosed(done)], source="hook", is_waiting=None)
        assert (tree.any_held, tree.has_changes, tree.recorder.entries()) == (True, True, [])
    trees.set_more_to_come(False)
    shutil.rmtree(linked)
    await trees.record_held()
    assert [entry.id for entry in main.recorder.entries()] == ["toolu_repo"]
    assert not main.any_held


async def test_a_new_log_entry_is_published_once_and_only_for_subscribers(
    trees: WatchedTrees, repo: UserRepo, publisher: Subscribers
) -> None:
    tree = found(trees, repo.path)
    publisher.subscribers = 0
    (repo.path / "app.py").write_bytes(b"x = 2\n")
    tree.recorder.record_named_paths([action("toolu_1", repo.path / "app.py")])
    trees.publish_changes()
    assert publisher.events == []
    publisher.subscribers = 1
    trees.publish_changes()
    trees.publish_changes()
    (event,) = publisher.events
    assert (event["event"], event["work_tree"], event["entry"]["id"]) == ("action", str(repo.path), "toolu_1")


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


async def stop(task: "asyncio.Task[None]") -> None:
    assert not task.done()
    task.cancel()
    await asyncio.wait([task])


async def test_the_one_store_of_all_trees_is_packed_and_a_failure_is_tried_again(
    trees: WatchedTrees,
    repo: UserRepo,
    linked: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    main = found(trees, repo.path)
    found(trees, linked)
    ends: list[object] = [ChorusError("refused"), OSError("full"), 0, 7]
    stores: list[object] = []

    def pack(git: object, store: object, limit: int) -> object:
        stores.append(store)
        end = ends[len(stores) - 1] if len(stores) <= len(ends) else 0
        if isinstance(end, Exception):
            raise end
        return end

    monkeypatch.setattr(work_trees, "PACK_SECONDS", 0.0)
    monkeypatch.setattr(work_trees, "pack_if_due", pack)
    caplog.set_level(logging.INFO, "chorus.watcher")
    packing = asyncio.create_task(trees.pack_forever())
    await until(lambda: "packed" in caplog.text)
    await stop(packing)
    told = [record.getMessage() for record in caplog.records if "pack" in record.getMessage()]
    assert told == ["cannot pack the store: refused", "cannot pack the store: full", "packed 7 objects"]
    assert set(stores) == {main.recorder.workspace.store}


async def test_new_commits_are_copied_once_and_a_failure_does_not_end_it(
    trees: WatchedTrees,
    repo: UserRepo,
    linked: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    found(trees, repo.path)
    copies: list[Path] = []

    def copy(repository: Repository, store: object) -> int:
        copies.append(repository.work_tree)
        if len(copies) == 1:
            raise ChorusError("refused")
        if len(copies) == 2:
            raise OSError("full")
        return 0

    monkeypatch.setattr(work_trees, "COPY_SECONDS", 0.0)
    monkeypatch.setattr(work_trees, "copy_new_commits", copy)
    waits = asyncio.Semaphore(0)
    wait = trees._wait_for_commits

    async def count() -> None:
        waits.release()
        await wait()

    monkeypatch.setattr(trees, "_wait_for_commits", count)
    copying = asyncio.create_task(trees.copy_forever())

    async def go_round() -> None:
        trees._head_moved.set()
        for _ in range(2):
            async with asyncio.timeout(30):
                await waits.acquire()

    await go_round()
    await until(lambda: len(copies) == 1)
    found(trees, linked)
    await until(lambda: len(copies) == 2)
    assert copies == [repo.path, linked]
    repo.commit("more", **{"new.txt": b"new\n"})
    trees._head_moved.set()
    await until(lambda: len(copies) == 3)
    trees._head_moved.set()  # nothing was committed since
    async with asyncio.timeout(30):
        while trees._head_moved.is_set():
            await asyncio.sleep(0.001)
    await asyncio.sleep(0.01)
    assert copies[2:] == [repo.path]
    assert "cannot copy the user's objects: refused" in caplog.text
    assert "cannot copy the user's objects: full" in caplog.text
    await stop(copying)


@pytest.mark.parametrize("blind", [True, False])
async def test_commits_are_looked_for_now_and_then_where_nobody_tells_of_them(
    trees: WatchedTrees, repo: UserRepo, monkeypatch: pytest.MonkeyPatch, blind: bool
) -> None:
    tree = found(trees, repo.path)
    if blind:
        tree.watch.stop()
    elif tree.watch.needs_scan:
        pytest.skip("no file watch here")
    trees._head_moved.clear()
    monkeypatch.setattr(work_trees, "COPY_SECONDS", 0.0)
    monkeypatch.setattr(work_trees, "WATCHED_COPY_SECONDS", 600.0)
    waiting = asyncio.create_task(trees._wait_for_commits())
    if not blind:
        await asyncio.sleep(0.02)
        assert not waiting.done()
        trees._head_moved.set()
    await asyncio.wait_for(waiting, 30)
    assert not trees._head_moved.is_set()


async def test_a_watched_tree_without_news_of_commits_is_looked_at_all_the_same(
    trees: WatchedTrees, repo: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    found(trees, repo.path)
    trees._head_moved.clear()
    monkeypatch.setattr(work_trees, "COPY_SECONDS", 0.0)
    monkeypatch.setattr(work_trees, "WATCHED_COPY_SECONDS", 0.0)
    await asyncio.wait_for(trees._wait_for_commits(), 30)


async def test_all_trees_and_readers_are_closed_at_the_end(
    repo: UserRepo, linked: Path, publisher: Subscribers, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = WatchedTrees(find_home(repo.path), publisher, RecorderPool())
    main, gone = found(trees, repo.path), found(trees, linked)
    gone_root = trees.all.pop(linked)
    trees._gone.append(gone_root)
    trees.readers()
    closed = list[str]()
    reader = trees._readers[linked]
    monkeypatch.setattr(reader, "close", noting(closed, reader.close))
    trees.close()
    assert closed == [""]
    assert (main.directory._descriptor, gone.directory._descriptor) == (-1, -1)


@pytest.mark.parametrize(
    ("method", "remote", "polled"),
    [
        ("poll", False, True),
        ("poll", True, True),
        ("native", False, False),
        ("native", True, False),
        (None, False, False),
        (None, True, True),
    ],
)
def test_a_tree_is_scanned_where_a_watch_would_not_see_everything(
    monkeypatch: pytest.MonkeyPatch, method: str | None, remote: bool, polled: bool
) -> None:
    monkeypatch.setattr(work_trees, "is_remote", lambda path: remote)
    config = {"chorus.filewatch": method} if method else {}
    repository = SimpleNamespace(config=config, work_tree=Path("/"))
    assert is_polled(cast(Repository, repository)) is polled


async def test_a_change_of_any_thread_wakes_the_loop_and_one_after_its_end_is_ignored() -> None:
    event = asyncio.Event()
    await asyncio.to_thread(work_trees._wake, asyncio.get_running_loop(), event)
    await asyncio.wait_for(event.wait(), 30)
    ended = asyncio.new_event_loop()
    ended.close()
    work_trees._wake(ended, event)


def test_the_stamp_of_a_file_changes_with_its_time_and_its_size(tmp_path: Path) -> None:
    path = tmp_path / "HEAD"
    assert work_trees._stamp(path) is None
    path.write_text("one")
    os.utime(path, ns=(5, 7))
    assert work_trees._stamp(path) == (7, 3)
