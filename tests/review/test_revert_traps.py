"""Cases in which other undo tools were measured to fail."""

import pytest

from chorus.review.operations import Selection, revert
from chorus.review.revert.apply import NothingToRevert
from tests.history.agent_at_work import Agent, action, on_disk
from tests.history.invariants import assert_whole
from tests.repos import UserRepo


def revert_change(agent: Agent, number: int | None) -> None:
    revert(agent.recorder, Selection([str(number)]))


def test_ccundo_1_the_occurrence_that_was_edited_is_the_one_reverted(repo: UserRepo, agent: Agent) -> None:
    text = b"x = 1\nfoo()\nx = 1\nbar()\nx = 1\n"
    agent.edit("a.py", text)
    third = agent.edit("a.py", text[: -len(b"x = 1\n")] + b"x = 2\n")
    repo.write("a.py", b"x = 2\n" + (repo.path / "a.py").read_bytes())
    revert_change(agent, third.n)
    assert (repo.path / "a.py").read_bytes() == b"x = 2\n" + text


def test_ccundo_2_replacement_patterns_are_plain_text(repo: UserRepo, agent: Agent) -> None:
    agent.edit("a.txt", b"price: $& \\0 \\1 .* [x]\n")
    second = agent.edit("a.txt", b"price: $1 $` $' \\n\n")
    revert_change(agent, second.n)
    assert (repo.path / "a.txt").read_bytes() == b"price: $& \\0 \\1 .* [x]\n"


def test_ccundo_3_a_failed_edit_has_nothing_to_revert(repo: UserRepo, agent: Agent) -> None:
    place = repo.write("a.txt", b"new text that was always here\n")
    agent.recorder.start()
    call = action("toolu_failed", place, status="failed", old_string="old", new_string="new")
    agent.recorder.record_unchanged(call)
    (entry,) = agent.recorder.entries()
    before = on_disk(repo)
    with pytest.raises(NothingToRevert, match="failed"):
        revert_change(agent, entry.n)
    assert on_disk(repo) == before


def test_ccundo_4_a_file_replaced_by_write_is_restored_not_deleted(repo: UserRepo, agent: Agent) -> None:
    over = agent.edit("app.py", b"all new\n", tool="Write")
    revert_change(agent, over.n)
    assert (repo.path / "app.py").read_bytes() == b"x = 1\ny = 2\n"


def test_stepback_1_user_edits_before_between_and_after_survive(repo: UserRepo, agent: Agent) -> None:
    lines = [b"line %d\n" % number for number in range(20)]
    repo.write("a.txt", b"".join(lines))
    agent.recorder.start()
    repo.write("a.txt", b"before\n" + b"".join(lines))
    edit = agent.replace("a.txt", b"line 10\n", b"LINE 10\n")
    now = (repo.path / "a.txt").read_bytes().replace(b"line 5\n", b"between\n")
    repo.write("a.txt", now)
    agent.edit("b.txt", b"b\n")
    repo.write("a.txt", now + b"after\n")
    repo.write("only-mine.txt", b"mine\n")
    revert_change(agent, edit.n)
    kept = (repo.path / "a.txt").read_bytes()
    assert kept == now.replace(b"LINE 10\n", b"line 10\n") + b"after\n"
    assert (repo.path / "only-mine.txt").read_bytes() == b"mine\n"


def test_stepback_2_eight_quick_edits_are_eight_actions(repo: UserRepo, agent: Agent) -> None:
    edits = [agent.edit(f"f{number}.txt", b"x\n") for number in range(8)]
    assert len({entry.commit for entry in edits}) == 8
    revert_change(agent, edits[3].n)
    there = [number for number in range(8) if (repo.path / f"f{number}.txt").exists()]
    assert there == [0, 1, 2, 4, 5, 6, 7]


def test_stepback_3_ignored_files_and_nested_repositories_are_left_alone(
    repo: UserRepo, agent: Agent
) -> None:
    nested = UserRepo(repo.path / "nested")
    nested.path.mkdir()
    nested.git("init", "-q")
    nested.write("inside.txt", b"theirs\n")
    repo.write(".env", b"SECRET=1\n")

    def change() -> None:
        repo.write("app.py", b"x = 5\ny = 2\n")
        repo.write(".env", b"SECRET=2\n")
        nested.write("inside.txt", b"changed\n")

    made = agent.bash(change)
    revert_change(agent, made.n)
    assert (repo.path / "app.py").read_bytes() == b"x = 1\ny = 2\n"
    assert (repo.path / ".env").read_bytes() == b"SECRET=2\n"
    assert (nested.path / "inside.txt").read_bytes() == b"changed\n"


def test_stepback_4_a_failing_clean_filter_stops_nothing(repo: UserRepo, agent: Agent) -> None:
    repo.git("config", "filter.broken.clean", "false")
    repo.git("config", "filter.broken.required", "true")
    repo.write(".gitattributes", b"*.dat filter=broken\n")
    agent.edit("a.dat", b"one\n")
    second = agent.edit("a.dat", b"two\n")
    revert_change(agent, second.n)
    assert (repo.path / "a.dat").read_bytes() == b"one\n"
    other = agent.edit("b.txt", b"b\n")
    revert_change(agent, other.n)
    assert not (repo.path / "b.txt").exists()


def test_reverting_a_turn_of_many_files_restores_the_disk(repo: UserRepo, agent: Agent) -> None:
    agent.recorder.start()
    before = on_disk(repo)

    def change() -> None:
        (repo.path / "run.sh").chmod(0o644)
        (repo.path / "app.py").rename(repo.path / "moved.py")
        (repo.path / "link").unlink()
        repo.write("deep/new/file.bin", b"\0\1")
        repo.write("README.md", b"a\r\nb\r\n")

    agent.bash(change)
    agent.edit("notes.txt", None)
    revert(agent.recorder, Selection(turns=["turn-1"]))
    assert on_disk(repo) == before
    assert not (repo.path / "deep").exists()
    assert_whole(repo, agent.recorder)
