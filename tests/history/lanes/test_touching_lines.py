"""Changes that touch: the lane, the revert and the landing hold each change alone, by line."""

from collections.abc import Iterator

import pytest

from chorus.history.lanes import context_lines
from chorus.history.log.disk_log import DiskLog
from chorus.history.log.entry import entry_json
from chorus.history.recorder import Recorder
from chorus.review.landing.apply import apply_landing
from chorus.review.landing.plan import plan_landing
from chorus.review.landing.recovery import PendingLanding
from chorus.review.landing.selection import LandingRequest
from chorus.review.operations import Selection, revert
from chorus.review.revert.conflict import RevertConflict
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

HEAD = [f"line {number}" for number in range(1, 9)]


def text(lines: list[str], *, newline: bool = True) -> bytes:
    return "\n".join(lines).encode() + (b"\n" if newline else b"")


@pytest.fixture
def committed(repo: UserRepo) -> UserRepo:
    repo.write("n.txt", text(HEAD))
    repo.git("add", "n.txt")
    repo.git("commit", "-q", "-m", "Numbers")
    return repo


@pytest.fixture
def recorder(committed: UserRepo) -> Iterator[Recorder]:
    with Recorder.open(committed.path) as recorder:
        recorder.start()
        yield recorder


def edited(lines: list[str], *changes: tuple[str, str]) -> list[str]:
    """The lines with texts replaced; a replacement may hold several lines or none."""
    result: list[str] = []
    found = dict(changes)
    for line in lines:
        result += found[line].split("|") if found.get(line) else [] if line in found else [line]
    return result


def land(recorder: Recorder, lane: str) -> None:
    plan = plan_landing(recorder, LandingRequest(lane))
    apply_landing(recorder.workspace, plan, PendingLanding(recorder.workspace.repository.own_dir))


USER_CHANGES = {
    "the line above": [("line 4", "user 4")],
    "the line below": [("line 6", "user 6")],
    "the lines on both sides": [("line 4", "user 4"), ("line 6", "user 6")],
    "a line inserted above": [("line 4", "line 4|user")],
    "a line inserted below": [("line 6", "user|line 6")],
    "the line above deleted": [("line 4", "")],
    "the line below deleted": [("line 6", "")],
    "lines appended at the end": [("line 8", "line 8|user|user again")],
}


@pytest.mark.parametrize("user", USER_CHANGES.values(), ids=USER_CHANGES)
@pytest.mark.parametrize("staged", [False, True], ids=["unstaged", "staged"])
@pytest.mark.parametrize("newline", [True, False], ids=["newline at the end", "no newline at the end"])
def test_a_users_line_that_touches_stays_off_the_lane(
    committed: UserRepo, recorder: Recorder, user: list[tuple[str, str]], staged: bool, newline: bool
) -> None:
    mine = edited(HEAD, *user)
    committed.write("n.txt", text(mine, newline=newline))
    if staged:
        committed.git("add", "n.txt")
    entry = Agent(committed, recorder).edit(
        "n.txt", text(edited(mine, ("line 5", "agent 5")), newline=newline)
    )
    assert committed.git("show", f"{entry.lane}:n.txt").encode() == text(edited(HEAD, ("line 5", "agent 5")))
    assert committed.git("rev-list", "--count", f"HEAD..{entry.lane}").strip() == "1"
    land(recorder, entry.lane or "")
    assert committed.git("show", "HEAD:n.txt").encode() == text(edited(HEAD, ("line 5", "agent 5")))
    revert(recorder, Selection([str(entry.n)]))
    assert (committed.path / "n.txt").read_bytes() == text(mine, newline=newline)


def test_an_appended_line_stays_apart_from_the_users_appended_line(
    committed: UserRepo, recorder: Recorder
) -> None:
    committed.write("n.txt", text([*HEAD, "user"]))
    entry = Agent(committed, recorder).edit("n.txt", text([*HEAD, "user", "agent"]))
    assert committed.git("show", f"{entry.lane}:n.txt").encode() == text([*HEAD, "agent"])


def test_a_changed_users_line_is_the_only_context(committed: UserRepo, recorder: Recorder) -> None:
    mine = edited(HEAD, ("line 4", "user 4"), ("line 5", "user 5"), ("line 8", "line 8|user 9"))
    committed.write("n.txt", text(mine))
    entry = Agent(committed, recorder).edit("n.txt", text(edited(mine, ("user 5", "agent 5"))))
    assert committed.git("show", f"{entry.lane}:n.txt").encode() == text(edited(HEAD, ("line 5", "agent 5")))
    assert committed.git("show", f"{entry.lane}~:n.txt").encode() == text(edited(HEAD, ("line 5", "user 5")))
    authors = committed.git("log", "-2", "--format=%an", entry.lane or "").split("\n")[:2]
    assert authors == ["Claude", "Ada User"]


def test_a_line_of_another_session_is_context_in_that_agents_name(
    committed: UserRepo, recorder: Recorder
) -> None:
    theirs = edited(HEAD, ("line 5", "b 5"))
    Agent(committed, recorder, "session-b").edit("n.txt", text(theirs))
    entry = Agent(committed, recorder).edit("n.txt", text(edited(theirs, ("b 5", "a 5"))))
    assert committed.git("log", "-2", "--format=%an", entry.lane or "").split() == ["Claude", "Claude"]


def test_a_revert_is_the_users_own_commit(committed: UserRepo, recorder: Recorder) -> None:
    entry = Agent(committed, recorder).edit("n.txt", text(edited(HEAD, ("line 5", "agent 5"))))
    revert(recorder, Selection([str(entry.n)]))
    assert (
        committed.git("log", "-1", "--format=%an <%ae>", entry.lane or "").strip()
        == "Ada User <ada@example.com>"
    )
    assert committed.git("log", "-1", "--format=%an", str(recorder.timeline.tip)).strip() == "Ada User"


@pytest.mark.parametrize("first", ["session-a", "session-b"])
def test_two_sessions_with_neighbouring_lines_land_in_either_order(
    committed: UserRepo, recorder: Recorder, first: str
) -> None:
    lanes = {}
    now = HEAD
    for session, change in (
        ("session-a", ("line 3", "a 3")), ("session-b", ("line 4", "b 4")),
        ("session-a", ("line 8", "line 8|a 9")), ("session-b", ("a 9", "a 9|b 10")),
    ):  # fmt: skip
        now = edited(now, change)
        lanes[session] = Agent(committed, recorder, session).edit("n.txt", text(now)).lane or ""
    own = edited(HEAD, ("line 3", "a 3"), ("line 8", "line 8|a 9"))
    assert committed.git("show", f"{lanes['session-a']}:n.txt").encode() == text(own)
    for session in sorted(lanes, reverse=first == "session-b"):
        land(recorder, lanes[session])
    assert (
        committed.git("show", "HEAD:n.txt").encode() == text(now) == (committed.path / "n.txt").read_bytes()
    )


def test_only_a_later_change_of_the_same_line_blocks_a_revert(
    committed: UserRepo, recorder: Recorder
) -> None:
    agent = Agent(committed, recorder)
    now = HEAD
    entries = []
    for change in (
        ("line 2", "two"),
        ("line 3", "three"),
        ("line 1", "one"),
        ("line 7", "seven"),
        ("two", "TWO"),
    ):
        now = edited(now, change)
        entries.append(agent.edit("n.txt", text(now)))
    with pytest.raises(RevertConflict) as conflict:
        revert(recorder, Selection([str(entries[0].n)]))
    assert conflict.value.details is not None
    assert conflict.value.details["dependents"] == [entries[4].n]
    revert(recorder, Selection([str(entries[0].n)]), with_dependents=True)
    expected = edited(HEAD, ("line 3", "three"), ("line 1", "one"), ("line 7", "seven"))
    assert (committed.path / "n.txt").read_bytes() == text(expected)


def test_the_lines_an_action_builds_on_are_in_its_entry(committed: UserRepo, recorder: Recorder) -> None:
    lines = (committed.path / "n.txt").read_bytes().split(b"\n")
    lines[1] = b"the user's"
    committed.write("mine.txt", b"not committed\n")
    (committed.path / "n.txt").write_bytes(b"\n".join(lines))
    one = Agent(committed, recorder)
    made = one.replace("n.txt", b"the user's", b"the agent's")
    other = Agent(committed, recorder, "session-b").replace("n.txt", b"the agent's", b"the other's")
    assert (made.context, other.context) == (("- 2 n.txt",), (f"{made.n} 2 n.txt",))
    assert entry_json(other, "main")["context"] == [{"path": "n.txt", "by": made.n, "lines": [2]}]
    assert one.edit("mine.txt", b"changed\n").context == ("- - mine.txt",)
    first, second = recorder.log.lanes()
    assert first["context"] == [
        {"path": "mine.txt", "by": None, "lines": []},
        {"path": "n.txt", "by": None, "lines": [2]},
    ]
    assert second["context"] == [{"path": "n.txt", "by": made.n, "lines": [2]}]
    with DiskLog.open(committed.path) as log:
        assert list(log.entries())[::-1] == recorder.entries()
        assert log.lanes() == [first, second]


def test_a_line_inserted_above_another_sessions_line_is_not_taken_for_it(
    committed: UserRepo, recorder: Recorder
) -> None:
    """Three lines where two were: only the versions in between tell which of them is new."""
    first, second = Agent(committed, recorder, "session-a"), Agent(committed, recorder, "session-b")
    first.edit("n.txt", text(edited(HEAD, ("line 5", "first 5"))))
    committed.write("n.txt", text(edited(HEAD, ("line 5", "user|first 5"))))
    entry = second.edit("n.txt", text(edited(HEAD, ("line 5", "second|first 5"))))
    assert (
        committed.git("show", f"{entry.lane}:n.txt")
        == text(edited(HEAD, ("line 5", "second|line 5"))).decode()
    )
    assert entry.context == ("- 5 n.txt",)


def test_a_line_between_two_that_others_changed_keeps_its_place(
    committed: UserRepo, recorder: Recorder
) -> None:
    first, second = Agent(committed, recorder, "session-a"), Agent(committed, recorder, "session-b")
    first.edit("n.txt", text(edited(HEAD, ("line 5", "first 5"))))
    committed.write("n.txt", text(edited(HEAD, ("line 5", "user|first 5"))))
    entry = second.edit("n.txt", text(edited(HEAD, ("line 5", "user|second|first 5"))))
    assert (
        committed.git("show", f"{entry.lane}:n.txt")
        == text(edited(HEAD, ("line 5", "second|line 5"))).decode()
    )
    assert entry.context == ()


def test_what_the_user_committed_meanwhile_is_removed_from_the_branch_by_a_landing(
    committed: UserRepo, recorder: Recorder
) -> None:
    """The lane began before that commit, so it never had the line or the file."""
    agent = Agent(committed, recorder)
    entry = agent.edit("n.txt", text(edited(HEAD, ("line 1", "agent 1"))))
    committed.write("n.txt", text(edited(HEAD, ("line 1", "agent 1"), ("line 5", "line 5|user"))))
    committed.write("made.txt", b"the user's\n")
    committed.git("add", "n.txt", "made.txt")
    committed.git("commit", "-qm", "Mine")
    recorder.record_outside()
    agent.edit("n.txt", text(edited(HEAD, ("line 1", "agent 1"))))
    agent.edit("made.txt", None)
    assert entry.lane is not None
    land(recorder, entry.lane)
    assert committed.git("show", "main:n.txt") == text(edited(HEAD, ("line 1", "agent 1"))).decode()
    assert "made.txt" not in committed.git("ls-tree", "--name-only", "main").split()


def test_a_line_that_the_user_committed_and_the_agent_then_removed_leaves_the_branch(
    committed: UserRepo, recorder: Recorder
) -> None:
    """The agent added it, so over the whole lane it is no change; on the branch it is."""
    agent = Agent(committed, recorder)
    entry = agent.edit("n.txt", text(edited(HEAD, ("line 5", "line 5|agent"))))
    committed.write("n.txt", text(edited(HEAD, ("line 2", "user 2"), ("line 5", "line 5|agent"))))
    committed.git("commit", "-qam", "Mine")
    recorder.record_outside()
    wanted = text(edited(HEAD, ("line 2", "user 2"), ("line 8", "agent 8")))
    agent.edit("n.txt", wanted)
    assert entry.lane is not None
    land(recorder, entry.lane)
    assert committed.git("show", "main:n.txt") == wanted.decode()


def test_a_revert_refuses_a_line_that_has_gone_back_further(committed: UserRepo, recorder: Recorder) -> None:
    """The place holds an older line than the one the action removed: putting both there would double it."""
    agent = Agent(committed, recorder)
    agent.edit("n.txt", text(edited(HEAD, ("line 5", "agent 5"))))
    removal = agent.edit("n.txt", text(edited(HEAD, ("line 5", ""))))
    committed.write("n.txt", text(HEAD))
    recorder.record_outside()
    with pytest.raises(RevertConflict):
        revert(recorder, Selection([str(removal.n)]))


def test_context_names_who_wrote_it_although_the_session_itself_changed_the_file_since(
    committed: UserRepo, recorder: Recorder
) -> None:
    first, second = Agent(committed, recorder, "session-a"), Agent(committed, recorder, "session-b")
    writer = first.edit("n.txt", text(edited(HEAD, ("line 1", "first 1"))))
    second.edit("n.txt", text(edited(HEAD, ("line 1", "first 1"), ("line 8", "second 8"))))
    entry = second.edit("n.txt", text(edited(HEAD, ("line 1", "second 1"), ("line 8", "second 8"))))
    assert entry.context == (f"{writer.n} 1 n.txt",)
    trailers = committed.read_commits(f"{entry.commit}^")[0].trailers
    assert trailers["Chorus-Context"] == [f"{writer.id} n.txt"]
    assert trailers["Chorus-Session"] == ["session-b"]


def test_context_names_who_wrote_each_line_and_not_who_changed_the_file_last(
    committed: UserRepo, recorder: Recorder
) -> None:
    first, second = Agent(committed, recorder, "session-a"), Agent(committed, recorder, "session-b")
    writer = first.edit("n.txt", text(edited(HEAD, ("line 1", "first 1"))))
    theirs = edited(HEAD, ("line 1", "first 1"), ("line 8", "line 8|user 9"))
    committed.write("n.txt", text(theirs))
    recorder.record_outside()
    one = second.edit("n.txt", text(edited(theirs, ("first 1", "second 1"))))
    assert one.context == (f"{writer.n} 1 n.txt",)
    assert committed.git("log", "-2", "--format=%an", one.lane or "").split() == ["Claude", "Claude"]
    third = Agent(committed, recorder, "session-c")
    both = third.edit("n.txt", text(edited(theirs, ("first 1", "third 1"), ("user 9", "third 9"))))
    assert set(both.context) == {f"{one.n} 1 n.txt", "- 9 n.txt"}
    authors = committed.git("log", "-2", "--format=%an", both.lane or "").split("\n")[:2]
    assert authors == ["Claude", "Ada User"]
    trailers = committed.read_commits(f"{both.commit}^")[0].trailers
    assert len(trailers["Chorus-Context"]) == 2


def test_a_line_that_many_later_changes_hide_is_context_of_the_file_as_it_changed_last(
    committed: UserRepo, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_lines, "MAX_SEARCHED", 2)
    first, second = Agent(committed, recorder, "session-a"), Agent(committed, recorder, "session-b")
    now = edited(HEAD, ("line 1", "first 1"))
    first.edit("n.txt", text(now))
    for line in (6, 7, 8):
        now = edited(now, (f"line {line}", f"first {line}"))
        last = first.edit("n.txt", text(now))
    entry = second.edit("n.txt", text(edited(now, ("first 1", "second 1"))))
    assert entry.context == (f"{last.n} 1 n.txt",)
