"""All work trees of a repository in one view, with a watcher and without one, from any of them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.home import Home
from chorus.wire.watcher_process import stop
from tests.repos import UserRepo
from tests.watcher.hook_events import Session
from tests.watcher.started import home

__all__ = ["home"]  # a fixture

ROOT = Path(__file__).parents[3]


@pytest.fixture
def feature(repo: UserRepo) -> Path:
    """A linked work tree beside the main one."""
    place = repo.path.parent / "feature"
    repo.git("worktree", "add", "-q", str(place), "-b", "feature")
    return place


def run(where: Path, *words: str, code: int = 0) -> str:
    command = [sys.executable, "-m", "chorus", *words]
    done = subprocess.run(command, cwd=where, env=None, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done.stdout + (done.stderr if code else "")


def read(where: Path, *words: str) -> Any:
    return json.loads(run(where, words[0], "--json", *words[1:]))


def rows(where: Path, *options: str) -> list[tuple[int, str, list[str]]]:
    return [(entry["n"], entry["worktree"], entry["paths"]) for entry in read(where, "log", *options)]


@pytest.mark.parametrize("watched", [True, False])
def test_every_work_tree_is_seen_from_every_other(
    repo: UserRepo, home: Home, feature: Path, watched: bool
) -> None:
    main, linked = Session("main", home, repo.path), Session("linked", home, feature)
    main.bash("m1", "echo 1 > one.txt")
    linked.bash("l1", "echo 2 > two.txt")
    main.bash("m2", "echo 3 > three.txt")
    if not watched:
        stop(home)

    expected = [(1, "main", ["one.txt"]), (2, "feature", ["two.txt"]), (3, "main", ["three.txt"])]
    assert rows(repo.path) == rows(feature) == expected
    assert rows(repo.path, "--here") == [expected[0], expected[2]]
    assert rows(feature, "--here") == [expected[1]]
    assert rows(feature, "-n", "2") == expected[1:]
    assert rows(feature, "--path", "three.txt") == [expected[2]]
    assert [lane["worktree"] for lane in read(feature, "lanes")] == ["main", "feature"]
    assert [lane["worktree"] for lane in read(feature, "lanes", "--here")] == ["feature"]
    for where in (repo.path, feature):
        for name in ("2", "feature:2", "l1"):
            assert (shown := read(where, "show", name))["paths"] == ["two.txt"]
            assert shown["worktree"] == "feature"
    assert "there is no action 9" in run(repo.path, "show", "9", code=3)
    assert "feature:2 " in run(repo.path, "log")
    assert "main:3 " not in run(repo.path, "log", "--here")
    assert "tree     feature" in run(repo.path, "show", "2")


def test_actions_and_lanes_of_another_work_tree_are_reviewed_there(
    repo: UserRepo, home: Home, feature: Path
) -> None:
    main, linked = Session("main", home, repo.path), Session("linked", home, feature)
    main.bash("m1", "echo 1 > one.txt")
    linked.bash("l1", "echo 2 > two.txt")
    linked.bash("l2", "echo 3 > three.txt")
    status = read(repo.path, "status")
    assert status["work_trees"] == [str(repo.path), str(feature)]
    assert {one["worktree"] for one in status["sessions"]} == {"main", "feature"}
    assert (status["lanes"], status["open"]) == (2, 3)
    narrow = read(feature, "status", "--here")
    assert (narrow["work_trees"], narrow["lanes"], narrow["open"]) == ([str(feature)], 1, 2)
    assert [one["worktree"] for one in narrow["sessions"]] == ["feature"]

    assert read(repo.path, "revert", "2")["reverted"] == [2]
    assert not (feature / "two.txt").exists()
    assert read(repo.path, "redo", "feature:2")["restored"] == [2]
    assert (feature / "two.txt").read_text() == "2\n"
    assert read(repo.path, "keep", "3")["kept"] == [3]
    assert "several work trees" in run(repo.path, "revert", "1", "2", code=2)
    lane = read(repo.path, "lanes")[1]["name"]
    assert read(repo.path, "land", lane, "--by", "all", "-m", "landed")["onto"] == "feature"
    assert "landed" in repo.git("log", "--format=%s", "feature")
    assert "landed" not in repo.git("log", "--format=%s", "main")
    assert read(repo.path, "drop", lane)["lanes"] == [lane]


def test_numbers_given_twice_by_an_older_version_are_told_apart_by_the_tree(
    repo: UserRepo, home: Home, feature: Path
) -> None:
    main, linked = Session("main", home, repo.path), Session("linked", home, feature)
    main.bash("m1", "echo 1 > one.txt")
    (home.root / "last-number").write_text("0\n")
    linked.bash("l1", "echo 2 > two.txt")
    assert read(repo.path, "show", "1")["paths"] == ["one.txt"]
    assert read(repo.path, "show", "feature:1")["paths"] == ["two.txt"]
    assert read(feature, "show", "1")["paths"] == ["two.txt"]
    # What was counted before there was a common count is counted once.
    (home.root / "last-number").unlink()
    main.bash("m2", "echo 3 > three.txt")
    linked.bash("l2", "echo 4 > four.txt")
    assert [n for n, _, _ in rows(repo.path)] == [1, 1, 2, 3]
