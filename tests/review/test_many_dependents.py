"""Planning a revert with many dependents, or at a very deep path, takes a bounded number of steps."""

import pytest

from chorus.history.recorder import Recorder
from chorus.history.timeline.record_list import RecordList
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.review.operations import Selection, prepare_revert
from chorus.review.revert import plan as planning
from chorus.review.revert.conflict import Asked, RevertConflict
from chorus.review.revert.file_content import revert_change
from chorus.review.revert.plan import plan_revert
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
            plan_revert(recorder, [target], Asked([3], "chorus revert 3"))
        alone, merges = merges, 0
        with_dependents = Asked([3], "chorus revert 3", with_dependents=True)
        plan = plan_revert(recorder, [target], with_dependents)
    assert str(conflict.value).count("\n") >= DEPENDENTS - 1
    assert len(plan.reverts) >= DEPENDENTS
    assert alone < DEPENDENTS**2
    assert merges < DEPENDENTS**2


def test_a_path_of_thousands_of_parts_is_outside(repo: UserRepo) -> None:
    with Recorder.open(repo.path) as recorder:
        locate = recorder.workspace.work_tree.locate
        assert locate(f"{repo.path}/{'a/' * (MAX_PARTS + 1)}f") is None
        assert locate(f"{repo.path}/{'a/' * 100}f") == f"{'a/' * 100}f"


def test_each_dependent_is_searched_from_the_change_before_it(repo: UserRepo, agent: Agent) -> None:
    """Not from the file's first change each time: that would be quadratic."""
    rows = [f"row {number}" for number in range(400)]
    repo.write("rows.txt", "\n".join(rows).encode())
    first = None
    for number in range(120):
        rows[0 if number % 10 == 0 else number + 20] += " x"
        entry = agent.edit("rows.txt", "\n".join(rows).encode())
        first = first or entry
    timeline, read = agent.recorder.timeline, 0

    class Counting(RecordList):
        def _at(self, position: int) -> TimelineCommit:
            nonlocal read
            read += 1
            return super()._at(position)

    agent.recorder.entries()
    counting = Counting()
    for record in timeline.records:
        counting.append(record)
    timeline.records = counting
    assert first is not None
    done = prepare_revert(agent.recorder, Selection([str(first.n)]), with_dependents=True).result
    assert len(done["reverted"]) == 12
    assert read < 6 * 120


def test_selecting_a_lane_can_be_interrupted_at_each_action(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        agent.edit("a.txt", b"%d\n" % number)
    lane = str(agent.recorder.lanes.all()[0].name)
    agent.recorder.entries()
    found = 0
    find_action = agent.recorder.timeline.find_action

    def count(name: str) -> TimelineCommit | None:
        nonlocal found
        found += 1
        return find_action(name)

    monkeypatch.setattr(agent.recorder.timeline, "find_action", count)
    with pytest.raises(TimeoutError):
        prepare_revert(agent.recorder, Selection(lane=lane), step=_raise_timeout)
    assert found == 0


def _raise_timeout() -> None:
    raise TimeoutError
