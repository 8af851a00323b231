import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chorus.system.file_watch.file_watch import MAX_PATHS, FileWatch, WatchedChanges
from chorus.system.this_system import IS_LINUX
from tests.waiting import wait_for


class Watched:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.wakes = 0
        self.watch = FileWatch(root, root / ".git", wake=self._wake)
        self.seen: set[str] = set()
        self.head = self.lost = False

    def _wake(self) -> None:
        self.wakes += 1

    def take(self) -> WatchedChanges:
        moved = self.watch.take()
        self.seen |= moved.paths
        self.head |= moved.head
        self.lost |= moved.lost
        return moved

    def wait_for_barrier(self) -> None:
        if not IS_LINUX:
            pytest.skip("only inotify keeps the order of changes")
        told = threading.Event()
        assert self.watch.flush_barrier(told.set)
        assert told.wait(60)

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
    for name in (".git/logs", "src/deep", "docs"):
        (tmp_path / name).mkdir(parents=True)
    one = Watched(tmp_path)
    one.watch.start()
    assert one.watch.problem is None
    one.watch.take()
    yield one
    one.watch.stop()


def test_the_first_take_asks_for_a_scan(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    watch = FileWatch(tmp_path, tmp_path / ".git", wake=lambda: None)
    watch.start()
    assert watch.take().lost
    assert not watch.take().lost
    watch.stop()


def test_a_changed_file_is_reported(watched: Watched) -> None:
    (watched.root / "src/deep/a.py").write_text("x")
    wait_for(lambda: watched.sees("src/deep/a.py"))
    assert not watched.lost
    assert watched.wakes


def test_a_file_in_the_root_is_reported(watched: Watched) -> None:
    (watched.root / "top.txt").write_text("x")
    wait_for(lambda: watched.sees("top.txt"))


def test_a_deleted_file_and_both_names_of_a_renamed_one_are_reported(watched: Watched) -> None:
    (watched.root / "src/old.py").write_text("x")
    wait_for(lambda: watched.sees("src/old.py"))
    watched.seen.clear()
    (watched.root / "src/old.py").rename(watched.root / "src/new.py")
    wait_for(lambda: watched.sees("src/new.py") and watched.sees("src/old.py"))
    (watched.root / "src/new.py").unlink()
    watched.seen.clear()
    wait_for(lambda: watched.sees("src/new.py"))


def test_a_new_directory_in_the_root_is_watched(watched: Watched) -> None:
    (watched.root / "fresh").mkdir()
    wait_for(lambda: watched.sees("fresh"))
    wait_for(lambda: _write_until_seen(watched, "fresh/b.py"))


def test_a_directory_in_the_root_that_is_recreated_is_watched_again(watched: Watched) -> None:
    (watched.root / "src/deep").rmdir()
    (watched.root / "src").rmdir()
    wait_for(lambda: watched.sees("src"))
    (watched.root / "src").mkdir()
    wait_for(lambda: _write_until_seen(watched, "src/c.py"))


def _write_until_seen(watched: Watched, path: str) -> bool:
    """The watch on a new directory begins a moment after it is made; a scan covers that moment."""
    (watched.root / path).write_text("x")
    return watched.sees(path)


def test_git_directories_are_not_watched_but_head_is(watched: Watched) -> None:
    (watched.root / "src/nested/.git").mkdir(parents=True)
    watched.wait_for_barrier()
    watched.take()
    watched.seen.clear()
    (watched.root / "src/nested/.git/config").write_text("x")
    (watched.root / ".git/objects").mkdir()
    (watched.root / ".git/HEAD").write_text("ref: refs/heads/other\n")
    wait_for(watched.sees_head)
    assert not watched.seen


def test_too_many_paths_become_a_scan(watched: Watched) -> None:
    for number in range(MAX_PATHS + 500):
        os.mknod(watched.root / f"src/{number}")  # one event each
    watched.wait_for_barrier()  # and nobody takes anything meanwhile: what is taken bit by bit is no burst

    assert watched.sees_loss()
    assert len(watched.seen) <= MAX_PATHS


def test_a_file_whose_permissions_changed_is_reported(watched: Watched) -> None:
    place = watched.root / "src/deep/run.sh"
    place.write_text("x")
    watched.wait_for_barrier()
    watched.take()
    watched.seen.clear()

    place.chmod(0o755)
    watched.wait_for_barrier()
    assert watched.sees("src/deep/run.sh")


def test_a_barrier_comes_after_every_earlier_change(watched: Watched) -> None:
    """However late the watch's threads get their turn: one that never rests takes it from them."""
    tired = threading.Event()
    spinning = threading.Thread(target=lambda: [None for _ in iter(tired.is_set, True)])
    spinning.start()
    try:
        for number in range(20):
            path = ("src/deep/a.py", "top.txt", "src/b.py", f"new{number}/c.py")[number % 4]
            place = watched.root / path
            place.parent.mkdir(exist_ok=True)
            place.write_text(str(number))
            watched.wait_for_barrier()
            assert {path, path.partition("/")[0]} & watched.take().paths
            if number % 5 == 0:
                place.rename(watched.root.parent / "elsewhere")  # the first half of a rename is kept back
                watched.wait_for_barrier()
                assert path in watched.take().paths
    finally:
        tired.set()
        spinning.join()


def test_directories_that_appear_and_disappear_leave_no_thread_behind(watched: Watched) -> None:
    before = threading.active_count()
    for number in range(30):
        (watched.root / f"a{number}").mkdir()
        (watched.root / f"a{number}" / "x").write_text("x")
        (watched.root / f"a{number}").rename(watched.root / f"b{number}")
    watched.wait_for_barrier()
    wait_for(lambda: threading.active_count() <= before + 30, what="one thread for each that is there")
    for number in range(30):
        shutil.rmtree(watched.root / f"b{number}")
        (watched.root / "c").mkdir()
        (watched.root / "c").rmdir()

    watched.wait_for_barrier()
    wait_for(lambda: threading.active_count() <= before, what="their threads end")
    assert watched.watch.problem is None


LIMITED = """
import sys, threading
from pathlib import Path
from chorus.system.file_watch.file_watch import FileWatch
limit, root = Path("/proc/sys/user/max_inotify_watches"), Path(sys.argv[1])
limit.write_text(sys.argv[2])
watch = FileWatch(root, root / ".git", wake=lambda: None)
watch.start()
print(watch.problem)
watch.take()
for number in range(20):
    (root / f"src/new{number}").mkdir()
told = threading.Event()
if watch.flush_barrier(told.set):
    told.wait(60)
print(watch.problem, watch.take().lost, watch.take().lost)
watch.stop()
"""


@pytest.mark.skipif(not IS_LINUX, reason="of inotify")
@pytest.mark.parametrize(
    ("limit", "first"), [("3", "inotify watch limit reached: changes are found by scanning"), ("20", "None")]
)
def test_a_limit_reached_below_a_watched_directory_is_a_stated_problem(
    tmp_path: Path, limit: str, first: str
) -> None:
    for name in (".git/logs", *(f"src/{number}" for number in range(5))):
        (tmp_path / name).mkdir(parents=True)
    limited = ["unshare", "-Ur", sys.executable, "-c", LIMITED, str(tmp_path), limit]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    done = subprocess.run(limited, capture_output=True, text=True, env=environment)
    if "unshare" in done.stderr or "max_inotify_watches" in done.stderr:
        pytest.skip("the limit can be set in a namespace of its own only, and there is none")

    problem = "inotify watch limit reached: changes are found by scanning"
    assert done.stdout.splitlines() == [first, f"{problem} True True"], done.stderr


CLOSED = """
import sys, threading
from pathlib import Path
from chorus.system.file_watch.file_watch import FileWatch
root = Path(sys.argv[1])
closed = [root / "data", root / "src/deep"]
for place in closed:
    place.chmod(0)
watch = FileWatch(root, root / ".git", wake=lambda: None)
watch.start()
def told():
    heard = threading.Event()
    assert watch.flush_barrier(heard.set) and heard.wait(60)
    return sorted(watch.take().paths)
told()
for place in closed:
    place.chmod(0o700)
print(told())
for place in closed:
    (place / "x").write_text("x")
print(told(), watch.problem)
watch.stop()
"""


@pytest.mark.skipif(not IS_LINUX, reason="of inotify")
def test_an_unreadable_directory_is_watched_once_it_is_readable(tmp_path: Path) -> None:
    for name in (".git/logs", "data", "src/deep"):
        (tmp_path / name).mkdir(parents=True)
    # Root looks into everything, unless it goes without the rights to do so.
    plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if plain and not shutil.which(plain[0]):
        pytest.skip("the tests run as root, and there is no setpriv")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    command = [*plain, sys.executable, "-c", CLOSED, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)

    assert done.stdout.splitlines() == ["['data', 'src/deep']", "['data/x', 'src/deep/x'] None"], done.stderr


def test_without_a_watch_every_take_asks_for_a_scan(tmp_path: Path) -> None:
    watch = FileWatch(tmp_path / "gone", tmp_path / "gone/.git", wake=lambda: None)
    watch.start()
    assert watch.problem is not None
    assert watch.take().lost
    assert watch.take().lost
    watch.stop()


def test_both_names_of_a_rename_are_reported_without_delay(watched: Watched) -> None:
    (watched.root / "src/old.py").write_text("x")
    watched.wait_for_barrier()
    watched.take()
    (watched.root / "src/old.py").rename(watched.root / "src/deep/new.py")
    watched.wait_for_barrier()
    assert watched.take().paths == {"src/old.py", "src/deep/new.py"}


def test_a_directory_that_was_renamed_is_watched_under_its_new_name(watched: Watched) -> None:
    (watched.root / "src").rename(watched.root / "lib")
    watched.wait_for_barrier()
    assert watched.take().paths == {"src", "lib"}
    (watched.root / "lib/deep/a.py").write_text("x")
    watched.wait_for_barrier()
    assert watched.take().paths == {"lib/deep/a.py"}


@pytest.mark.skipif(not IS_LINUX, reason="of inotify")
def test_an_overflow_of_the_kernels_queue_is_a_loss_and_the_watch_continues(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue is filled while its reader is held up, as on a busy machine."""
    size = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    held = threading.Lock()
    monkeypatch.setattr("chorus.system.linux.inotify.os.read", _wait_for(held, os.read))
    with held:
        (watched.root / "src/first").touch()
        for number in range(size // 2 + 10):  # made and closed after writing: two events each
            (watched.root / f"src/{number}").touch()
        (watched.root / "unseen").mkdir()
    wait_for(watched.sees_loss)
    watched.wait_for_barrier()
    wait_for(lambda: _write_until_seen(watched, "unseen/a.py"))


def _wait_for(held: threading.Lock, read: Callable[[int, int], bytes]) -> Callable[[int, int], bytes]:
    def read_later(descriptor: int, size: int) -> bytes:
        with held:
            return read(descriptor, size)

    return read_later
