"""Reverting an action changes its files and nothing else."""

import errno
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from chorus.history.recorder import Recorder
from chorus.review.operations import Selection, apply_prepared, keep, prepare_revert, redo, revert
from chorus.review.revert.apply import NothingToRevert, recover_revert, restore_overwritten
from chorus.review.revert.conflict import RevertConflict
from chorus.review.revert.file_content import UnreadableFile
from chorus.store.lock_file import CannotWrite
from chorus.store.maintenance.sweep import sweep
from tests.history.agent_at_work import Agent, entry_of, on_disk, replayed
from tests.history.invariants import assert_whole
from tests.repos import UserRepo

LINES = b"".join(b"line %d\n" % n for n in range(1, 21))


@pytest.fixture
def numbered(repo: UserRepo, agent: Agent) -> UserRepo:
    """`n.txt` with twenty lines, written before the agent's first action."""
    repo.write("n.txt", LINES)
    agent.recorder.start()
    return repo


def select(*numbers: int | None) -> Selection:
    return Selection(actions=[str(number) for number in numbers])


def state(repo: UserRepo) -> dict[str, object]:
    """What a revert must not change: everything but the files."""
    found = repo.fingerprint()
    return {"refs": found["refs"], "git dir": found["git dir"]}


def test_an_action_in_the_middle_is_reverted_and_later_ones_stay(numbered: UserRepo, agent: Agent) -> None:
    first = agent.replace("n.txt", b"line 3\n", b"LINE 3\n")
    second = agent.replace("n.txt", b"line 10\n", b"LINE 10\n")
    agent.replace("n.txt", b"line 18\n", b"LINE 18\n")
    before = state(numbered)

    answer = revert(agent.recorder, select(second.n))

    expected = LINES.replace(b"line 3\n", b"LINE 3\n").replace(b"line 18\n", b"LINE 18\n")
    assert (numbered.path / "n.txt").read_bytes() == expected
    assert answer["reverted"] == [second.n]
    assert "-LINE 10" in answer["patch"]
    assert entry_of(agent.recorder, second.id or "").status == "reverted"
    assert entry_of(agent.recorder, first.id or "").status == "committed"
    assert state(numbered) == before
    assert replayed(agent.recorder) == on_disk(numbered)
    lane = numbered.git("show", f"{first.lane}:n.txt").encode()
    assert lane == expected


def test_redo_restores_the_same_bytes(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 3\n", b"LINE 3\n")
    after = (numbered.path / "n.txt").read_bytes()
    revert(agent.recorder, select(edit.n))
    assert (numbered.path / "n.txt").read_bytes() == LINES
    redo(agent.recorder, select(edit.n))
    assert (numbered.path / "n.txt").read_bytes() == after
    assert entry_of(agent.recorder, edit.id or "").status == "committed"
    revert(agent.recorder, select(edit.n))
    assert (numbered.path / "n.txt").read_bytes() == LINES


def test_the_users_later_edit_of_the_same_file_survives(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 3\n", b"LINE 3\n")
    mine = (numbered.path / "n.txt").read_bytes() + b"mine\n"
    numbered.write("n.txt", mine)
    revert(agent.recorder, select(edit.n))
    assert (numbered.path / "n.txt").read_bytes() == LINES + b"mine\n"
    assert replayed(agent.recorder) == on_disk(numbered)


def test_a_later_action_in_the_same_lines_is_named_and_nothing_changes(
    numbered: UserRepo, agent: Agent
) -> None:
    first = agent.replace("n.txt", b"line 3\n", b"three\n")
    agent.replace("n.txt", b"line 15\n", b"fifteen\n")
    third = agent.replace("n.txt", b"three\n", b"drei\n")
    before = numbered.fingerprint()
    with pytest.raises(RevertConflict) as caught:
        revert(agent.recorder, select(first.n))
    assert caught.value.details is not None
    assert caught.value.details["dependents"] == [third.n]
    assert f"action {third.n}" in str(caught.value)
    assert numbered.fingerprint() == before


def test_dependents_are_reverted_on_request(numbered: UserRepo, agent: Agent) -> None:
    first = agent.replace("n.txt", b"line 3\n", b"three\n")
    agent.replace("n.txt", b"line 15\n", b"fifteen\n")
    third = agent.replace("n.txt", b"three\n", b"drei\n")
    answer = revert(agent.recorder, select(first.n), with_dependents=True)
    assert answer["reverted"] == [third.n, first.n]
    assert (numbered.path / "n.txt").read_bytes() == LINES.replace(b"line 15\n", b"fifteen\n")


def test_an_outside_change_in_the_same_lines_is_named_and_never_reverted(
    numbered: UserRepo, agent: Agent
) -> None:
    first = agent.replace("n.txt", b"line 3\n", b"three\n")
    numbered.write("n.txt", LINES.replace(b"line 3\n", b"trois\n"))
    agent.recorder.record_outside()
    with pytest.raises(RevertConflict, match="outside"):
        revert(agent.recorder, select(first.n), with_dependents=True)
    assert b"trois" in (numbered.path / "n.txt").read_bytes()


def test_conflict_markers_are_written_only_on_request(numbered: UserRepo, agent: Agent) -> None:
    first = agent.replace("n.txt", b"line 3\n", b"three\n")
    agent.replace("n.txt", b"three\n", b"drei\n")
    revert(agent.recorder, select(first.n), markers=True)
    text = (numbered.path / "n.txt").read_bytes()
    assert b"<<<<<<<" in text
    assert b"drei" in text
    assert b"line 3" in text


def test_a_dry_run_shows_the_change_and_makes_none(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 3\n", b"three\n")
    before = numbered.fingerprint()
    answer = revert(agent.recorder, select(edit.n), dry_run=True)
    assert answer["n"] is None
    assert "+line 3" in answer["patch"]
    assert numbered.fingerprint() == before


def test_a_created_file_is_deleted_by_revert_and_restored_by_redo(repo: UserRepo, agent: Agent) -> None:
    made = agent.edit("new/deep.txt", b"hello\n")
    revert(agent.recorder, select(made.n))
    assert not (repo.path / "new").exists()
    redo(agent.recorder, select(made.n))
    assert (repo.path / "new/deep.txt").read_bytes() == b"hello\n"


def test_a_created_file_that_was_changed_later_stays(repo: UserRepo, agent: Agent) -> None:
    made = agent.edit("new.txt", b"hello\n")
    repo.write("new.txt", b"hello\nmine\n")
    with pytest.raises(RevertConflict, match="changed after it was created"):
        revert(agent.recorder, select(made.n))
    assert (repo.path / "new.txt").read_bytes() == b"hello\nmine\n"


def test_a_deleted_file_is_restored_with_its_mode(repo: UserRepo, agent: Agent) -> None:
    gone = agent.bash((repo.path / "run.sh").unlink)
    revert(agent.recorder, select(gone.n))
    assert (repo.path / "run.sh").read_bytes() == b"#!/bin/sh\necho hi\n"
    assert os.access(repo.path / "run.sh", os.X_OK)


def test_a_mode_change_and_a_rename_are_reverted(repo: UserRepo, agent: Agent) -> None:
    def change() -> None:
        (repo.path / "app.py").chmod(0o755)
        (repo.path / "run.sh").rename(repo.path / "start.sh")

    done = agent.bash(change)
    revert(agent.recorder, select(done.n))
    assert not os.access(repo.path / "app.py", os.X_OK)
    assert (repo.path / "run.sh").exists()
    assert not (repo.path / "start.sh").exists()


def test_a_binary_file_is_reverted_as_a_whole(repo: UserRepo, agent: Agent) -> None:
    agent.edit("image.bin", b"\0\1\2")
    second = agent.edit("image.bin", b"\0\1\2\3")
    revert(agent.recorder, select(second.n))
    assert (repo.path / "image.bin").read_bytes() == b"\0\1\2"


@pytest.mark.parametrize(
    ("before", "old", "new"),
    [
        (b"a\r\nb\r\nc\r\n", b"b\r\n", b"B\r\n"),
        (b"x = 1\nfoo()\nx = 1\nbar()\nx = 1\n", b"bar()\nx = 1\n", b"bar()\nx = 2\n"),
        (b"price: $1\n", b"$1", b"$& \\1 .*"),
        (b"no newline", b"newline", b"end"),
    ],
    ids=["CRLF", "the same text elsewhere", "signs of regular expressions", "no final newline"],
)
def test_difficult_contents_are_reverted_exactly(
    repo: UserRepo, agent: Agent, before: bytes, old: bytes, new: bytes
) -> None:
    repo.write("trap.txt", before)
    agent.recorder.start()
    edit = agent.replace("trap.txt", old, new)
    revert(agent.recorder, select(edit.n))
    assert (repo.path / "trap.txt").read_bytes() == before


def test_an_overwritten_file_is_restored_and_not_deleted(repo: UserRepo, agent: Agent) -> None:
    over = agent.edit("app.py", b"all new\n")
    revert(agent.recorder, select(over.n))
    assert (repo.path / "app.py").read_bytes() == b"x = 1\ny = 2\n"


def test_all_files_of_an_action_are_reverted_or_none(repo: UserRepo, agent: Agent) -> None:
    def change() -> None:
        repo.write("app.py", b"x = 5\ny = 2\n")
        repo.write("src/deep/er/file.txt", b"one\nTWO\nthree\n")

    both = agent.bash(change)
    repo.write("app.py", b"x = 6\ny = 2\n")
    with pytest.raises(RevertConflict):
        revert(agent.recorder, select(both.n))
    assert (repo.path / "src/deep/er/file.txt").read_bytes() == b"one\nTWO\nthree\n"
    one = Selection(actions=[str(both.n)], paths=[str(repo.path / "src")])
    revert(agent.recorder, one)
    assert (repo.path / "src/deep/er/file.txt").read_bytes() == b"one\ntwo\nthree\n"
    assert (repo.path / "app.py").read_bytes() == b"x = 6\ny = 2\n"
    assert entry_of(agent.recorder, both.id or "").status == "committed"


def test_a_reverted_lane_gives_the_bytes_it_started_from(numbered: UserRepo, agent: Agent) -> None:
    edits = [agent.replace("n.txt", b"line %d\n" % n, b"LINE %d\n" % n) for n in (3, 4, 5)]
    agent.edit("new.txt", b"x\n")
    revert(agent.recorder, Selection(lane=edits[0].lane))
    assert (numbered.path / "n.txt").read_bytes() == LINES
    assert not (numbered.path / "new.txt").exists()


def test_a_file_that_cannot_be_read_is_named_with_a_way_out_that_fits(repo: UserRepo) -> None:
    with Recorder.open(repo.path, cap_bytes=1000) as recorder:
        made = Agent(repo, recorder).edit("app.py", b"new\n")
        repo.write("app.py", b"x" * 2000)
        with pytest.raises(
            UnreadableFile, match=r"app.py is larger than the size limit \(2000 bytes\)"
        ) as large:
            revert(recorder, select(made.n))
        assert large.value.hint == "Change the file by hand."
        (repo.path / "app.py").unlink()
        os.mkfifo(repo.path / "app.py")
        with pytest.raises(UnreadableFile, match="neither a file nor a link") as special:
            revert(recorder, select(made.n))
        assert special.value.hint == "Move it away, then run the command again."


def test_a_reverted_action_cannot_be_reverted_again(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 3\n", b"three\n")
    revert(agent.recorder, select(edit.n))
    with pytest.raises(NothingToRevert, match="already"):
        revert(agent.recorder, select(edit.n))
    with pytest.raises(NothingToRevert, match="not reverted"):
        redo(agent.recorder, select(agent.replace("n.txt", b"line 9\n", b"nine\n").n))


def test_kept_actions_leave_the_queue(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 3\n", b"three\n")
    other = agent.replace("n.txt", b"line 9\n", b"nine\n")
    assert keep(agent.recorder, select(edit.n)) == {"kept": [edit.n], "reopened": []}
    assert entry_of(agent.recorder, edit.id or "").status == "kept"
    assert keep(agent.recorder, Selection(lane=edit.lane)) == {"kept": [other.n], "reopened": []}


def test_keep_can_be_undone(numbered: UserRepo, agent: Agent) -> None:
    edit = agent.replace("n.txt", b"line 3\n", b"three\n")
    other = agent.replace("n.txt", b"line 9\n", b"nine\n")
    keep(agent.recorder, select(edit.n))
    assert keep(agent.recorder, Selection(lane=edit.lane), undo=True) == {"kept": [], "reopened": [edit.n]}
    assert [entry.open for entry in agent.recorder.entries()] == [True, True]
    assert keep(agent.recorder, select(other.n), undo=True) == {"kept": [], "reopened": []}


@pytest.mark.parametrize("files_written", [0, 1, 2, 3])
def test_a_revert_killed_between_two_files_is_finished_at_the_next_start(
    repo: UserRepo, agent: Agent, files_written: int
) -> None:
    def change() -> None:
        for name in ("a.txt", "b.txt", "c.txt"):
            repo.write(name, b"new\n")

    made = agent.bash(change)
    pid = os.fork()
    if pid == 0:
        _revert_and_die(repo.path, made.n, files_written)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL

    with Recorder.open(repo.path) as later:
        recover_revert(later)
        assert not any((repo.path / name).exists() for name in ("a.txt", "b.txt", "c.txt"))
        assert entry_of(later, made.id or "").status == "reverted"
        assert replayed(later) == on_disk(repo)
        assert recover_revert(later) == []


def test_a_revert_whose_contents_were_removed_before_it_was_finished_is_given_up(
    numbered: UserRepo, agent: Agent
) -> None:
    made = agent.replace("n.txt", b"line 3\n", b"three\n")
    agent.replace("n.txt", b"line 9\n", b"nine\n")
    pid = os.fork()
    if pid == 0:
        _revert_and_die(numbered.path, made.n, 0)
    os.waitpid(pid, 0)
    sweep(agent.recorder.workspace.repository, agent.recorder.workspace.store, grace_seconds=-1)
    with Recorder.open(numbered.path) as later:
        assert recover_revert(later) == []
        later.record_outside()
        assert_whole(numbered, later)
    assert not (numbered.path / ".git/chorus/reverting.json").exists()


@pytest.mark.parametrize("content", ["{", "{}", "[]", "3", '{"edits": ["x"], "parts": []}'])
def test_a_damaged_description_of_a_revert_is_removed(repo: UserRepo, agent: Agent, content: str) -> None:
    agent.edit("app.py", b"1\n")
    place = repo.path / ".git/chorus/reverting.json"
    place.write_text(content)
    assert recover_revert(agent.recorder) == []
    assert not place.exists()
    assert_whole(repo, agent.recorder)


@pytest.mark.parametrize("content", [b"2\n", b"mine\n"])
def test_a_revert_that_a_full_disk_kept_from_being_recorded_is_not_finished_over_later_changes(
    repo: UserRepo, agent: Agent, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    agent.edit("app.py", b"1\n")
    made = agent.edit("app.py", b"2\n")
    place, open_file = repo.path / "app.py", os.open

    def full(path: Any, *arguments: Any, **options: Any) -> int:
        if "tmp_obj" in str(path) and place.read_bytes() == b"1\n":
            raise OSError(errno.ENOSPC, "No space left on device")
        return open_file(path, *arguments, **options)

    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "open", full)
        with pytest.raises(CannotWrite):
            revert(agent.recorder, select(made.n))
    agent.recorder.record_outside()
    repo.write("app.py", content)
    agent.recorder.record_outside()
    with Recorder.open(repo.path) as later:
        assert recover_revert(later) == []
        assert place.read_bytes() == content
        assert_whole(repo, later)


def _revert_and_die(path: Path, number: int | None, files: int) -> None:
    """Kill the process right before it touches this file; the last number is after all of them."""
    left = files
    with Recorder.open(path) as recorder:
        delete = recorder.workspace.work_tree.delete_file

        def counting(*arguments: object) -> None:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            delete(*arguments)  # type: ignore[arg-type]  # passed on as they came

        recorder.workspace.work_tree.delete_file = counting  # type: ignore[method-assign, assignment]  # for one call
        recorder.journal.append_action = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign, assignment]  # for one call
        revert(recorder, select(number))


def test_every_dependent_is_named_not_only_the_first(numbered: UserRepo, agent: Agent) -> None:
    lines = (b"line 3\n", b"line 6\n", b"line 9\n")
    data = (numbered.path / "n.txt").read_bytes()
    for line in lines:
        data = data.replace(line, b"first " + line, 1)
    first = agent.edit("n.txt", data)
    later = [agent.replace("n.txt", b"first " + line, b"later " + line) for line in lines]
    untouched = agent.edit("other.txt", b"other\n")
    with pytest.raises(RevertConflict) as caught:
        revert(agent.recorder, select(first.n))
    assert caught.value.details is not None
    assert caught.value.details["dependents"] == [entry.n for entry in later]
    assert all(f"action {entry.n} " in str(caught.value) for entry in later)
    assert f"action {untouched.n} " not in str(caught.value)


def test_a_revert_that_an_edit_has_overwritten_is_applied_again(numbered: UserRepo, agent: Agent) -> None:
    """The client had read the file before the revert, and writes it after."""
    first = agent.replace("n.txt", b"line 3\n", b"LINE 3\n")
    stale = (numbered.path / "n.txt").read_bytes()
    prepared = prepare_revert(agent.recorder, select(first.n))
    apply_prepared(agent.recorder, prepared)
    assert restore_overwritten(agent.recorder, prepared.plan) == []

    numbered.write("n.txt", stale.replace(b"line 9\n", b"LINE 9\n"))
    assert restore_overwritten(agent.recorder, prepared.plan) == ["n.txt"]
    assert (numbered.path / "n.txt").read_bytes() == LINES.replace(b"line 9\n", b"LINE 9\n")
    assert replayed(agent.recorder) == on_disk(numbered)

    # What is written later in view of the revert stays, also where the revert was.
    for wanted in (LINES.replace(b"line 3\n", b"three\n"), b"another file\n"):
        numbered.write("n.txt", wanted)
        assert restore_overwritten(agent.recorder, prepared.plan) == []
        assert (numbered.path / "n.txt").read_bytes() == wanted
    (numbered.path / "n.txt").unlink()
    assert restore_overwritten(agent.recorder, prepared.plan) == []
