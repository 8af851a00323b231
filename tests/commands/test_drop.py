"""Dropping and restoring lanes, and removing Chorus."""

import os
import time
from pathlib import Path

from chorus.history.recorder import Recorder
from tests.commands.conftest import Shell
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo, snapshot


def lane_of(chorus: Shell) -> str:
    return str(chorus("lanes", "--json").json()[0]["name"])


def branches(repo: UserRepo) -> list[str]:
    return repo.git("for-each-ref", "--format=%(refname:short)", "refs/heads/chorus").split()


def contents(repo: UserRepo) -> dict[str, object]:
    """Return modes and bytes of the git directory. git updates the mtime of an object it writes again."""
    return {name: (state[0], state[2]) for name, state in snapshot(repo.path / ".git").items()}


def make_old(repo: UserRepo) -> None:
    """Make everything in Chorus's store a day old."""
    then = time.time() - 86400
    for place, _, names in os.walk(repo.path / ".git" / "chorus" / "objects"):
        for name in names:
            os.utime(Path(place, name), (then, then))


def test_a_dropped_lane_is_restored_where_it_was(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    tip = worked.git("rev-parse", lane)
    before = worked.fingerprint()
    assert chorus("drop", lane).code == 0
    assert branches(worked) == []
    assert chorus("drop", lane).code == 3
    assert [entry["n"] for entry in chorus("log", "--json").json()] == [1, 2, 3]
    assert chorus("drop", lane, "--restore").code == 0
    assert worked.git("rev-parse", lane) == tip
    assert chorus("drop", lane, "--restore").code == 3
    assert worked.fingerprint() == before


def test_a_checked_out_lane_is_not_dropped(worked: UserRepo, chorus: Shell, tmp_path: Path) -> None:
    lane = lane_of(chorus)
    worked.git("worktree", "add", "-q", str(tmp_path / "there"), lane)
    assert chorus("drop", "--all").code == 6
    assert branches(worked) == [lane]


def test_a_branch_of_the_user_with_the_name_of_a_dropped_lane_stays(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    assert chorus("drop", lane).code == 0
    worked.git("branch", lane, "HEAD")
    assert chorus("drop", "--all").code == 3
    assert branches(worked) == [lane]
    done = chorus("gc", "--all")
    assert (done.code, f"kept as a plain branch: {lane}" in done.out) == (0, True)
    assert worked.git("rev-parse", lane) == worked.git("rev-parse", "HEAD")


def test_gc_frees_what_a_dropped_lane_held(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    tip = worked.git("rev-parse", lane).strip()
    chorus("drop", "--all")
    make_old(worked)
    done = chorus("gc", "--json").json()
    assert done["packed"] > 0
    assert done["freed_bytes"] > 0
    assert chorus("drop", lane, "--restore").code == 3
    assert chorus("show", "1", "--json").json()["patch"]
    assert tip not in worked.git("cat-file", "--batch-check", "--batch-all-objects")
    assert worked.fsck() == ""


def test_gc_all_is_refused_while_lanes_exist(worked: UserRepo, chorus: Shell) -> None:
    lane = lane_of(chorus)
    done = chorus("gc", "--all")
    assert done.code == 6
    assert lane in done.err


def test_gc_all_leaves_the_repository_as_it_was_before_chorus(repo: UserRepo, chorus: Shell) -> None:
    before = contents(repo)
    with Recorder.open(repo.path) as recorder:
        Agent(repo, recorder).edit("new.txt", b"hello\n")
    assert chorus("drop", "--all").code == 0
    assert chorus("gc", "--all").code == 0
    assert contents(repo) == before
    assert chorus("gc").code == 3


def test_landed_commits_survive_gc_all(worked: UserRepo, chorus: Shell) -> None:
    chorus("land", lane_of(chorus))
    chorus("drop", "--all")
    assert chorus("gc", "--all").code == 0
    assert worked.fsck() == ""
    assert worked.git("show", "main:new.txt") == "hello\n"
