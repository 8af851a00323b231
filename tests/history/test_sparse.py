"""A sparse checkout leaves files out; what the agent writes there lands as a change of them."""

import pytest

from chorus.errors import ExitCode
from chorus.model.ids import RepoPath
from chorus.review.landing.apply import LandConflict
from chorus.review.operations import revert
from chorus.review.verify import verify
from chorus.store.worktree.sparse import find_excluded_by_sparse
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.review.landing_steps import land
from tests.review.test_revert import select

KINDS = {
    "cone": ("--cone", "--no-sparse-index", "src/deep"),
    "sparse index": ("--cone", "--sparse-index", "src/deep"),
    "patterns": ("--no-cone", "/*", "!/src/", "/src/deep/", "!/other/kept.txt", "!/other/b.txt"),
}
# Two that every kind leaves out; one that is there.
LEFT_OUT = ("other/b.txt", "other/kept.txt")
PRESENT = "src/deep/er/file.txt"


@pytest.fixture(params=KINDS)
def sparse(repo: UserRepo, agent: Agent, request: pytest.FixtureRequest) -> UserRepo:
    repo.git("reset", "-q", "--hard")
    repo.commit("more", **{"other/b.txt": b"b\n", "other/kept.txt": b"kept\n"})
    repo.git("sparse-checkout", "set", *KINDS[request.param])
    assert not any((repo.path / name).exists() for name in LEFT_OUT)
    agent.recorder.start()
    return repo


def committed(repo: UserRepo) -> dict[str, str]:
    names = (*LEFT_OUT, PRESENT)
    return {name: repo.git("show", f"HEAD:{name}") for name in names}


def test_a_file_that_is_left_out_lands_as_a_change_and_is_not_deleted_by_a_revert(
    sparse: UserRepo, agent: Agent
) -> None:
    before = committed(sparse)
    agent.edit("other/b.txt", b"agent\n")
    agent.replace("other/b.txt", b"agent\n", b"agent, twice\n")
    agent.replace(PRESENT, b"two", b"TWO")
    made = agent.edit("other/new.txt", b"new\n")
    land(agent)
    changed = {"other/b.txt": "agent, twice\n", PRESENT: before[PRESENT].replace("two", "TWO")}
    assert committed(sparse) == before | changed
    assert sparse.git("show", "HEAD:other/new.txt") == "new\n"
    assert sparse.git("diff", "--name-only", "HEAD~").split() == ["other/b.txt", "other/new.txt", PRESENT]
    assert sparse.git("status", "--porcelain") == ""
    assert not (sparse.path / "other/kept.txt").exists()
    assert verify(agent.recorder) == []
    assert made.n is not None
    revert(agent.recorder, select(made.n - 3, made.n - 2))
    assert not (sparse.path / "other/b.txt").exists()
    for entry in agent.recorder.entries()[:-2]:
        agent.recorder.mark("landed", [str(entry.id)], [sparse.git("rev-parse", "HEAD").strip()])
    land(agent)
    assert committed(sparse) == before | {PRESENT: changed[PRESENT]}


def test_a_file_that_is_left_out_and_was_changed_by_a_commit_since_is_a_conflict(
    sparse: UserRepo, agent: Agent
) -> None:
    agent.edit("other/b.txt", b"agent\n")
    blob = sparse.git("hash-object", "-w", "--stdin", stdin=b"theirs\n").strip()
    sparse.git("update-index", "--cacheinfo", f"100644,{blob},other/b.txt")
    sparse.git("commit", "-qm", "theirs")
    before = committed(sparse)
    with pytest.raises(
        LandConflict, match=r"line 1 of other/b\.txt was changed on main by .* theirs"
    ) as caught:
        land(agent)
    assert caught.value.exit_code is ExitCode.CONFLICT
    assert committed(sparse) == before


def test_a_file_the_user_deleted_is_not_one_that_is_left_out(sparse: UserRepo, agent: Agent) -> None:
    (sparse.path / PRESENT).unlink()
    agent.recorder.record_outside()
    agent.edit(PRESENT, b"agent\n")
    assert find_excluded_by_sparse(
        agent.recorder.workspace.repository, map(RepoPath, (PRESENT, *LEFT_OUT))
    ) == set(LEFT_OUT)
    with pytest.raises(LandConflict, match=f"{PRESENT} builds on your uncommitted deletion"):
        land(agent)
