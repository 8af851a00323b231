"""Packing, sweeping and taking Chorus out: the store stays small, nothing needed is ever dropped."""

import os
import shutil
from pathlib import Path

import pytest

from chorus.model.ids import Oid, RepoPath
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
from tests.store.layer import Layer
from tests.store.recorder import LANE, TIMELINE, Recorder


def record(layer: Layer, count: int, ref: str = TIMELINE, path: str = "app.py") -> Recorder:
    recorder = Recorder(layer.repository, layer.store, layer.trees, ref)
    for number in range(count):
        recorder.record(path, b"%s %d\n" % (ref.encode(), number))
    return recorder


def make_old(layer: Layer) -> None:
    for found in list_loose(layer.store.directory):
        os.utime(found.path, (1, 1))
    for index in list_packs(layer.store.directory):
        os.utime(index, (1, 1))


def test_packed_objects_are_read_as_before(layer: Layer) -> None:
    recorder = record(layer, 50)
    objects = {found.oid: layer.store.read(found.oid) for found in list_loose(layer.store.directory)}

    assert pack(layer.repository.git, layer.store, young_seconds=-1) == len(objects)

    assert list_loose(layer.store.directory) == []
    assert {oid: layer.store.read(oid) for oid in objects} == objects
    assert layer.repo.git("rev-list", "--count", TIMELINE).strip() == "50"
    recorder.record("app.py", b"goes on\n")
    assert layer.repo.fsck() == ""


def test_a_pack_never_grows_where_the_users_gc_prunes(layer: Layer) -> None:
    record(layer, 3)
    users = layer.store.main_directory / "pack"
    users.mkdir(exist_ok=True)
    os.utime(users, (1, 1))

    assert pack(layer.repository.git, layer.store, young_seconds=-1) > 0

    assert users.stat().st_mtime == 1, "a file came or went there"


def test_young_objects_stay_loose(layer: Layer) -> None:
    record(layer, 3)

    assert pack(layer.repository.git, layer.store) == 0
    assert list_packs(layer.store.directory) == []


def test_packing_starts_by_itself_only_past_the_limit(layer: Layer) -> None:
    record(layer, 120)
    make_old(layer)
    there = count_loose(layer.store.directory)

    assert pack_if_due(layer.repository.git, layer.store, limit=there) == 0
    assert pack_if_due(layer.repository.git, layer.store, limit=there - 1) > 300


def test_the_number_of_packs_stays_small(layer: Layer) -> None:
    for number in range(12):
        record(layer, 4, path=f"{number}.txt")
        pack(layer.repository.git, layer.store, young_seconds=-1)

    assert len(list_packs(layer.store.directory)) <= 4
    assert layer.repo.git("rev-list", "--count", TIMELINE).strip() == "48"
    assert layer.repo.fsck() == ""


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [([], 0), ([5], 0), ([1, 2], 0), ([1, 1], 2), ([3, 3, 100], 2), ([1, 2, 4, 8], 4), ([10, 30, 100], 0)],
)
def test_packs_are_joined_until_each_is_twice_all_smaller(sizes: list[int], joined: int) -> None:
    assert plan_joining(sizes) == joined


def test_one_process_at_a_time_packs(layer: Layer) -> None:
    record(layer, 3)
    with lock_store(layer.store.directory) as mine:
        assert mine
        assert pack(layer.repository.git, layer.store, young_seconds=-1) == 0
        with pytest.raises(StoreBusy):
            sweep(layer.repository, layer.store)


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_sweep_drops_what_nothing_reaches_and_says_how_much(layer: Layer, packed: bool) -> None:
    kept = record(layer, 5, TIMELINE)
    dropped = record(layer, 20, LANE)
    if packed:
        pack(layer.repository.git, layer.store, young_seconds=-1)
    assert dropped.tip is not None
    layer.repository.refs.delete(LANE, dropped.tip, "drop")
    make_old(layer)

    freed = sweep(layer.repository, layer.store)

    assert freed > 0
    assert not layer.store.has(dropped.tip)
    assert layer.store.read_commit(kept.tip or NO_OID).tree == kept.tree
    assert layer.repo.fsck() == ""


def test_a_sweep_keeps_what_is_young_and_what_it_is_told(layer: Layer) -> None:
    old = layer.store.write_blob(b"old\n")
    told = layer.store.write_blob(b"told\n")
    again = layer.store.write_blob(b"written again\n")
    make_old(layer)
    young = layer.store.write_blob(b"young\n")
    ObjectStore(layer.repository).write_blob(b"written again\n")

    sweep(layer.repository, layer.store, keep=[told])

    assert [layer.store.has(oid) for oid in (old, told, again, young)] == [False, True, True, True]


def test_an_object_that_was_just_written_again_is_put_back(layer: Layer) -> None:
    """Between the sweep's list and its dropping, a writer may rely on what it found there."""
    blob = layer.store.write_blob(b"wanted again\n")
    (found,) = list_loose(layer.store.directory)

    drop_loose(found.path, oldest=found.modified_seconds)
    assert layer.store.has(blob)
    drop_loose(found.path, oldest=found.modified_seconds + 1)
    assert not layer.store.has(blob)
    assert list(layer.store.directory.rglob("*.swept")) == []


@pytest.mark.parametrize(
    "where", ["branch", "tag", "reflog", "index", "stash", "detached HEAD of a work tree"]
)
def test_what_the_user_took_over_survives_sweep_and_detach(layer: Layer, where: str, tmp_path: Path) -> None:
    recorder = record(layer, 3, LANE, "lane.txt")
    tip = recorder.tip
    assert tip is not None
    take_over(layer.repo, where, tip, tmp_path)
    pack(layer.repository.git, layer.store, young_seconds=-1)
    layer.repository.refs.delete(LANE, tip, "drop")
    make_old(layer)

    sweep(layer.repository, layer.store)
    assert layer.repo.fsck() == ""
    detach(layer.repository, layer.store)

    assert not (layer.repo.path / ".git/chorus").exists()
    assert layer.repo.fsck() == ""
    assert (
        layer.repo.git("cat-file", "-t", f"{tip}:lane.txt" if where != "index" else ":lane.txt") == "blob\n"
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


def test_taken_out_chorus_leaves_the_repository_as_it_was(repo: UserRepo) -> None:
    before = (repo.fingerprint(), set(snapshot(repo.path / ".git")))
    with Layer.open(repo) as layer:
        record(layer, 5, TIMELINE)
        record(layer, 5, LANE)
        layer.scanner.baseline()
        detach(layer.repository, layer.store)

    assert (repo.fingerprint(), set(snapshot(repo.path / ".git"))) == before
    assert repo.fsck() == ""


def test_other_alternates_stay(layer: Layer, tmp_path: Path) -> None:
    other = tmp_path / "other objects"
    other.mkdir()
    place = layer.repo.path / ".git/objects/info/alternates"
    place.write_bytes(b"# mine\n" + os.fsencode(other))
    record(layer, 1)

    assert place.read_bytes() == b"# mine\n" + os.fsencode(other) + b"\n../chorus/objects\n"
    detach(layer.repository, layer.store)
    assert place.read_bytes() == b"# mine\n" + os.fsencode(other) + b"\n"


def test_a_lane_that_is_checked_out_is_not_taken_away(layer: Layer, tmp_path: Path) -> None:
    record(layer, 2, LANE)
    layer.repo.git("worktree", "add", "-q", str(tmp_path / "linked"), "chorus/test")

    with pytest.raises(LaneInUse, match="chorus/test"):
        detach(layer.repository, layer.store)

    assert layer.repo.fsck() == ""


def test_gits_own_list_of_commits_names_none_that_are_gone(layer: Layer) -> None:
    for form in ([], ["--split"]):
        recorder = record(layer, 3, LANE)
        layer.repo.git("commit-graph", "write", "--reachable", *form)
        assert recorder.tip is not None
        layer.repository.refs.delete(LANE, recorder.tip, "drop")
        make_old(layer)
        sweep(layer.repository, layer.store)
        assert layer.repo.fsck() == ""
        layer.repo.git("commit-graph", "verify")


def test_a_sweep_that_cannot_walk_history_drops_nothing(layer: Layer) -> None:
    lost = layer.store.write_blob(b"unreachable\n")
    recorder = record(layer, 2)
    make_old(layer)
    broken = layer.trees.lookup(recorder.tree, RepoPath("src"))
    assert broken is not None
    shutil.rmtree(layer.repo.path / ".git/objects" / broken.oid[:2])

    with pytest.raises(Exception, match="rev-list"):
        sweep(layer.repository, layer.store)

    assert layer.store.has(lost)
