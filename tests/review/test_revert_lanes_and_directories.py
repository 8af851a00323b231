"""Reverting changes between files and directories, and reverts on lanes that are checked out or dropped."""

import os
import shutil
from collections.abc import Callable

import pytest

from chorus.errors import ChorusError
from chorus.review.drop import drop, restore
from chorus.review.operations import redo, revert
from chorus.review.verify import verify
from tests.history.agent_at_work import Agent, on_disk, replayed
from tests.repos import UserRepo
from tests.review.test_revert import select


def _to_directory(repo: UserRepo) -> None:
    (repo.path / "app.py").unlink()
    repo.write("app.py/inner.txt", b"in\n")


def _to_file(repo: UserRepo) -> None:
    shutil.rmtree(repo.path / "src")
    repo.write("src", b"a file now\n")


@pytest.mark.parametrize("change", [_to_directory, _to_file])
def test_a_file_replaced_by_a_directory_or_the_reverse_is_reverted(
    repo: UserRepo, agent: Agent, change: Callable[[UserRepo], None]
) -> None:
    before = on_disk(repo)
    made = agent.bash(lambda: change(repo))
    after = on_disk(repo)
    revert(agent.recorder, select(made.n))
    assert on_disk(repo) == before
    redo(agent.recorder, select(made.n))
    assert on_disk(repo) == after == replayed(agent.recorder)


def test_a_failure_at_the_last_file_restores_the_directory_that_a_file_replaced(
    repo: UserRepo, agent: Agent
) -> None:
    def change() -> None:
        _to_directory(repo)
        repo.write("zz/last.txt", b"new\n")
        (repo.path / "zz" / "gone.txt").unlink()

    repo.write("zz/gone.txt", b"old\n")
    made = agent.bash(change)
    after = on_disk(repo)
    shutil.rmtree(repo.path / "zz")
    (repo.path / "zz").symlink_to("/")  # there is no way to write below it
    with pytest.raises(ChorusError, match="zz"):
        revert(agent.recorder, select(made.n))
    (repo.path / "zz").unlink()
    repo.write("zz/last.txt", b"new\n")
    assert on_disk(repo) == after


def test_both_hard_links_of_a_file_are_reverted(repo: UserRepo, agent: Agent) -> None:
    os.link(repo.path / "app.py", repo.path / "other.py")
    made = agent.bash(lambda: (repo.path / "app.py").write_bytes(b"x = 5\n"))
    assert made.paths == ("app.py", "other.py")
    revert(agent.recorder, select(made.n))
    assert {(repo.path / name).read_bytes() for name in made.paths} == {b"x = 1\ny = 2\n"}


def test_a_checked_out_lane_does_not_move_when_its_action_is_reverted(repo: UserRepo, agent: Agent) -> None:
    repo.git("reset", "-q", "--hard")
    made = agent.edit("app.py", b"x = 2\ny = 2\n")
    repo.git("checkout", "-q", "app.py")
    repo.git("checkout", "-q", str(made.lane))
    before = repo.fingerprint()
    revert(agent.recorder, select(made.n))
    now = repo.fingerprint()
    assert now["git dir"] == before["git dir"]
    assert repo.git("status", "--short", "app.py") == " M app.py\n"
    assert verify(agent.recorder) == []


def test_a_dropped_lane_stays_dropped_when_its_action_is_reverted(repo: UserRepo, agent: Agent) -> None:
    made = agent.edit("app.py", b"x = 2\ny = 2\n")
    tip = repo.git("rev-parse", str(made.lane))
    drop(agent.recorder, made.lane)
    revert(agent.recorder, select(made.n))
    assert (repo.path / "app.py").read_bytes() == b"x = 1\ny = 2\n"
    assert restore(agent.recorder, str(made.lane)) == [made.lane]
    assert repo.git("rev-parse", str(made.lane)) == tip
    assert verify(agent.recorder) == []


def test_a_lane_whose_branch_git_deleted_is_restored(repo: UserRepo, agent: Agent) -> None:
    made = agent.edit("app.py", b"x = 2\ny = 2\n")
    tip = repo.git("rev-parse", str(made.lane))
    repo.git("branch", "-D", str(made.lane))
    assert restore(agent.recorder, str(made.lane)) == [made.lane]
    assert repo.git("rev-parse", str(made.lane)) == tip


def test_a_lane_with_actions_after_its_restore_is_restored_with_all_of_them(
    repo: UserRepo, agent: Agent
) -> None:
    made = agent.edit("app.py", b"x = 2\ny = 2\n")
    drop(agent.recorder, made.lane)
    restore(agent.recorder, str(made.lane))
    assert agent.edit("app.py", b"x = 3\ny = 2\n").lane == made.lane
    tip = repo.git("rev-parse", str(made.lane))
    repo.git("branch", "-D", str(made.lane))
    restore(agent.recorder, str(made.lane))
    assert repo.git("rev-parse", str(made.lane)) == tip
    repo.git("checkout", "-q", "-f", str(made.lane))
    repo.git("commit", "-q", "--allow-empty", "-m", "mine")
    tip = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "-f", "main")
    drop(agent.recorder, made.lane)
    restore(agent.recorder, str(made.lane))
    assert repo.git("rev-parse", str(made.lane)) == tip
