"""Atomic replacement, locks between processes, and work trees found without git."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.system.files.atomic_file import replace_file
from chorus.system.files.file_lock import FileLock, NoLocks, is_locked, try_lock
from chorus.system.files.git_files import (
    find_work_tree,
    read_common_dir,
    read_git_dir,
    work_tree_label,
)
from tests.repos import UserRepo

HOLD = """
import sys
from pathlib import Path
from chorus.system.files.file_lock import FileLock
lock = FileLock(Path(sys.argv[1]))
assert lock.try_acquire()
print("held", flush=True)
sys.stdin.read()
"""


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_replaced_file_keeps_its_mode_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    replace_file(path, b"new", durable=True)
    assert path.read_bytes() == b"new"
    assert mode_of(path) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_gets_the_mode_asked_for(tmp_path: Path) -> None:
    replace_file(tmp_path / "file", b"new", mode=0o600)
    assert mode_of(tmp_path / "file") == 0o600


def test_a_failed_check_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse() -> None:
        raise ValueError("changed")

    with pytest.raises(ValueError, match="changed"):
        replace_file(path, b"new", check=refuse)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_lock_is_held_by_one_process_and_released_when_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert not is_locked(path)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert is_locked(path)
        with try_lock(path) as mine:
            assert not mine
        holder.kill()
    assert not is_locked(path)
    with try_lock(path) as mine:
        assert mine


def test_a_lock_can_be_taken_again_and_carries_a_text(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock")
    for text in (b"123\n", b"4\n"):
        lock.acquire()
        lock.write(text)
        assert (tmp_path / "lock").read_bytes() == text
        lock.release()
        assert not is_locked(tmp_path / "lock")
    lock.close()


def test_a_work_tree_is_found_from_below_and_its_git_directories_as_git_names_them(
    repo: UserRepo, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    for root in (repo.path, tmp_path / "linked"):
        (root / "below/it").mkdir(parents=True)
        assert find_work_tree(root / "below/it") == str(root)
        git_dir = read_git_dir(root)
        assert git_dir == UserRepo(root).git("rev-parse", "--absolute-git-dir").strip()
        named = UserRepo(root).git("rev-parse", "--path-format=absolute", "--git-common-dir").strip()
        assert read_common_dir(git_dir) == named


def test_outside_a_repository_no_work_tree_is_found(tmp_path: Path) -> None:
    assert find_work_tree(tmp_path / "nowhere") is None


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP])
def test_a_file_system_without_locks_is_refused_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """A double: no such mount is at hand."""

    def refuse(_descriptor: int, _how: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(NoLocks, match=rf"cannot lock .*/lock: {os.strerror(code)}") as caught:
        FileLock(tmp_path / "lock").try_acquire()
    assert "local disk" in str(caught.value.hint)


def test_no_two_work_trees_have_the_same_name() -> None:
    named = ["main", "worktree-main", "worktree-worktree-main", "feature", "worktree-feature", "mainly"]
    labels = [work_tree_label("/r/.git", "/r/.git")]
    labels += [work_tree_label(f"/r/.git/worktrees/{name}", "/r/.git") for name in named]
    assert len(set(labels)) == len(labels)
    assert labels[0] == "main"
    assert labels[1:3] == ["worktree-main", "worktree-worktree-main"]
    assert labels[4:] == ["feature", "worktree-feature", "mainly"]
