"""Refs: compare and swap under git's own locks, in the company of git."""

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from chorus.model.ids import Oid
from chorus.store.git_process import GitFailed
from chorus.store.lock_file import CannotWrite, LockHeld
from chorus.store.loose_refs import BrokenRef
from chorus.store.refs import RefMoved, RefRefused, Refs
from chorus.store.repository import Repository
from tests.repos import UserRepo

ROOT = Path(__file__).parent.parent.parent
REF = "refs/chorus/test/one"


@pytest.fixture
def oids(repo: UserRepo) -> list[Oid]:
    return [Oid(repo.git("commit-tree", "-m", str(number), "HEAD^{tree}").strip()) for number in range(3)]


@pytest.fixture
def refs(repo: UserRepo) -> Refs:
    return Repository.open(repo.path).refs


def test_a_ref_is_created_moved_listed_and_removed(repo: UserRepo, refs: Refs, oids: list[Oid]) -> None:
    refs.update(REF, oids[0], None, "made\nin two lines")
    refs.update(REF, oids[1], oids[0], "moved")

    assert refs.read(REF) == repo.git("rev-parse", REF).strip() == oids[1]
    assert refs.list("refs/chorus/") == {REF: oids[1]}
    reasons = repo.git("reflog", "show", "--format=%gs", REF).splitlines()
    assert reasons == ["moved", "made in two lines"]
    refs.delete(REF, oids[1], "gone")
    assert refs.read(REF) is None
    assert refs.list("refs/chorus/") == {}


def test_a_ref_that_another_process_moved_is_not_moved(repo: UserRepo, refs: Refs, oids: list[Oid]) -> None:
    refs.update(REF, oids[0], None, "made")

    for expected in (None, oids[1]):
        with pytest.raises(RefMoved):
            refs.update(REF, oids[2], expected, "moved")
    with pytest.raises(RefMoved):
        refs.delete(REF, oids[1], "gone")
    with pytest.raises((RefMoved, GitFailed)):
        refs.update("refs/chorus/none", oids[2], oids[1], "moved")

    assert refs.list("refs/chorus/") == {REF: oids[0]}
    assert len(repo.git("reflog", "show", REF).splitlines()) == 1


def test_packed_refs_are_read_moved_and_removed(repo: UserRepo, refs: Refs, oids: list[Oid]) -> None:
    refs.update(REF, oids[0], None, "made")
    repo.git("tag", "-a", "-m", "a tag that has an object of its own", "annotated")
    repo.git("pack-refs", "--all", "--prune")
    assert not (repo.path / ".git" / REF).exists()

    assert refs.read(REF) == oids[0]
    assert refs.list("refs/chorus/") == {REF: oids[0]}
    with pytest.raises(RefMoved):
        refs.update(REF, oids[1], None, "made again")
    refs.update(REF, oids[1], oids[0], "moved")
    assert refs.read(REF) == oids[1]
    refs.delete(REF, oids[1], "gone")
    assert refs.read(REF) is None
    assert REF not in repo.read_refs()


def test_a_ref_cannot_be_below_another(repo: UserRepo, refs: Refs, oids: list[Oid]) -> None:
    refs.update(REF, oids[0], None, "made")
    for packed in (False, True):
        if packed:
            repo.git("pack-refs", "--all", "--prune")
        for name in (f"{REF}/below", "refs/chorus/test"):
            with pytest.raises((RefRefused, GitFailed)):
                refs.update(name, oids[1], None, "made")

    assert refs.list("refs/chorus/") == {REF: oids[0]}


def test_empty_directories_do_not_block_a_new_ref(repo: UserRepo, refs: Refs, oids: list[Oid]) -> None:
    (repo.path / ".git" / REF / "left/over").mkdir(parents=True)
    (repo.path / ".git/logs" / REF / "left/over").mkdir(parents=True)

    refs.update(REF, oids[0], None, "made")

    assert repo.git("rev-parse", REF).strip() == oids[0]


def test_a_symbolic_ref_is_followed_to_read_and_never_moved(
    repo: UserRepo, refs: Refs, oids: list[Oid]
) -> None:
    repo.git("symbolic-ref", "refs/chorus/link", "refs/heads/main")
    main = repo.git("rev-parse", "main").strip()

    assert refs.read("refs/chorus/link") == main
    with pytest.raises((RefRefused, RefMoved, GitFailed)):
        refs.update("refs/chorus/link", oids[0], oids[1], "moved")

    assert repo.git("rev-parse", "main").strip() == main


def test_a_user_branch_is_moved_by_git_without_hooks(repo: UserRepo, refs: Refs, oids: list[Oid]) -> None:
    hook = repo.write(".git/hooks/reference-transaction", b"#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    refs.update("refs/heads/mine", oids[0], None, "made")

    assert repo.git("rev-parse", "mine").strip() == oids[0]


def test_a_linked_work_tree_shares_refs_and_has_its_own_head(
    repo: UserRepo, tmp_path: Path, oids: list[Oid]
) -> None:
    repo.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = Repository.open(tmp_path / "linked")

    linked.refs.update(REF, oids[0], None, "made")

    assert Repository.open(repo.path).refs.read(REF) == oids[0]
    assert linked.head().ref == "refs/heads/other"
    assert Repository.open(repo.path).head().ref == "refs/heads/main"


def test_a_held_lock_is_waited_for(repo: UserRepo, repository: Repository, oids: list[Oid]) -> None:
    lock = repo.write(f".git/{REF}.lock", b"")
    release = threading.Timer(0.1, lock.unlink)
    release.start()

    repository.refs.update(REF, oids[0], None, "made")

    release.join()
    assert repository.refs.read(REF) == oids[0]


def test_a_stale_lock_is_an_error_with_a_hint(
    repo: UserRepo, repository: Repository, oids: list[Oid], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chorus.store.lock_file.LOCK_TIMEOUT_SECONDS", 0.05)
    lock = repo.write(f".git/{REF}.lock", b"")
    start = time.monotonic()

    with pytest.raises(LockHeld, match="held by another process") as caught:
        repository.refs.update(REF, oids[0], None, "made")

    assert time.monotonic() - start < 5
    assert "remove the lock file" in (caught.value.hint or "")
    assert lock.exists()
    assert repository.refs.read(REF) is None


def test_a_damaged_ref_is_an_error(repo: UserRepo, repository: Repository, oids: list[Oid]) -> None:
    for content in (b"", b"\0" * 41, b"not an object id\n"):
        repo.write(f".git/{REF}", content)
        with pytest.raises(BrokenRef):
            repository.refs.read(REF)
        with pytest.raises(BrokenRef):
            repository.refs.update(REF, oids[0], None, "made")


def test_a_full_disk_moves_no_ref(
    repo: UserRepo, repository: Repository, oids: list[Oid], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.refs.update(REF, oids[0], None, "made")
    log = repo.path / ".git/logs" / REF
    before = log.read_bytes()
    real = os.write
    for room in (0, 41, 60):  # none at all, for the ref but not its log, for some of the log

        def full(descriptor: int, data: bytes, *, room: int = room) -> int:
            if len(data) <= room:
                return real(descriptor, data)
            if room < 60:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(descriptor, data[:room])

        monkeypatch.setattr("os.write", full)
        with pytest.raises(CannotWrite, match="No space left"):
            repository.refs.update(REF, oids[1], oids[0], "moved")
        monkeypatch.undo()

    assert repository.refs.read(REF) == oids[0]
    assert log.read_bytes() == before
    assert not (repo.path / f".git/{REF}.lock").exists()


COUNT = """
import sys
from pathlib import Path
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.commits import Commit
from chorus.store.refs import RefMoved
from chorus.store.repository import Repository
from chorus.store.objects.trees import EMPTY_TREE
repository = Repository.open(Path(sys.argv[1]))
store = ObjectStore(repository)
for number in range(int(sys.argv[2])):
    while True:
        tip = repository.refs.read("refs/chorus/counted")
        who = repository.committer.sign()
        commit = store.write_commit(Commit(EMPTY_TREE, (tip,), who, who, f"{sys.argv[3]} {number}"))
        try:
            repository.refs.update("refs/chorus/counted", commit, tip, "count")
            break
        except RefMoved:
            pass
"""


def test_two_processes_and_git_on_one_ref_lose_no_update(repo: UserRepo) -> None:
    repo.git("update-ref", "refs/chorus/counted", repo.git("commit-tree", "-m", "0", "HEAD^{tree}").strip())
    workers = [
        subprocess.Popen([sys.executable, "-c", COUNT, str(repo.path), "60", name], cwd=ROOT)
        for name in ("one", "two")
    ]
    while any(worker.poll() is None for worker in workers):
        repo.git("pack-refs", "--all", "--prune")
        repo.git("reflog", "expire", "--all")

    assert [worker.wait() for worker in workers] == [0, 0]
    subjects = [commit.summary for commit in repo.read_commits("refs/chorus/counted")]
    assert sorted(subjects[:-1]) == sorted(
        f"{name} {number}" for name in ("one", "two") for number in range(60)
    )
