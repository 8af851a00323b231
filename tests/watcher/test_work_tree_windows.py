"""Attribution of changes to calls in a real work tree, also after a watcher was killed."""

import asyncio
import itertools
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chorus.model.action import Action, Call, ChangeReport, FileReport, ReportHunk
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.outcomes import ActionClosed, BackgroundTaskEnded, CallOpened, LeadTextAdded, Outcome
from chorus.system.this_system import IS_LINUX
from chorus.watcher.sources.changed_paths import CLOCK_SLACK_SECONDS
from chorus.watcher.work_trees import WatchedTree
from tests.history.agent_at_work import action, bash
from tests.repos import UserRepo
from tests.waiting import wait_for

S = SessionId("session-a")
# Without barriers the whole tree is scanned, which finds the same changes, but not when they were made.
needs_barriers = pytest.mark.skipif(not IS_LINUX, reason="only the file watch of Linux has barriers")


@pytest.fixture
def tree(repo: UserRepo) -> Iterator[WatchedTree]:
    tree = WatchedTree(repo.path, wake=lambda: None)
    tree.start()
    yield tree
    tree.close()


def tell(
    tree: WatchedTree, *outcomes: Outcome, is_waiting: bool | None = None, at: float | None = None
) -> None:
    asyncio.run(
        tree.feed(
            outcomes,
            source="transcript" if is_waiting is None else "hook",
            is_waiting=None if is_waiting is None else lambda: is_waiting,
            reported_at=at,
        ),
    )


def opened(of: Action) -> CallOpened:
    return CallOpened(Call(of.id, of.tool, of.input, of.paths, of.write_scope, session=of.session))


def facts(tree: WatchedTree) -> list[tuple[str, str | None, tuple[str, ...]]]:
    return [(entry.status, entry.id, entry.paths) for entry in tree.recorder.entries()]


def moment() -> float:
    """A time that the times of files show to be after all writes so far and before all later ones."""
    now = time.time()
    time.sleep(3 * CLOCK_SLACK_SECONDS)
    return now


def iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def settle(tree: WatchedTree) -> None:
    """Everything that moved is recorded as outside."""
    wait_for(lambda: not record_outside(tree), what="a still work tree")


def record_outside(tree: WatchedTree, grace_seconds: float = 0) -> bool:
    return asyncio.run(tree.record_outside(grace_seconds=grace_seconds))


def test_a_change_from_before_a_held_call_is_not_its_own(tree: WatchedTree, repo: UserRepo) -> None:
    edit = action("t1", repo.path / "app.py")
    repo.write("app.py", b"mine\n")
    tell(tree, opened(edit), is_waiting=True)
    assert [status for status, _, _ in facts(tree)] == ["outside"]


def test_a_client_that_continues_during_the_read_may_have_written_what_was_read(
    tree: WatchedTree, repo: UserRepo
) -> None:
    edit = action("t1", repo.path / "app.py")
    answers = iter([True, False])  # held when asked first, gone on when asked after the look
    repo.write("app.py", b"its own\n")
    asyncio.run(tree.feed([opened(edit)], source="hook", is_waiting=lambda: next(answers)))
    assert facts(tree) == []
    tell(tree, ActionClosed(edit))
    assert facts(tree) == [("committed", "t1", ("app.py",))]


def test_changes_before_a_command_that_was_not_held_are_left_for_its_window(
    tree: WatchedTree, repo: UserRepo
) -> None:
    settle(tree)
    command = bash("t1")
    repo.write("made.txt", b"made\n")
    tell(tree, opened(command), is_waiting=False)
    assert facts(tree) == []
    tell(tree, ActionClosed(command), is_waiting=True)
    assert facts(tree) == [("committed", "t1", ("made.txt",))]


def test_a_file_moved_by_a_command_is_its_change_at_both_paths(tree: WatchedTree, repo: UserRepo) -> None:
    for directory in ("here", "there"):
        repo.write(f"{directory}/stays.txt", b"stays\n")
    repo.write("here/goes.txt", b"goes\n")
    settle(tree)
    before = len(facts(tree))
    command = bash("t1")
    tell(tree, opened(command), is_waiting=True)

    (repo.path / "here/goes.txt").rename(repo.path / "there/goes.txt")
    tell(tree, ActionClosed(command), is_waiting=True)

    settle(tree)
    assert facts(tree)[before:] == [("committed", "t1", ("here/goes.txt", "there/goes.txt"))]


def test_a_call_open_since_before_the_watch_is_known(tree: WatchedTree, repo: UserRepo) -> None:
    begun = bash("t1", run_in_background=True)
    tree.replay([opened(begun), ActionClosed(begun)])
    assert tree.windows.open
    assert facts(tree) == []
    repo.write("late.txt", b"late\n")
    tell(tree, BackgroundTaskEnded(S, begun.id, "task"))
    assert facts(tree) == [("committed", "t1-background", ("late.txt",))]


@pytest.mark.parametrize("is_new", [True, False])
def test_what_is_written_after_a_command_ended_is_not_its_change_however_late_it_is_read(
    tree: WatchedTree, repo: UserRepo, is_new: bool
) -> None:
    if not is_new:
        settle(tree)
    waits, writes = bash("t1"), bash("t2")
    tell(tree, opened(waits), is_waiting=True)
    repo.write("its.txt", b"its\n")
    ended = moment()
    repo.write("later.txt", b"later\n")
    tell(tree, ActionClosed(waits), is_waiting=False, at=ended)
    tell(tree, opened(writes), ActionClosed(writes), is_waiting=False, at=moment())
    settle(tree)
    assert facts(tree) == [("committed", "t1", ("its.txt",)), ("committed", "t2", ("later.txt",))]


@pytest.mark.parametrize("is_watched", [True, False])
def test_a_command_moved_to_the_background_keeps_what_it_wrote_until_then_however_late_it_is_read(
    tree: WatchedTree, repo: UserRepo, is_watched: bool
) -> None:
    settle(tree)
    if not is_watched:
        tree.watch.stop()
    command = bash("t1")._replace(background=True)
    repo.write("soon.txt", b"soon\n")
    moment()
    moved = moment()
    repo.write("late.txt", b"late\n")
    tell(tree, opened(command), ActionClosed(command, iso(moved)))
    tell(tree, BackgroundTaskEnded(S, command.id, "task", iso(moment())))
    wait_for(lambda: not asyncio.run(record_held(tree)), what="a call that is no longer held")
    assert facts(tree) == [
        ("committed", "t1", ("soon.txt",)),
        ("committed", "t1-background", ("late.txt",)),
    ]


@needs_barriers
@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("is_reported", [True, False])
def test_a_command_reported_late_gets_no_line_of_an_edit_that_is_not_reported_yet(
    tree: WatchedTree, repo: UserRepo, background: bool, is_reported: bool
) -> None:
    place = repo.write("app.py", b"a\nb\nc\n")
    settle(tree)
    report = _reported(place, "a\nb\nc\n", "a\nB\nc\n") if is_reported else None
    command = bash("t1", report=report)._replace(background=background)
    place.write_text("a\nB\nc\n")
    asyncio.run(tree.settle())
    ended = moment()
    edit = action("t2", place, report=_reported(place, "a\nB\nc\n", "a\nB\nC\n"))
    place.write_text("a\nB\nC\n")
    tell(tree, opened(command), ActionClosed(command, iso(ended)))
    tell(tree, opened(edit), ActionClosed(edit, iso(moment())))
    wait_for(lambda: not asyncio.run(record_held(tree)), what="a call that is no longer held")
    assert changed_lines(tree, "t1") == {"B"}
    assert changed_lines(tree, "t2") == {"C"}


def test_a_command_gets_no_line_of_an_edit_that_ended_before_it_and_is_read_after_it(
    tree: WatchedTree, repo: UserRepo
) -> None:
    """Each agent has a transcript of its own."""
    place = repo.write("app.py", b"a\nb\nc\n")
    settle(tree)
    command = bash("t1")
    tell(tree, opened(command))
    edit = action("t2", place, report=_reported(place, "a\nB\nc\n", "a\nB\nC\n"))
    place.write_text("a\nB\nC\n")
    ended = time.time()
    tell(tree, ActionClosed(command, iso(ended)))
    tell(tree, opened(edit), ActionClosed(edit, iso(ended - 0.01)))
    wait_for(lambda: not asyncio.run(record_held(tree)), what="a call that is no longer held")
    assert changed_lines(tree, "t1") == {"B"}
    assert changed_lines(tree, "t2") == {"C"}


@pytest.mark.parametrize("is_link", [False, True])
def test_what_nobody_reports_after_a_command_has_ended_is_outside(
    tree: WatchedTree, repo: UserRepo, is_link: bool
) -> None:
    place = repo.write("app.py", b"a\nb\nc\n")
    settle(tree)
    before = facts(tree)
    command = bash("t1")
    place.write_text("a\nB\nc\n")
    asyncio.run(tree.settle())
    ended = moment()
    if is_link:
        place.unlink()
        place.symlink_to("elsewhere")
    else:
        place.write_text("a\nB\nuser\n")
    tell(tree, opened(command), ActionClosed(command, iso(ended)))
    assert facts(tree) == before  # a call may yet be reported that wrote the last line
    wait_for(lambda: not asyncio.run(record_held(tree)), what="a call that is no longer held")
    settle(tree)
    assert set(facts(tree)[len(before) :]) == {("noop", "t1", ()), ("outside", None, ("app.py",))}


async def record_held(tree: WatchedTree) -> bool:
    await tree.record_held()
    return tree.any_held


def test_calls_that_nobody_watched_are_listed_in_the_order_in_which_they_ended(
    tree: WatchedTree, repo: UserRepo
) -> None:
    first, second = (action(f"t{n}", repo.write(f"{n}.txt", b"new\n")) for n in (1, 2))
    ended = time.time()
    outcomes = [opened(second), opened(first)]
    tell(tree, *outcomes, ActionClosed(second, iso(ended + 1)), ActionClosed(first, iso(ended)))
    assert [name for _, name, _ in facts(tree)] == ["t1", "t2"]


def test_the_time_of_a_file_says_nothing_on_a_disk_that_keeps_whole_seconds(
    tree: WatchedTree, repo: UserRepo
) -> None:
    command = bash("t1")
    tell(tree, opened(command), is_waiting=True)
    repo.write("its.txt", b"its\n")
    second = float(int(time.time()))
    os.utime(repo.path / "its.txt", (second + 0.9, second + 0.9))
    tell(tree, ActionClosed(command), is_waiting=False, at=second)
    assert facts(tree) == [("committed", "t1", ("its.txt",))]


def test_a_file_that_a_command_deleted_has_no_time_and_is_its_change(
    tree: WatchedTree, repo: UserRepo
) -> None:
    command = bash("t1")
    tell(tree, opened(command), is_waiting=True)
    (repo.path / "app.py").unlink()
    tell(tree, ActionClosed(command), is_waiting=False, at=time.time())
    assert facts(tree) == [("committed", "t1", ("app.py",))]


def test_the_first_scan_waits_for_calls_that_are_reported_late(tree: WatchedTree, repo: UserRepo) -> None:
    repo.write("app.py", b"written while no watcher ran\n")
    assert tree.is_new
    assert record_outside(tree, grace_seconds=60)
    assert facts(tree) == []
    tell(tree, ActionClosed(action("t1", repo.path / "app.py")))
    settle(tree)
    assert facts(tree) == [("committed", "t1", ("app.py",))]
    assert not tree.is_new


def test_commands_run_without_a_watcher_get_the_changes_the_client_lists(
    tree: WatchedTree, repo: UserRepo
) -> None:
    one = bash("t1", report=ChangeReport((), (str(repo.write("one.txt", b"1\n")),)))
    two = bash("t2", report=ChangeReport((), (str(repo.write("two.txt", b"2\n")),)))
    repo.write("mine.txt", b"the person's\n")
    tell(tree, opened(one), ActionClosed(one), opened(two), ActionClosed(two))
    settle(tree)
    assert facts(tree) == [
        ("committed", "t1", ("one.txt",)),
        ("committed", "t2", ("two.txt",)),
        ("outside", None, ("mine.txt",)),
    ]


def test_without_a_file_watch_changes_are_found_by_scanning(tree: WatchedTree, repo: UserRepo) -> None:
    settle(tree)
    tree.watch.stop()
    assert tree.watch.needs_scan
    repo.write("mine.txt", b"the person's\n")
    record_outside(tree)
    command = bash("t1")
    repo.write("made.txt", b"made\n")
    tell(tree, opened(command), ActionClosed(command))
    assert facts(tree) == [("outside", None, ("mine.txt",)), ("committed", "t1", ("made.txt",))]


def test_a_command_reported_late_gets_the_changes_the_client_lists(tree: WatchedTree, repo: UserRepo) -> None:
    settle(tree)
    one = bash("t1", report=ChangeReport((), (str(repo.write("one.txt", b"1\n")),)))
    edit = action("t2", repo.write("app.py", b"written since\n"))
    tell(tree, opened(one), is_waiting=False)
    tell(tree, ActionClosed(one), is_waiting=False)
    tell(tree, opened(edit), ActionClosed(edit), is_waiting=False)
    settle(tree)
    assert facts(tree) == [("committed", "t1", ("one.txt",)), ("committed", "t2", ("app.py",))]


def test_text_that_arrives_after_the_record_becomes_its_summary(tree: WatchedTree, repo: UserRepo) -> None:
    repo.write("app.py", b"new\n")
    edit = action("t1", repo.path / "app.py")
    tell(tree, ActionClosed(edit), LeadTextAdded(ToolUseId("t1"), "I rename it.", S))
    tell(tree, LeadTextAdded(ToolUseId("unknown"), "I do nothing.", S))
    assert [entry.summary for entry in tree.recorder.entries()] == ["I rename it"]


@pytest.mark.parametrize("texts", [("a\nb\n", "A\nb\n", "A\nB\n"), ("A\nB\n", "a\nB\n", "a\nb\n")])
def test_an_edit_beside_an_unfinished_one_gets_only_its_own_change(
    tree: WatchedTree, repo: UserRepo, texts: tuple[str, str, str]
) -> None:
    before, between, after = texts
    place = repo.write("app.py", before.encode())
    settle(tree)
    first = action("t1", place, report=_reported(place, before, between))
    second = action("t2", place, report=_reported(place, between, after))
    repo.write("app.py", after.encode())  # both are written before anybody tells of the first
    tell(tree, opened(first), opened(second), ActionClosed(first))
    tell(tree, ActionClosed(second))
    assert [patch(tree, name) for name in ("t1", "t2")] == [between.encode(), after.encode()]


def test_an_edit_reported_late_gets_only_the_change_the_client_reports(
    tree: WatchedTree, repo: UserRepo
) -> None:
    place = repo.write("app.py", b"a\nb\n")
    settle(tree)
    first = action("t1", place, report=_reported(place, "a\nb\n", "A\nb\n"))
    second = action("t2", place, report=_reported(place, "A\nb\n", "A\nB\n"))
    repo.write("app.py", b"A\nB\n")  # the client went on, and the call that wrote more is not reported yet
    tell(tree, opened(first), ActionClosed(first), is_waiting=False)
    tell(tree, opened(second), ActionClosed(second), is_waiting=False)
    assert [patch(tree, name) for name in ("t1", "t2")] == [b"A\nb\n", b"A\nB\n"]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_a_command_and_the_edits_around_it_keep_their_changes_in_any_order_of_reading(
    tree: WatchedTree, repo: UserRepo, order: tuple[int, ...]
) -> None:
    """The lines of a transcript are not in the order in which the calls ran."""
    texts = ["a\nb\nc\n", "A\nb\nc\n", "A\nB\nc\n", "A\nB\nC\n"]
    place = repo.write("app.py", texts[0].encode())
    settle(tree)
    reports = [_reported(place, before, after) for before, after in itertools.pairwise(texts)]
    # The report of a command has no text before.
    of_command = ChangeReport(tuple(file._replace(before=None) for file in reports[1].files), (str(place),))
    first, last = action("t1", place, report=reports[0]), action("t3", place, report=reports[2])
    command = bash("t2", report=of_command)
    repo.write("app.py", texts[3].encode())  # all three have written before anybody tells of the first
    calls = (first, command, last)
    for index in order:
        tell(tree, opened(calls[index]), ActionClosed(calls[index]))
    while tree.any_held:  # for as long as a call may still be reported
        asyncio.run(tree.record_held())
    assert sorted(name or status for status, name, _ in facts(tree)) == ["outside", "t1", "t2", "t3"]
    assert [changed_lines(tree, name) for name in ("t1", "t2", "t3")] == [{"A"}, {"B"}, {"C"}]


def changed_lines(tree: WatchedTree, name: str) -> set[str]:
    """The lines that this action added to the file."""
    entry = next(entry for entry in tree.recorder.entries() if entry.id == name)
    (edit,) = tree.recorder.edits(entry)
    before, after = (tree.recorder.workspace.read(side) or b"" for side in (edit.before, edit.after))
    return set(after.decode().split()) - set(before.decode().split())


def patch(tree: WatchedTree, name: str) -> bytes | None:
    """What the file held after this action."""
    entry = next(entry for entry in tree.recorder.entries() if entry.id == name)
    (edit,) = tree.recorder.edits(entry)
    return tree.recorder.workspace.read(edit.after)


def _reported(place: Path, before: str, after: str) -> ChangeReport:
    hunks = tuple(
        ReportHunk(n, 1, n, 1, [f"-{old}", f"+{new}"])
        for n, (old, new) in enumerate(zip(before.split(), after.split(), strict=True), 1)
        if old != new
    )
    return ChangeReport((FileReport(str(place), before, hunks=hunks),), (str(place),))


def test_a_change_while_the_user_is_asked_about_a_command_is_outside(
    tree: WatchedTree, repo: UserRepo
) -> None:
    command = bash("t1")
    tell(tree, opened(command), is_waiting=True)
    repo.write("app.py", b"by the user\n")
    asyncio.run(tree.settle())
    asyncio.run(tree.record_while_asked(lambda call: call.id == "t1"))
    assert facts(tree)[-1] == ("outside", None, ("app.py",))
    repo.write("app.py", b"by the user\ncommand\n")
    tell(tree, ActionClosed(command), is_waiting=True)
    assert changed_lines(tree, "t1") == {"command"}


def test_a_change_while_the_user_answers_is_left_for_the_command(tree: WatchedTree, repo: UserRepo) -> None:
    command = bash("t1")
    tell(tree, opened(command), is_waiting=True)
    repo.write("app.py", b"by the command\n")
    asyncio.run(tree.settle())
    answers = iter([True, False])  # asked when looked at first, answered once the files were read
    asyncio.run(tree.record_while_asked(lambda call: next(answers)))
    tell(tree, ActionClosed(command), is_waiting=True)
    assert facts(tree)[-1] == ("committed", "t1", ("app.py",))


def test_beside_another_command_nothing_is_outside_while_the_user_is_asked(
    tree: WatchedTree, repo: UserRepo
) -> None:
    tell(tree, opened(bash("t1")), opened(bash("t2")), is_waiting=True)
    before = facts(tree)
    repo.write("app.py", b"by the other command\n")
    asyncio.run(tree.settle())
    asyncio.run(tree.record_while_asked(lambda call: True))
    assert facts(tree) == before


@pytest.mark.parametrize("is_waiting", [True, False])
def test_a_command_that_starts_after_an_edit_gets_no_line_the_user_wrote_before_the_edit(
    tree: WatchedTree, repo: UserRepo, is_waiting: bool
) -> None:
    """The end of the edit is reported without waiting, so its record is held until it is clear."""
    place = repo.path / "app.py"
    place.write_text("a\nb\nc\nd\n")
    settle(tree)
    edit = action("t1", place, report=_reported(place, "a\nb\nuser\nd\n", "A\nb\nuser\nd\n"))
    tell(tree, opened(edit), is_waiting=True)
    place.write_text("A\nb\nuser\nd\n")
    tell(tree, ActionClosed(edit), is_waiting=False)
    command = bash("t2")
    tell(tree, opened(command), is_waiting=is_waiting)
    place.write_text("A\nb\nuser\nD\n")
    tell(tree, ActionClosed(command), is_waiting=True)
    wait_for(lambda: not asyncio.run(record_held(tree)), what="a call that is no longer held")
    assert changed_lines(tree, "t1") == {"A"}
    assert changed_lines(tree, "t2") == {"D"}
