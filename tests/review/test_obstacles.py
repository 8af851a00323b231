"""What is in the way of a landing is named by file and line as they are on disk, with whoever wrote it."""

from typing import Any

import pytest

from chorus.history.recorder import Recorder
from chorus.review.landing.apply import LandConflict, LandingResult, landing_json
from chorus.review.landing.obstacles import Obstacle, left_hints
from chorus.review.landing.plan import plan_landing
from chorus.review.landing.selection import LandingRequest
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.review.landing_steps import LINES, land, left


def user_writes(agent: Agent, old: bytes, new: bytes, path: str = "n.txt") -> None:
    data = (agent.repo.path / path).read_bytes()
    assert old in data
    agent.repo.write(path, data.replace(old, new, 1))
    agent.recorder.record_outside()


def reasons_left(agent: Agent, *actions: int | None, **wanted: Any) -> list[str]:
    """Why nothing of this lands, as the error says it."""
    with pytest.raises(LandConflict) as error:
        land(agent, *actions, **wanted)
    return [line.partition(": ")[2] for line in str(error.value).splitlines()[1:]]


def obstacles(result: LandingResult) -> list[Obstacle]:
    return [obstacle for action in result.left for obstacle in action.obstacles]


@pytest.mark.parametrize(
    ("mine", "reason"),
    [
        (b"mine\n", 'line 12 of n.txt builds on your uncommitted line "mine"'),
        (b"  \n", "line 12 of n.txt builds on your uncommitted empty line"),
        (b"\n", "line 12 of n.txt builds on your uncommitted empty line"),
        (b"one\ntwo\n", "lines 12-13 of n.txt build on your uncommitted lines"),
        (b"one\ntwo\nthree\n", "lines 12-14 of n.txt build on your uncommitted lines"),
        (b"word " * 20 + b"\n", f'line 12 of n.txt builds on your uncommitted line "{"word " * 7}word…"'),
        (b"caf\xe9\n", 'line 12 of n.txt builds on your uncommitted line "caf�"'),
    ],
)
def test_uncommitted_lines_are_named_by_number_and_a_single_one_is_quoted(
    numbered: UserRepo, agent: Agent, mine: bytes, reason: str
) -> None:
    user_writes(agent, b"line 12\n", mine)
    theirs = b"".join(b"theirs %d\n" % number for number in range(mine.count(b"\n")))
    agent.replace("n.txt", b"line 11\n" + mine, b"line 11\n" + theirs)
    found = reasons_left(agent)
    assert [each[:60] for each in found] == [reason[:60]]
    assert len(found[0]) <= len(reason)


@pytest.mark.parametrize("end", [b"\n", b""])
def test_the_last_line_of_a_file_is_named_with_and_without_a_newline_at_its_end(
    numbered: UserRepo, agent: Agent, end: bytes
) -> None:
    numbered.commit("end", **{"n.txt": b"line 0\n" + LINES.removesuffix(b"\n") + end})
    user_writes(agent, b"line 30" + end, b"mine" + end)
    agent.replace("n.txt", b"mine" + end, b"theirs" + end)
    assert reasons_left(agent) == ['line 31 of n.txt builds on your uncommitted line "mine"']


def test_lines_are_counted_as_they_are_on_disk_now(numbered: UserRepo, agent: Agent) -> None:
    user_writes(agent, b"line 12\n", b"mine\n")
    blocked = agent.replace("n.txt", b"mine\n", b"theirs\n")
    agent.replace("n.txt", b"line 1\n", b"above\nand above\nline 1\n")
    user_writes(agent, b"line 2\n", b"")
    user_writes(agent, b"line 20\n", b"")
    done = land(agent)
    assert left(done) == [(blocked.n, 'line 13 of n.txt builds on your uncommitted line "mine"')]
    assert (numbered.path / "n.txt").read_bytes().splitlines()[12] == b"theirs"
    assert [obstacle.line for obstacle in obstacles(done)] == [13]


def test_each_run_of_lines_of_one_writer_is_one_obstacle(numbered: UserRepo, agent: Agent) -> None:
    first = agent.replace("n.txt", b"line 5\nline 6\n", b"five\nsix\n")
    second = agent.replace("n.txt", b"line 7\n", b"seven\n")
    third = agent.replace("n.txt", b"line 9\n", b"nine\n")
    lines = b"five\nsix\nseven\nline 8\nnine\n"
    last = agent.replace("n.txt", lines, b"5\n6\n7\nline 8\n9\n")
    assert reasons_left(agent, last.n) == [
        f"lines 5-6 of n.txt build on action {first.n}, which is not on main",
        f"line 7 of n.txt builds on action {second.n}, which is not on main",
        f"line 9 of n.txt builds on action {third.n}, which is not on main",
    ]


def test_lines_that_the_lane_began_with_and_the_branch_changed_name_its_commit(
    numbered: UserRepo, agent: Agent
) -> None:
    agent.replace("n.txt", b"line 5\nline 6\n", b"five\nsix\n")
    agent.replace("n.txt", b"line 20\n", b"twenty\n")
    disk = (numbered.path / "n.txt").read_bytes()
    numbered.commit("theirs", **{"n.txt": LINES.replace(b"line 5\nline 6\n", b"a\nb\n")})
    numbered.commit("last", **{"n.txt": LINES.replace(b"line 5\nline 6\n", b"c\nd\n")})
    numbered.write("n.txt", disk)
    short = numbered.git("log", "-1", "--format=%h").strip()
    done = land(agent)
    assert left(done) == [(1, f"lines 5-6 of n.txt were changed on main by {short} last")]
    (obstacle,) = obstacles(done)
    assert (obstacle.why, obstacle.by, obstacle.context, obstacle.line) == ("branch", None, None, 5)


def test_a_branch_without_the_lines_commits_is_named_in_singular_and_plural(
    numbered: UserRepo, agent: Agent
) -> None:
    numbered.git("branch", "side")
    numbered.commit("more", **{"n.txt": LINES.replace(b"line 5\nline 6\n", b"a\nb\n")})
    one = agent.replace("n.txt", b"a\nb\n", b"five\nsix\n")
    assert reasons_left(agent, one.n, onto="side") == [
        "lines 5-6 of n.txt build on commits that side does not have"
    ]


def test_an_obstacle_says_which_action_or_commit_is_in_the_way(
    numbered: UserRepo, recorder: Recorder
) -> None:
    first, second = Agent(numbered, recorder, "session-a"), Agent(numbered, recorder, "session-b")
    made = first.replace("n.txt", b"line 5\n", b"five\n")
    second.replace("n.txt", b"five\n", b"cinq\n")
    own = second.replace("n.txt", b"line 9\n", b"nine\n")
    user_writes(second, b"line 12\n", b"mine\n")
    second.replace("n.txt", b"mine\n", b"theirs\n")
    free = second.replace("n.txt", b"line 20\n", b"twenty\n")
    builds = second.replace("n.txt", b"nine\n", b"neuf\n")
    done = land(second, 2, 4, free.n, builds.n)
    found = {obstacle.line: obstacle for obstacle in obstacles(done)}
    assert [(line, each.why, each.by) for line, each in sorted(found.items(), key=str)] == sorted(
        [(5, "session", made.n), (12, "context", None), (9, "action", own.n)], key=str
    )
    assert found[9].context is None
    for line in (5, 12):
        subject = numbered.git("log", "-1", "--format=%s", str(found[line].context))
        assert subject.startswith("Context for: ")
    plan = plan_landing(recorder, LandingRequest(str(free.lane), actions=["2"]))
    rows = landing_json(plan, done, dry_run=True)["left"]
    assert [(row["n"], row["line"], row["why"], row["by"]) for row in rows] == [
        (2, 5, "session", made.n),
        (4, 12, "context", None),
        (builds.n, 9, "action", own.n),
    ]


def test_the_hints_name_each_kind_once_and_every_commit_to_pick(numbered: UserRepo, agent: Agent) -> None:
    agent.replace("n.txt", b"line 5\n", b"five\n", turn="turn-1")
    agent.replace("n.txt", b"line 7\n", b"seven\n", turn="turn-2")
    agent.replace("n.txt", b"line 20\n", b"twenty\n", turn="turn-3")
    commits = [entry.commit for entry in sorted(agent.recorder.entries(), key=lambda entry: entry.n or 0)]
    disk = (numbered.path / "n.txt").read_bytes()
    theirs = LINES.replace(b"line 5\n", b"a\n").replace(b"line 7\n", b"b\n")
    numbered.commit("theirs", **{"n.txt": theirs})
    numbered.write("n.txt", disk)
    done = land(agent)
    assert [action.number for action in done.left] == [1, 2]
    names = " ".join(str(commit)[:10] for commit in commits[:2])
    assert left_hints(done.left, "refs/heads/main") == [
        f"The branch has changed: run `git cherry-pick {names}` on main, and resolve the conflicts."
    ]


def test_a_file_of_another_session_that_the_branch_lacks_is_named_with_its_action(
    numbered: UserRepo, recorder: Recorder
) -> None:
    first, second = Agent(numbered, recorder, "session-a"), Agent(numbered, recorder, "session-b")
    made = first.edit("new.txt", b"one\ntwo\n")
    first.edit("new.txt", b"one\ntwo\nthree\n")
    second.replace("new.txt", b"two\n", b"TWO\n")
    (reason,) = reasons_left(second)
    assert reason.startswith("new.txt builds on action ")
    assert reason.endswith(f" of {made.lane}, which is not on main")


def test_a_file_that_an_action_created_is_in_the_way_of_the_action_that_changed_it(
    numbered: UserRepo, agent: Agent
) -> None:
    made = agent.edit("new.txt", b"one\ntwo\n")
    agent.edit("other.txt", b"other\n")
    changed = agent.replace("new.txt", b"two\n", b"TWO\n")
    assert reasons_left(agent, changed.n) == [f"new.txt builds on action {made.n}, which is not on main"]


def test_a_binary_file_names_the_last_action_that_wrote_it(numbered: UserRepo, agent: Agent) -> None:
    numbered.commit("image", **{"image.bin": b"\0one"})
    agent.edit("image.bin", b"\0two")
    second = agent.edit("image.bin", b"\0three")
    third = agent.edit("image.bin", b"\0four")
    assert reasons_left(agent, third.n) == [f"image.bin builds on action {second.n}, which is not on main"]
