"""The file watch where it is late, coarse or impossible: an imitation of FSEvents, and polling."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.observers.api import BaseObserver

from chorus.model.ids import RepoPath
from chorus.system.file_watch.file_watch import FileWatch
from chorus.system.files import file_systems
from chorus.system.files.file_systems import is_remote
from chorus.watcher.sources.changed_paths import ChangedPaths
from tests.imitation import fsevents
from tests.waiting import wait_for


@pytest.fixture
def imitated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file watch of macOS, on an imitation of FSEvents."""
    fsevents.install()
    from chorus.system.macos import file_watch as macos  # noqa: PLC0415  after the imitation

    monkeypatch.setattr("chorus.system.file_watch.file_watch.start_observer", macos.start_observer)
    monkeypatch.setattr("chorus.system.file_watch.file_watch.KEEPS_ORDER", macos.KEEPS_ORDER)


class Seen:
    """Everything a watch has reported so far."""

    def __init__(self, root: Path, *, git_dir: Path | None = None) -> None:
        self.paths: set[RepoPath] = set()
        self.head = self.lost = False
        self.watch = FileWatch(root, git_dir or root / ".git", wake=lambda: None)
        self.watch.start()
        self.watch.take()

    def sees(self, *paths: str) -> bool:
        taken = self.watch.take()
        self.paths |= taken.paths
        self.head |= taken.head
        self.lost |= taken.lost
        return set(paths) <= self.paths


@pytest.fixture
def seen(tmp_path: Path, imitated: None) -> Iterator[Seen]:
    for name in (".git/logs", "src/deep", "docs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "src/old.py").write_text("x")
    one = Seen(tmp_path)
    assert one.watch.problem is None
    assert type(next(iter(one.watch._observer.emitters))).__mro__[1].__name__ == "FSEventsEmitter"  # type: ignore[union-attr]  # it has started
    yield one
    one.watch.stop()


def test_fsevents_report_changes_late_and_both_names_of_a_rename(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "src/deep/a.py").write_text("x")
    (tmp_path / "src/old.py").rename(tmp_path / "docs/new.py")
    wait_for(lambda: seen.sees("src/deep/a.py", "src/old.py", "docs/new.py"))
    (tmp_path / "docs/new.py").unlink()
    seen.paths.clear()
    wait_for(lambda: seen.sees("docs/new.py"))
    assert not seen.lost


def test_fsevents_that_were_dropped_ask_for_a_scan(
    seen: Seen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fsevents, "MAX_ITEMS", 0)
    (tmp_path / "src/a").touch()
    wait_for(lambda: seen.sees() and seen.lost)


def test_fsevents_show_that_head_moved_and_nothing_else_of_git(seen: Seen, tmp_path: Path) -> None:
    (tmp_path / ".git/objects").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/other\n")
    wait_for(lambda: seen.sees() and seen.head)
    assert seen.paths == set()
    assert not seen.lost


def test_a_work_tree_reached_through_a_link_is_scanned(tmp_path: Path, imitated: None) -> None:
    """As below /tmp on macOS, which is a link: events name the real path."""
    (tmp_path / "real/.git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    seen = Seen(tmp_path / "link")
    try:
        (tmp_path / "link/a.py").write_text("x")
        wait_for(lambda: seen.sees("a.py") or seen.lost)
    finally:
        seen.watch.stop()


def test_a_linked_work_tree_sees_its_own_head(tmp_path: Path, imitated: None) -> None:
    (tmp_path / "tree").mkdir()
    git_dir = tmp_path / "main/.git/worktrees/tree"
    git_dir.mkdir(parents=True)
    seen = Seen(tmp_path / "tree", git_dir=git_dir)
    try:
        (git_dir / "HEAD").write_text("ref: refs/heads/other\n")
        wait_for(lambda: seen.sees() and seen.head)
    finally:
        seen.watch.stop()


def test_a_work_tree_that_is_gone_is_a_stated_problem(tmp_path: Path, imitated: None) -> None:
    watch = FileWatch(tmp_path / "gone", tmp_path / "gone/.git", wake=lambda: None)
    watch.start()
    assert watch.problem is not None
    assert watch.needs_scan


@pytest.mark.parametrize("has_started", [False, True])
def test_a_watch_that_fails_or_ends_is_a_stated_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imitated: None, has_started: bool
) -> None:
    def fail(_stream: fsevents.Stream, _callback: object, started: Callable[[], None]) -> None:
        if has_started:
            started()
        raise SystemError("Cannot start fsevents stream")

    monkeypatch.setattr(fsevents.Stream, "run", fail)
    (tmp_path / ".git").mkdir()
    woken = threading.Event()
    watch = FileWatch(tmp_path, tmp_path / ".git", wake=woken.set)
    watch.start()
    try:
        assert woken.wait(30)
        assert watch.needs_scan
        assert "changes are found by scanning" in str(watch.problem)
    finally:
        watch.stop()


def test_the_change_of_a_call_is_found_by_a_scan_where_there_is_no_barrier(
    seen: Seen, tmp_path: Path
) -> None:
    paths = ChangedPaths(tmp_path, seen.watch)
    (tmp_path / "src/deep/a.py").write_text("x")
    asyncio.run(paths.settle())
    assert paths.take().where is None  # the whole work tree, at once: events are not waited for
    wait_for(lambda: _gather(paths))
    assert paths.take().where == {"src/deep/a.py"}  # and later once more, which finds nothing new


def _gather(paths: ChangedPaths) -> bool:
    paths.gather()
    return paths.any_left


def test_polling_watches_nothing_and_scans(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    watch = FileWatch(tmp_path, tmp_path / ".git", wake=lambda: None, polling=True)
    watch.start()
    assert watch.problem is None
    assert watch.needs_scan
    assert watch.take().lost
    assert watch.take().lost
    assert not watch.flush_barrier(lambda: None)
    assert os.listdir(tmp_path / ".git") == []  # noqa: PTH208  the names alone
    watch.stop()


def test_a_network_mount_is_known_by_its_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_remote(tmp_path)
    monkeypatch.setattr(file_systems, "file_system_types", lambda _: {"nfs4"})
    assert is_remote(tmp_path)


def test_a_system_without_fsevents_uses_what_watchdog_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imitated: None
) -> None:
    """kqueue elsewhere; here inotify, whose events are as coarse as watchdog makes them."""
    monkeypatch.setitem(sys.modules, "watchdog.observers.fsevents", None)
    (tmp_path / ".git").mkdir()
    seen = Seen(tmp_path)
    try:
        assert isinstance(seen.watch._observer, BaseObserver)
        (tmp_path / "a.py").write_text("x")
        wait_for(lambda: seen.sees("a.py"))
    finally:
        seen.watch.stop()
