import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.sources.files import MOST_PATHS, FileWatch, Moved
from tests.waiting import wait_for


class Watched:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.wakes = 0
        self.watch = FileWatch(root, root / ".git", wake=self._wake, skip={"node_modules"})
        self.seen: set[str] = set()
        self.head = self.lost = False

    def _wake(self) -> None:
        self.wakes += 1

    def take(self) -> Moved:
        moved = self.watch.take()
        self.seen |= moved.paths
        self.head |= moved.head
        self.lost |= moved.lost
        return moved

    def sees_head(self) -> bool:
        self.take()
        return self.head

    def sees_loss(self) -> bool:
        self.take()
        return self.lost

    def sees(self, path: str) -> bool:
        self.take()
        return path in self.seen


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    for name in (".git/logs", "src/deep", "node_modules/left-pad"):
        (tmp_path / name).mkdir(parents=True)
    one = Watched(tmp_path)
    one.watch.start()
    assert one.watch.problem is None
    one.watch.take()
    yield one
    one.watch.stop()


def test_the_first_look_says_that_nothing_was_watched_before(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    watch = FileWatch(tmp_path, tmp_path / ".git", wake=lambda: None)
    watch.start()
    assert watch.take().lost
    assert not watch.take().lost
    watch.stop()


def test_a_changed_file_is_named(watched: Watched) -> None:
    (watched.root / "src/deep/a.py").write_text("x")
    wait_for(lambda: watched.sees("src/deep/a.py"))
    assert not watched.lost
    assert watched.wakes


def test_a_file_in_the_root_is_named(watched: Watched) -> None:
    (watched.root / "top.txt").write_text("x")
    wait_for(lambda: watched.sees("top.txt"))


def test_a_deleted_and_a_renamed_file_are_named_by_both_names(watched: Watched) -> None:
    (watched.root / "src/old.py").write_text("x")
    wait_for(lambda: watched.sees("src/old.py"))
    watched.seen.clear()
    (watched.root / "src/old.py").rename(watched.root / "src/new.py")
    wait_for(lambda: watched.sees("src/new.py") and watched.sees("src/old.py"))
    (watched.root / "src/new.py").unlink()
    watched.seen.clear()
    wait_for(lambda: watched.sees("src/new.py"))


def test_a_new_directory_at_the_top_is_watched_from_then_on(watched: Watched) -> None:
    (watched.root / "fresh").mkdir()
    wait_for(lambda: watched.sees("fresh"))
    wait_for(lambda: _write_until_seen(watched, "fresh/b.py"))


def test_a_directory_at_the_top_that_is_made_again_is_watched_again(watched: Watched) -> None:
    (watched.root / "src/deep").rmdir()
    (watched.root / "src").rmdir()
    wait_for(lambda: watched.sees("src"))
    (watched.root / "src").mkdir()
    wait_for(lambda: _write_until_seen(watched, "src/c.py"))


def _write_until_seen(watched: Watched, path: str) -> bool:
    """The watch on a new directory begins a moment after it is made; a scan covers that moment."""
    (watched.root / path).write_text("x")
    return watched.sees(path)


def test_git_and_skipped_directories_are_not_looked_at_but_head_is(watched: Watched) -> None:
    (watched.root / "node_modules/left-pad/index.js").write_text("x")
    (watched.root / ".git/objects").mkdir()
    (watched.root / ".git/HEAD").write_text("ref: refs/heads/other\n")
    wait_for(watched.sees_head)
    assert not watched.seen


def test_a_burst_becomes_a_loss_instead_of_a_growing_set(watched: Watched) -> None:
    rounds = 0

    def look_and_burst() -> bool:
        """Nobody takes anything between a burst and the next look: what is taken bit by bit is no burst."""
        nonlocal rounds
        if not watched.sees_loss():
            watched.seen.clear()
            rounds += 1
            for number in range(MOST_PATHS + 500):
                os.mknod(watched.root / f"src/{rounds}-{number}")  # one event each
        return watched.lost

    # Events come half a second late, and then as fast as the machine is.
    wait_for(look_and_burst, every=2.5, seconds=90)
    assert len(watched.seen) <= MOST_PATHS


def test_without_a_watch_every_look_asks_for_a_scan(tmp_path: Path) -> None:
    watch = FileWatch(tmp_path / "gone", tmp_path / "gone/.git", wake=lambda: None)
    watch.start()
    assert watch.problem is not None
    assert watch.take().lost
    assert watch.take().lost
    watch.stop()
