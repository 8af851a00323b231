"""An action whose change is gone from disk is undone, until it comes back."""

from unittest.mock import Mock

import pytest

from chorus.history.log.disk_log import DiskLog
from chorus.history.log.entry import LogEntry
from chorus.history.recorder import Recorder
from chorus.review import operations as review
from chorus.review.operations import Selection
from chorus.review.revert.apply import NothingToRevert
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo


def entry(recorder: Recorder, n: int) -> LogEntry:
    """The entry of an action, the same in memory and from disk."""
    found = next(entry for entry in recorder.entries() if entry.n == n)
    with DiskLog.open(recorder.workspace.repository.work_tree) as log:
        assert found == next(entry for entry in log.entries() if entry.n == n)
    return found


def test_the_mark_gives_the_status_and_a_later_one_takes_it_back(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    name = agent.edit("one.txt", b"1\n").id or ""

    def mark(gone: int) -> None:
        with recorder.journal.writing():
            recorder.journal.append_mark(
                {"kind": "undone", "by": "git", "ids": [name], "parts": [(name, "one.txt", gone, 2)]}
            )

    mark(2)
    assert entry(recorder, 1).status == "undone"
    assert not entry(recorder, 1).open
    mark(1)
    assert (entry(recorder, 1).status, entry(recorder, 1).undone) == ("committed", ("git", False, 1, 2))
    assert entry(recorder, 1).open
    mark(0)
    assert (entry(recorder, 1).status, entry(recorder, 1).undone) == ("committed", None)


BASE = b"a\nb\nc\nd\ne\n"


@pytest.fixture
def start(repo: UserRepo) -> UserRepo:
    repo.write("f.txt", BASE)
    repo.git("add", "f.txt")
    repo.git("commit", "-qm", "Base")
    return repo


def states(recorder: Recorder, *numbers: int) -> list[str]:
    """The status of each action, with who undid it."""
    found = [entry(recorder, n) for n in numbers]
    return [f"{e.status} {e.undone.by}" if e.undone else e.status for e in found]


def test_git_checkout_of_a_file_undoes_its_actions_and_no_others(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.replace("f.txt", b"b", b"B")
    agent.replace("f.txt", b"B", b"BB")
    agent.edit("g.txt", b"new\n")
    start.git("checkout", "-q", "--", "f.txt")
    recorder.record_outside()
    assert states(recorder, 1, 2, 3) == ["undone git", "undone git", "committed"]
    assert [lane["open"] for lane in recorder.log.lanes()] == [1]
    start.write("f.txt", BASE.replace(b"b", b"B"))  # half of the way back
    recorder.record_outside()
    assert states(recorder, 1, 2) == ["committed", "undone git"]


def test_a_newline_at_the_end_of_a_file_is_followed(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.edit("f.txt", BASE.removesuffix(b"\n"))
    agent.edit("f.txt", BASE)
    start.write("f.txt", BASE.removesuffix(b"\n"))
    recorder.record_outside()
    assert states(recorder, 1, 2) == ["committed", "undone outside"]


def test_a_stash_undoes_and_its_pop_brings_back(start: UserRepo, recorder: Recorder, agent: Agent) -> None:
    agent.replace("f.txt", b"b", b"B")
    agent.edit("g.txt", b"new\n")
    start.git("stash", "-q", "-u")
    recorder.record_outside()
    assert states(recorder, 1, 2) == ["undone git", "undone git"]
    start.git("stash", "pop", "-q")
    recorder.record_outside()
    assert states(recorder, 1, 2) == ["committed", "committed"]


def test_an_editors_undo_is_outside_and_its_redo_opens_again(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.replace("f.txt", b"b\nc", b"B\nC")
    start.write("f.txt", BASE.replace(b"b", b"B") + b"my own line\n")
    recorder.record_outside()
    found = entry(recorder, 1)
    assert (found.status, found.undone, found.open) == ("committed", ("outside", False, 1, 2), True)
    start.write("f.txt", BASE + b"my own line\n")
    recorder.record_outside()
    assert states(recorder, 1) == ["undone outside"]
    start.write("f.txt", BASE.replace(b"b\nc", b"B\nC"))
    recorder.record_outside()
    assert states(recorder, 1) == ["committed"]


def test_a_redo_brings_back_what_was_rewound(start: UserRepo, recorder: Recorder, agent: Agent) -> None:
    agent.replace("f.txt", b"b", b"B")
    review.revert(recorder, Selection(["1"]))
    start.write("f.txt", BASE.replace(b"b", b"B"))  # by hand, and away again
    recorder.record_outside()
    start.write("f.txt", BASE)
    recorder.record_outside()
    assert entry(recorder, 1).undone is not None
    review.redo(recorder, Selection(["2"]))
    assert states(recorder, 1) == ["committed"]


def test_a_rewind_across_a_redo_undoes_the_action(start: UserRepo, recorder: Recorder, agent: Agent) -> None:
    agent.replace("f.txt", b"b\n", b"")
    review.revert(recorder, Selection(["1"]))
    agent.replace("f.txt", b"b\n", b"other\n")
    review.revert(recorder, Selection(["3"]))
    review.redo(recorder, Selection(["2"]))
    assert states(recorder, 1) == ["committed"]
    start.write("f.txt", BASE)
    recorder.record_outside()
    assert states(recorder, 1) == ["undone outside"]


def test_a_file_without_actions_that_changed_at_the_same_time_hides_nothing(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.replace("f.txt", b"b", b"B")
    start.write("a.txt", b"mine\n")
    start.write("f.txt", BASE)
    recorder.record_outside()
    assert states(recorder, 1) == ["undone outside"]


def test_an_action_of_several_files_is_undone_with_the_last_of_them(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    def change() -> None:
        start.write("f.txt", BASE + b"f\n")
        start.write("g.txt", b"new\n")

    agent.bash(change)
    (start.path / "g.txt").unlink()
    recorder.record_outside()
    assert states(recorder, 1) == ["committed outside"]
    start.git("restore", "f.txt")
    recorder.record_outside()
    assert states(recorder, 1) == ["undone git"]


def test_a_branch_switch_undoes_nothing_but_a_reset_does(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    start.git("branch", "other")
    agent.replace("f.txt", b"b", b"B")
    start.git("commit", "-qam", "The agent's work")
    start.git("switch", "-q", "other")
    recorder.record_outside()
    assert states(recorder, 1) == ["committed"]
    start.git("switch", "-q", "main")
    recorder.record_outside()
    assert states(recorder, 1) == ["committed"]
    start.git("reset", "-q", "--hard", "HEAD~1")
    recorder.record_outside()
    assert states(recorder, 1) == ["undone git"]


def test_a_change_carried_to_a_new_branch_can_be_undone_there(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.replace("f.txt", b"b", b"B")
    start.git("switch", "-q", "-c", "feature")
    recorder.record_outside()
    start.git("checkout", "-q", "--", "f.txt")
    recorder.record_outside()
    assert states(recorder, 1) == ["undone git"]


def test_another_recorder_continues_where_the_first_one_stopped(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.replace("f.txt", b"b", b"B")
    start.git("checkout", "-q", "--", "f.txt")
    recorder.record_outside()
    with Recorder.open(start.path) as second:
        assert states(second, 1) == ["undone git"]
        start.write("f.txt", BASE.replace(b"b", b"B"))
        second.record_outside()
        assert states(second, 1) == ["committed"]
    assert states(recorder, 1) == ["committed"]
    start.git("checkout", "-q", "--", "f.txt")
    recorder.record_outside()
    assert states(recorder, 1) == ["undone git"]


def test_a_record_that_could_not_be_written_is_followed_again(
    start: UserRepo, recorder: Recorder, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.replace("f.txt", b"b", b"B")
    start.git("checkout", "-q", "--", "f.txt")
    with monkeypatch.context() as patch:
        patch.setattr(recorder.timeline, "append", Mock(side_effect=OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            recorder.record_outside()
    start.write("f.txt", BASE.replace(b"b", b"B") + b"f\n")
    recorder.record_outside()
    assert states(recorder, 1) == ["committed"]


def test_reverts_and_what_landed_keep_their_status(start: UserRepo, recorder: Recorder, agent: Agent) -> None:
    agent.replace("f.txt", b"a", b"A")
    agent.replace("f.txt", b"e", b"E")
    recorder.mark("landed", [entry(recorder, 2).id or ""], ["0" * 40])
    review.revert(recorder, Selection(["1"]))
    start.write("f.txt", BASE)
    recorder.record_outside()
    assert states(recorder, 1, 2) == ["reverted", "committed"]
    review.redo(recorder, Selection(["1"]))
    assert states(recorder, 1) == ["committed"]


def test_an_undone_action_cannot_be_kept_and_has_nothing_to_revert(
    start: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.replace("f.txt", b"b", b"B")
    start.git("checkout", "-q", "--", "f.txt")
    recorder.record_outside()
    assert review.keep(recorder, Selection(["1"]))["kept"] == []
    with pytest.raises(NothingToRevert):
        review.revert(recorder, Selection(["1"]))


def test_a_rewind_is_named_as_one(start: UserRepo, recorder: Recorder, agent: Agent) -> None:
    agent.replace("f.txt", b"b", b"B")
    recorder.journal.is_rewind = lambda edits: [edit.path for edit in edits] == ["f.txt"]
    start.write("f.txt", BASE)
    recorder.record_outside()
    assert states(recorder, 1) == ["undone rewind"]
