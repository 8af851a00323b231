"""Planning a revert with many dependents, or at a very deep path, takes a bounded number of steps."""

import pytest

from chorus.history.recorder import Recorder
from chorus.review.revert import plan as planning
from chorus.review.revert.file_content import revert_change
from chorus.review.revert.plan import RevertConflict, plan_revert
from chorus.store.worktree.work_tree import MAX_PARTS
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

DEPENDENTS = 16


def test_planning_with_many_dependents_is_bounded(repo: UserRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    merges = 0
    really = revert_change

    def counted(*contents: object) -> object:
        nonlocal merges
        merges += 1
        return really(*contents)  # type: ignore[arg-type]  # passed on as they came

    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        for number in range(DEPENDENTS + 1):
            for side in range(2):  # the second changes another line
                agent.edit("long.txt", b"top %d\nmiddle\nbottom %d\n" % (number, number - 1 + side))
        target = next(each for each in recorder.timeline.records if each.record.number == 3)
        monkeypatch.setattr(planning, "revert_change", counted)
        with pytest.raises(RevertConflict) as conflict:
            plan_revert(recorder, [target])
        alone, merges = merges, 0
        plan = plan_revert(recorder, [target], with_dependents=True)
    assert str(conflict.value).count("\n") >= DEPENDENTS - 1
    assert len(plan.reverts) >= DEPENDENTS
    assert alone < DEPENDENTS**2
    assert merges < DEPENDENTS**2


def test_a_path_of_thousands_of_parts_is_outside(repo: UserRepo) -> None:
    with Recorder.open(repo.path) as recorder:
        locate = recorder.workspace.work_tree.locate
        assert locate(f"{repo.path}/{'a/' * (MAX_PARTS + 1)}f") is None
        assert locate(f"{repo.path}/{'a/' * 100}f") == f"{'a/' * 100}f"
