"""With a user's branch named `chorus`, lanes are in another namespace that every command knows."""

from pathlib import Path

import pytest

from chorus.history.recorder import Recorder
from tests.commands.conftest import Shell
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo


@pytest.fixture
def beside(repo: UserRepo) -> UserRepo:
    """An agent has worked where the user has branches that look like lanes but are not."""
    repo.git("branch", "chorus")
    repo.git("branch", "chorus-docs")
    with Recorder.open(repo.path) as recorder:
        Agent(repo, recorder).replace("app.py", b"x = 1", b"x = 9", lead_text="I raise x.")
    return repo


def test_a_lane_is_found_by_each_of_its_names(beside: UserRepo, chorus: Shell) -> None:
    (lane,) = chorus("lanes", "--json").json()
    name = lane["name"]
    assert name.startswith("chorus-lanes/")
    assert lane["ref"] == f"refs/heads/{name}"
    for spelling in (name, lane["ref"], name.removeprefix("chorus-lanes/")):
        assert [entry["n"] for entry in chorus("log", "--lane", spelling, "--json").json()] == [1]
    assert chorus("log", "--lane", "docs", "--json").json() == []
    assert chorus("keep", "--lane", name.removeprefix("chorus-lanes/")).code == 0
    assert chorus("lanes", "--json").json()[0]["open"] == 0


def test_nothing_lands_on_the_lane(beside: UserRepo, chorus: Shell) -> None:
    (lane,) = chorus("lanes", "--json").json()
    refused = chorus("land", lane["name"], "--onto", lane["name"])
    assert refused.code == 2
    assert "is a lane" in refused.err


def test_gc_all_refuses_while_the_lane_is_left_and_spares_the_users_branches(
    beside: UserRepo, chorus: Shell
) -> None:
    (lane,) = chorus("lanes", "--json").json()
    refused = chorus("gc", "--all")
    assert refused.code == 6
    assert lane["name"] in refused.err

    assert chorus("drop", lane["name"].removeprefix("chorus-lanes/")).code == 0
    assert chorus("lanes", "--json").json() == []
    assert chorus("gc", "--all").code == 0
    branches = beside.git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/chorus").split()
    assert branches == ["chorus", "chorus-docs", "main"]
    assert not Path(beside.path, ".git", "chorus").exists()
    assert beside.fsck() == ""
