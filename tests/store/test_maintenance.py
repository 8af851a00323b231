"""Packing, sweeping and taking Chorus out: the store stays small, nothing needed is ever dropped."""

import os
import shutil
from pathlib import Path

import pytest

from chorus.model.ids import Oid, RepoPath
from chorus.store.maintenance import side_store
from chorus.store.maintenance.removal import LaneInUse, detach
from chorus.store.maintenance.side_store import (
    count_loose,
    list_loose,
    list_packs,
    lock_store,
    pack,
    pack_if_due,
    plan_joining,
)
from chorus.store.maintenance.sweep import StoreBusy, drop_loose, sweep
from chorus.store.objects.object_store import ObjectStore
from chorus.store.refs import NO_OID
from tests.repos import UserRepo, snapshot
from tests.store.open_store import OpenStore
from tests.store.recorder import LANE, TIMELINE, Recorder


def record(opened: OpenStore, count: int, ref: str = TIMELINE, path: str = "app.py") -> Recorder:
    recorder = Recorder(opened.repository, opened.store, opened.trees, ref)
    for number in range(count):
        recorder.record(path, b"%s %d\n" % (ref.encode(), number))
    return recorder


def make_old(opened: OpenStore) -> None:
    for found in list_loose(opened.store.directory):
        os.utime(found.path, (1, 1))
    for index in list_packs(opened.store.directory):
        os.utime(index, (1, 1))


def test_packed_objects_are_read_as_before(opened: OpenStore) -> None:
    recorder = record(opened, 50)
    objects = {found.oid: opened.store.read(found.oid) for found in list_loose(opened.store.directory)}

    assert pack(opened.repository.git, opened.store, young_seconds=-1) == len(objects)

    assert list_loose(opened.store.directory) == []
    assert {oid: opened.store.read(oid) for oid in objects} == objects
    assert len(opened.repo.read_commits(TIMELINE)) == 50
    recorder.record("app.py", b"goes on\n")
    assert opened.repo.fsck() == ""


def test_many_objects_are_packed_some_at_a_time(opened: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_store, "MAX_PACKED_AT_ONCE", 20)
    record(opened, 30)
    objects = {found.oid: opened.store.read(found.oid) for found in list_loose(opened.store.directory)}
    assert len(objects) > 60

    assert pack(opened.repository.git, opened.store, young_seconds=-1) == len(objects)

    assert list_loose(opened.store.directory) == []
    assert {oid: opened.store.read(oid) for oid in objects} == objects


def test_a_pack_is_never_written_where_the_users_gc_prunes(opened: OpenStore) -> None:
    record(opened, 3)
    users = opened.store.main_directory / "pack"
    users.mkdir(exist_ok=True)
    os.utime(users, (1, 1))

    assert pack(opened.repository.git, opened.store, young_seconds=-1) > 0

    assert users.stat().st_mtime == 1, "a file came or went there"


def test_young_objects_stay_loose(opened: OpenStore) -> None:
    record(opened, 3)

    assert pack(opened.repository.git, opened.store) == 0
    assert list_packs(opened.store.directory) == []


def test_packing_starts_only_above_the_limit(opened: OpenStore) -> None:
    record(opened, 120)
    make_old(opened)
    there = count_loose(opened.store.directory)

    assert pack_if_due(opened.repository.git, opened.store, limit=there) == 0
    assert pack_if_due(opened.repository.git, opened.store, limit=there - 1) > 300


def test_the_number_of_packs_stays_small(opened: OpenStore) -> None:
    for number in range(12):
        record(opened, 4, path=f"{number}.txt")
        pack(opened.repository.git, opened.store, young_seconds=-1)

    assert len(list_packs(opened.store.directory)) <= 4
    assert len(opened.repo.read_commits(TIMELINE)) == 48
    assert opened.repo.fsck() == ""


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [([], 0), ([5], 0), ([1, 2], 0), ([1, 1], 2), ([3, 3, 100], 2), ([1, 2, 4, 8], 4), ([10, 30, 100], 0)],
)
def test_packs_are_joined_until_each_is_twice_all_smaller(sizes: list[int], joined: int) -> None:
    assert plan_joining(sizes) == joined


def test_one_process_at_a_time_packs(opened: OpenStore) -> None:
    record(opened, 3)
    with lock_store(opened.store.directory) as mine:
        assert mine
        assert pack(opened.repository.git, opened.store, young_seconds=-1) == 0
        with pytest.raises(StoreBusy):
            sweep(opened.repository, opened.store)


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_sweep_removes_unreachable_objects_and_reports_the_bytes(opened: OpenStore, packed: bool) -> None:
    kept = record(opened, 5, TIMELINE)
    dropped = record(opened, 20, LANE)
    if packed:
        pack(opened.repository.git, opened.store, young_seconds=-1)
    assert dropped.tip is not None
    opened.repository.refs.delete(LANE, dropped.tip, "drop")
    make_old(opened)

    freed = sweep(opened.repository, opened.store)

    assert freed > 0
    assert not opened.store.has(dropped.tip)
    assert opened.store.read_commit(kept.tip or NO_OID).tree == kept.tree
    assert opened.repo.fsck() == ""


def test_a_sweep_keeps_new_objects_and_those_named(opened: OpenStore) -> None:
    old = opened.store.write_blob(b"old\n")
    told = opened.store.write_blob(b"told\n")
    again = opened.store.write_blob(b"written again\n")
    make_old(opened)
    young = opened.store.write_blob(b"young\n")
    ObjectStore(opened.repository).write_blob(b"written again\n")

    sweep(opened.repository, opened.store, keep=[told])

    assert [opened.store.has(oid) for oid in (old, told, again, young)] == [False, True, True, True]


def test_an_object_written_again_during_a_sweep_is_kept(opened: OpenStore) -> None:
    """Between the sweep's list and its dropping, a writer may rely on what it found there."""
    blob = opened.store.write_blob(b"wanted again\n")
    (found,) = list_loose(opened.store.directory)

    drop_loose(found.path, oldest=found.modified_seconds)
    assert opened.store.has(blob)
    drop_loose(found.path, oldest=found.modified_seconds + 1)
    assert not opened.store.has(blob)
    assert list(opened.store.directory.rglob("*.swept")) == []


@pytest.mark.parametrize(
    "where", ["branch", "tag", "reflog", "index", "stash", "detached HEAD of a work tree"]
)
def test_objects_on_user_branches_survive_sweep_and_detach(
    opened: OpenStore, where: str, tmp_path: Path
) -> None:
    recorder = record(opened, 3, LANE, "lane.txt")
    tip = recorder.tip
    assert tip is not None
    take_over(opened.repo, where, tip, tmp_path)
    pack(opened.repository.git, opened.store, young_seconds=-1)
    opened.repository.refs.delete(LANE, tip, "drop")
    make_old(opened)

    sweep(opened.repository, opened.store)
    assert opened.repo.fsck() == ""
    detach(opened.repository, opened.store)

    assert not (opened.repo.path / ".git/chorus").exists()
    assert opened.repo.fsck() == ""
    assert (
        opened.repo.git("cat-file", "-t", f"{tip}:lane.txt" if where != "index" else ":lane.txt") == "blob\n"
    )


def take_over(repo: UserRepo, where: str, tip: Oid, tmp_path: Path) -> None:
    match where:
        case "branch":
            repo.git("branch", "mine", tip)
        case "tag":
            repo.git("tag", "mine", tip)
        case "reflog":
            repo.git("branch", "mine", tip)
            repo.git("branch", "-f", "mine", "HEAD")
        case "index":
            repo.git(
                "update-index",
                "--add",
                "--cacheinfo",
                f"100644,{repo.git('rev-parse', tip + ':lane.txt').strip()},lane.txt",
            )
        case "stash":
            repo.git("stash", "store", "-m", "mine", stash_of(repo, tip))
        case _:
            repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "linked"), tip)


def stash_of(repo: UserRepo, tip: Oid) -> str:
    """A stash is a merge of what was there and its index; this one reaches the lane's tip."""
    index = repo.git("commit-tree", "-p", tip, "-m", "index", f"{tip}^{{tree}}").strip()
    return repo.git("commit-tree", "-p", tip, "-p", index, "-m", "stash", f"{tip}^{{tree}}").strip()


def test_detaching_restores_the_repository(repo: UserRepo) -> None:
    before = (repo.fingerprint(), set(snapshot(repo.path / ".git")))
    with OpenStore.open(repo) as opened:
        record(opened, 5, TIMELINE)
        record(opened, 5, LANE)
        opened.scanner.baseline()
        detach(opened.repository, opened.store)

    assert (repo.fingerprint(), set(snapshot(repo.path / ".git"))) == before
    assert repo.fsck() == ""


def test_other_alternates_are_kept(opened: OpenStore, tmp_path: Path) -> None:
    other = tmp_path / "other objects"
    other.mkdir()
    place = opened.repo.path / ".git/objects/info/alternates"
    place.write_bytes(b"# mine\n" + os.fsencode(other))
    record(opened, 1)

    assert place.read_bytes() == b"# mine\n" + os.fsencode(other) + b"\n../chorus/objects\n"
    detach(opened.repository, opened.store)
    assert place.read_bytes() == b"# mine\n" + os.fsencode(other) + b"\n"


def test_a_lane_that_is_checked_out_is_not_removed(opened: OpenStore, tmp_path: Path) -> None:
    record(opened, 2, LANE)
    opened.repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "chorus/test")

    with pytest.raises(LaneInUse, match="chorus/test"):
        detach(opened.repository, opened.store)

    assert opened.repo.fsck() == ""


def test_the_commit_graph_names_no_removed_commit(opened: OpenStore) -> None:
    for form in ([], ["--split"]):
        recorder = record(opened, 3, LANE)
        opened.repo.git("commit-graph", "write", "--reachable", *form)
        assert recorder.tip is not None
        opened.repository.refs.delete(LANE, recorder.tip, "drop")
        make_old(opened)
        sweep(opened.repository, opened.store)
        assert opened.repo.fsck() == ""
        opened.repo.git("commit-graph", "verify")


def test_a_sweep_that_cannot_walk_history_removes_nothing(opened: OpenStore) -> None:
    lost = opened.store.write_blob(b"unreachable\n")
    recorder = record(opened, 2)
    make_old(opened)
    broken = opened.trees.lookup(recorder.tree, RepoPath("src"))
    assert broken is not None
    shutil.rmtree(opened.repo.path / ".git/objects" / broken.oid[:2])

    with pytest.raises(Exception, match="rev-list"):
        sweep(opened.repository, opened.store)

    assert opened.store.has(lost)
