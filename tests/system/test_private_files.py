"""Directories and lock files that only their owner can use."""

import fcntl
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.system.files.file_lock import FileLock, is_locked
from chorus.system.files.private_files import NotADirectory, NotOwned, make_private


@pytest.fixture(autouse=True)
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_directory_and_those_above_it_are_private_at_once(tmp_path: Path) -> None:
    make_private(tmp_path / "a" / "b")
    make_private(tmp_path / "a" / "b")
    assert mode_of(tmp_path / "a") == mode_of(tmp_path / "a" / "b") == 0o700


def test_an_existing_directory_is_taken_from_others_with_all_it_holds(tmp_path: Path) -> None:
    root = tmp_path / "chorus"
    (root / "objects").mkdir(parents=True)
    (root / "objects" / "object").touch(0o444)
    (root / "notes").touch(0o666)
    (tmp_path / "outside").touch(0o666)
    (root / "link").symlink_to(tmp_path / "outside")
    make_private(root)
    assert mode_of(root) == mode_of(root / "objects") == 0o700
    assert mode_of(root / "notes") == 0o600
    assert mode_of(root / "objects" / "object") == 0o400
    assert mode_of(tmp_path / "outside") == 0o666


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory to another user")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "chorus"
    root.mkdir(0o777)
    os.chown(root, 65534, 65534)
    with pytest.raises(NotOwned, match="belongs to another user"):
        make_private(root)
    assert list(root.iterdir()) == []


def test_a_file_system_that_gives_all_files_to_one_user_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "chorus"
    root.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    make_private(root)
    assert mode_of(root) == 0o700
    assert list(root.iterdir()) == []


def test_a_file_in_place_of_the_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "chorus").touch()
    with pytest.raises(NotADirectory, match="is not a directory"):
        make_private(tmp_path / "chorus")


def test_a_lock_that_others_could_open_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch(0o644)
    other = FileLock.__new__(FileLock)
    other._path, other._descriptor = path, os.open(path, os.O_RDONLY)  # opened while anybody could
    assert other.try_acquire()
    lock = FileLock(path)
    assert lock.try_acquire()
    assert mode_of(path) == 0o600
    other.close()
    assert not FileLock(path).try_acquire()
    lock.close()
    assert not is_locked(path)


def test_a_lock_in_a_directory_taken_from_others_is_replaced(tmp_path: Path) -> None:
    root = tmp_path / "chorus"
    (root / "objects").mkdir(parents=True)
    for path in (root / "watcher.lock", root / "objects" / "arranging.lock"):
        path.touch(0o644)
        other = os.open(path, os.O_RDONLY)  # opened while anybody could
        fcntl.flock(other, fcntl.LOCK_EX)
        make_private(root)
        lock = FileLock(path)
        assert lock.try_acquire()
        assert mode_of(path) == 0o600
        lock.close()
        os.close(other)
        root.chmod(0o755)


@pytest.mark.parametrize("content", [b"", b"no number", b"0\n", b"-1\n", b"9" * 30, None])
def test_a_lock_that_names_no_process_of_the_user_is_replaced(tmp_path: Path, content: bytes | None) -> None:
    lock = tmp_path / "chorus/watcher.lock"
    lock.parent.mkdir()
    os.mkfifo(lock.parent / "pipe.lock")
    if content is None:
        ended = subprocess.Popen(["true"])
        ended.wait()
        content = b"%d\n" % ended.pid
    lock.write_bytes(content)
    lock.chmod(0o644)
    lock.parent.chmod(0o755)
    make_private(lock.parent)
    assert not lock.exists()


def test_the_locks_of_a_running_watcher_stay_when_its_directory_is_taken_from_others(tmp_path: Path) -> None:
    """Otherwise a second watcher could start, and both would record."""
    root = tmp_path / "chorus"
    root.mkdir(mode=0o700)
    watcher, recording = FileLock(root / "watcher.lock"), FileLock(root / "recording.lock")
    assert watcher.try_acquire()
    watcher.write(b"%d\n" % os.getpid())
    for path in (root, root / "watcher.lock", root / "recording.lock"):
        path.chmod(0o755)
    make_private(root)
    assert not FileLock(root / "watcher.lock").try_acquire()
    assert [mode_of(root / name) for name in ("watcher.lock", "recording.lock")] == [0o700, 0o700]
    assert os.path.samestat(os.fstat(recording._descriptor), (root / "recording.lock").stat())


def test_a_link_in_place_of_a_lock_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    (tmp_path / "lock").symlink_to(target)
    lock = FileLock(tmp_path / "lock")
    lock.write(b"1")
    lock.close()
    assert target.read_bytes() == b"mine"
    assert not (tmp_path / "lock").is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file to another user")
def test_a_lock_of_another_user_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch(0o600)
    os.chown(path, 65534, 65534)
    lock = FileLock(path)
    assert path.stat().st_uid == os.geteuid()
    lock.close()


def test_without_modes_a_lock_is_used_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lock"
    path.touch(0o666)
    monkeypatch.setattr(os, "fchmod", lambda descriptor, mode: None)
    first, second = FileLock(path), FileLock(path)
    assert first.try_acquire()
    assert not second.try_acquire()
    first.close()
    second.close()
