"""Selecting actions to review."""

from pathlib import Path

import pytest

from chorus.errors import ChorusError, ExitCode, NotFound, UsageError
from chorus.history.log.file_history import MemoryFileHistory
from chorus.history.log.filter import LogFilter
from chorus.history.log.memory_log import LogChanges
from chorus.history.recorder import Recorder
from chorus.review.blame import blame
from chorus.review.landing.target import find_lane
from chorus.review.operations import Inseparable, Selection, keep, redo, revert
from chorus.review.revert.conflict import RevertConflict
from tests.history.agent_at_work import Agent, action, entry_of, statuses
from tests.repos import UserRepo


def numbers(recorder: Recorder, wanted: LogFilter) -> list[int | None]:
    return [entry["n"] for entry in recorder.log.select(wanted)]


def test_reverts_and_redos_need_no_review(recorder: Recorder, agent: Agent) -> None:
    first = agent.edit("app.py", b"one\n" * 9 + b"two\n" * 9)
    agent.edit("app.py", b"ONE\n" + b"one\n" * 8 + b"two\n" * 8 + b"TWO\n")
    revert(recorder, Selection(["2"], hunks=[1]))
    revert(recorder, Selection(["2"]))
    redo(recorder, Selection(["2"]))
    assert numbers(recorder, LogFilter(open=True)) == [1, 2]
    assert recorder.log.lanes()[0]["open"] == 2
    keep(recorder, Selection(lane=first.lane))
    assert numbers(recorder, LogFilter(open=True)) == []
    assert recorder.log.lanes()[0]["open"] == 0


def test_a_call_within_another_record_shares_its_status(repo: UserRepo, recorder: Recorder) -> None:
    place = repo.path / "app.py"
    news = LogChanges(recorder.journal)
    recorder.record_before_call([str(place)])
    repo.write("app.py", b"changed by both\n")
    recorder.record_named_paths([action("toolu_x", place), action("toolu_y", place)])
    held = next(entry for entry in recorder.entries() if entry.within)
    assert numbers(recorder, LogFilter(open=True)) == [1]
    news.take()
    together = [str(entry.n) for entry in recorder.entries() if entry.n is not None]
    for name in together:
        with pytest.raises(Inseparable, match="cannot be separated"):
            revert(recorder, Selection([name]))
    for change, status, names in (
        (keep, "kept", [str(held.n)]),
        (revert, "reverted", together),
        (redo, "kept", [str(held.n)]),
    ):
        change(recorder, Selection(names))
        assert entry_of(recorder, held.id or "").status == status
        assert [entry.status for entry in news.take() if entry.id == held.id] == [status]


def test_naming_actions_together_with_a_lane_is_refused(recorder: Recorder, agent: Agent) -> None:
    made = agent.edit("app.py", b"new\n")
    for change in (keep, revert):
        with pytest.raises(UsageError):
            change(recorder, Selection(["1"], lane=made.lane))
    assert statuses(recorder) == ["committed"]


def test_an_unknown_lane_is_named_in_the_error(recorder: Recorder, agent: Agent) -> None:
    agent.edit("app.py", b"new\n")
    for change in (keep, revert):
        with pytest.raises(NotFound, match="there is no lane nobody"):
            change(recorder, Selection(lane="nobody"))


def test_a_lane_of_another_work_tree_gets_its_own_error(
    repo: UserRepo, recorder: Recorder, agent: Agent, tmp_path: Path
) -> None:
    made = agent.edit("app.py", b"new\n")
    repo.git("worktree", "add", "-q", str(tmp_path / "there"))
    with (
        Recorder.open(tmp_path / "there") as other,
        pytest.raises(NotFound, match="not a lane of this work tree"),
    ):
        find_lane(other, made.lane or "")


def test_an_action_named_twice_is_kept_once(recorder: Recorder, agent: Agent) -> None:
    made = agent.edit("app.py", b"new\n")
    assert keep(recorder, Selection(["1", made.id or ""])) == {"kept": [1], "reopened": []}


@pytest.mark.parametrize("path", ["README.md", "/etc/passwd", "no/such"])
def test_a_path_the_action_did_not_change_is_named_in_the_error(
    repo: UserRepo, recorder: Recorder, agent: Agent, path: str
) -> None:
    agent.edit("app.py", b"new\n")
    with pytest.raises(NotFound, match=f"action 1 did not change .*{path}"):
        revert(recorder, Selection(["1"], paths=[path]))


def test_a_conflict_names_the_commands_that_help(repo: UserRepo, recorder: Recorder, agent: Agent) -> None:
    agent.edit("app.py", b"new\n")
    repo.write("app.py", b"newer\n")
    recorder.record_outside()
    message, hint = refused(recorder, "1")
    assert message == "action 1 cannot be reverted; nothing was changed"
    assert hint == (
        "Undo the outside change by hand first, then run `chorus revert 1`. "
        "Or run `chorus revert 1 --markers` to write conflict markers."
    )
    agent.edit("run.sh", b"new\n")
    agent.edit("run.sh", b"newer\n")
    message, hint = refused(recorder, "2")
    assert message == "action 2 cannot be reverted alone; nothing was changed"
    assert hint == (
        "Run `chorus revert 2 --with-dependents` to revert those as well (add --dry-run to see the change "
        "first). Or run `chorus revert 2 --markers` to write conflict markers."
    )
    message, hint = refused(recorder, "1", "2")
    assert message == "actions 1, 2 cannot be reverted alone; nothing was changed"
    assert hint == (
        "Undo the outside change by hand first, then run `chorus revert 1 2 --with-dependents`. "
        "Or run `chorus revert 1 2 --markers` to write conflict markers."
    )
    with pytest.raises(RevertConflict) as conflict:
        revert(recorder, Selection(["2"], paths=["run.sh"]))
    assert "`chorus revert 2 --path run.sh --with-dependents`" in str(conflict.value.hint)


def test_markers_are_not_offered_for_a_file_that_was_deleted(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.edit("app.py", b"new\n")
    (repo.path / "app.py").unlink()
    recorder.record_outside()
    assert refused(recorder, "1")[1] == "Undo the outside change by hand first, then run `chorus revert 1`."


def test_markers_that_need_the_dependents_too_are_offered_with_them(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.edit("app.py", b"new\n")
    agent.edit("run.sh", b"new\n")
    agent.edit("app.py", None)
    repo.write("run.sh", b"the user's\n")
    recorder.record_outside()
    both = Selection(["1", "2"])
    with pytest.raises(RevertConflict) as conflict:
        revert(recorder, both, with_dependents=True)
    command = "chorus revert 1 2 --with-dependents --markers"
    assert (conflict.value.hint or "").endswith(f"Or run `{command}` to write conflict markers.")
    revert(recorder, both, with_dependents=True, markers=True, dry_run=True)


def test_a_redo_that_later_changes_prevent_says_how_to_redo_it(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.edit("app.py", b"new\n")
    revert(recorder, Selection(["1"]))
    agent.edit("app.py", b"newer\n")
    with pytest.raises(RevertConflict) as conflict:
        redo(recorder, Selection(["1"]))
    title, *places = str(conflict.value).splitlines()
    assert title == "action 1 cannot be redone; nothing was changed"
    assert len(places) == 1
    assert conflict.value.hint == "Revert those first with `chorus revert 3`, then run `chorus redo 1`."

    revert(recorder, Selection(["3"]))
    redo(recorder, Selection(["1"]))
    assert (repo.path / "app.py").read_bytes() == b"new\n"

    revert(recorder, Selection(["1"]))
    repo.write("app.py", b"newest\n")
    recorder.record_outside()
    with pytest.raises(RevertConflict) as conflict:
        redo(recorder, Selection(["1"]))
    assert conflict.value.hint == "Undo the outside change by hand first, then run `chorus redo 1`."


def refused(recorder: Recorder, *actions: str) -> tuple[str, str | None]:
    """The first line and the hint of the conflict."""
    with pytest.raises(RevertConflict) as conflict:
        revert(recorder, Selection(actions))
    return str(conflict.value).splitlines()[0], conflict.value.hint


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("app.py", 3, "there is no line 3 in app.py: it has 2 lines"),
        ("src", None, "src is a directory"),
        ("nested/file", None, "nested/file belongs to another repository inside this one"),
        ("no/such", None, "there is no file no/such in this work tree"),
    ],
)
def test_blame_names_what_is_at_the_path_instead_of_a_file(
    repo: UserRepo, recorder: Recorder, name: str, line: int | None, said: str
) -> None:
    repo.write("nested/.git/HEAD", b"ref: refs/heads/main\n")
    repo.write("nested/file", b"theirs\n")
    with pytest.raises(ChorusError) as error:
        blame(MemoryFileHistory(recorder), name, line)
    assert (str(error.value), error.value.exit_code) == (said, ExitCode.NOT_FOUND)
