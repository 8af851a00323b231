"""What one work tree records at once, what it holds back, and what it records in a thread."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from chorus.history.disk_changes.attribution import EndedCall, paths_of_calls
from chorus.history.recorder import Recorder
from chorus.model.action import ChangeReport
from chorus.model.ids import RepoPath, ToolUseId
from chorus.model.outcomes import ActionClosed, StatusCorrected
from chorus.watcher import work_trees
from chorus.watcher.recorder_pool import RecorderPool
from chorus.watcher.work_trees import WatchedTree
from tests.history.agent_at_work import action, bash, reported
from tests.repos import UserRepo
from tests.waiting import wait_for
from tests.watcher.clock import Clock
from tests.watcher.test_work_tree_windows import (
    facts,
    moment,
    needs_barriers,
    opened,
    record_outside,
    settle,
    tell,
)

Result = TypeVar("Result")


@dataclass
class Pool:
    """Runs what a thread would do at once, and notes where."""

    used: list[Path] = field(default_factory=list)
    rewinds: list[object] = field(default_factory=list)

    async def use(self, work_tree: Path, work: Callable[[Recorder], Result]) -> Result:
        self.used.append(work_tree)
        with Recorder.open(work_tree) as recorder:
            result = work(recorder)
            self.rewinds.append(recorder.journal.is_rewind)
        return result


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def wakes() -> list[str]:
    return []


@pytest.fixture
def tree(repo: UserRepo, pool: Pool, wakes: list[str]) -> Iterator[WatchedTree]:
    tree = WatchedTree(repo.path, wake=lambda: wakes.append("wake"), pool=cast(RecorderPool, pool))
    tree.start()
    settle(tree)
    pool.used.clear()
    pool.rewinds.clear()
    yield tree
    tree.close()


def record_all(tree: WatchedTree) -> None:
    asyncio.run(tree.settle())
    settle(tree)


def test_a_tree_that_starts_is_looked_at_at_once(repo: UserRepo) -> None:
    wakes: list[str] = []
    tree = WatchedTree(repo.path, wake=lambda: wakes.append("wake"))
    assert wakes == []
    tree.start()
    assert wakes != []
    assert (tree.any_held, tree.is_new, tree.more_to_come) == (False, True, False)
    tree.close()


@needs_barriers
def test_few_small_files_are_recorded_on_the_loop_and_others_in_a_thread(
    tree: WatchedTree, repo: UserRepo, pool: Pool
) -> None:
    repo.write("small.txt", b"small\n")
    record_all(tree)
    assert pool.used == []
    repo.write("large.txt", b"x" * (work_trees.MAX_QUICK_BYTES + 1))
    record_all(tree)
    assert pool.used == [repo.path]
    assert pool.rewinds == [tree.recorder.journal.is_rewind]
    assert [paths for _, _, paths in facts(tree)][-2:] == [("small.txt",), ("large.txt",)]
    (repo.path / "large.txt").write_bytes(b"small again\n")  # what it was is read as well
    record_all(tree)
    assert pool.used == [repo.path] * 2


def test_what_is_recorded_on_the_loop_is_limited(
    tree: WatchedTree, repo: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_trees, "MAX_QUICK_PATHS", 3)
    monkeypatch.setattr(work_trees, "MAX_QUICK_BYTES", 100)
    for name in "abcdef":
        repo.write(f"many/{name}", b"1")
    for name in "ab":
        repo.write(f"few/{name}", b"1")
    repo.write("half", b"1" * 60)
    repo.write("other", b"1" * 41)
    repo.write("full", b"1" * 100)
    cases: list[tuple[list[str], bool]] = [
        ([], True),
        (["few/a", "few/b", "many/a", "many/b"], True),
        (["few/a", "few/b", "many/a", "many/b", "many/c"], False),
        (["few"], True),
        (["many"], True),  # as many as are counted in a directory
        (["many", "few"], False),
        (["full"], True),
        (["half", "half"], False),
        (["half", "other"], False),
        (["missing"], True),
        (["nul\0"], True),
    ]
    assert [tree._is_quick(where) for where, _ in cases] == [quick for _, quick in cases]
    record_all(tree)
    for name in ("half", "other"):
        (repo.path / name).unlink()
    assert not tree._is_quick(["half", "other"])
    assert tree._is_quick(["half"])


def ended(name: str, *paths: str, where: set[str] | None, report: tuple[str, ...] | None = None) -> EndedCall:
    changes = None if report is None else ChangeReport((), report)
    return EndedCall(action(name, *paths, report=changes), cast(Any, where))


def test_where_ended_calls_may_have_written() -> None:
    one, two = ended("a", "/x", where={"y"}), ended("b", "/z", where=set())
    assert paths_of_calls([one, two]) == ["/x", "y", "/z"]
    assert paths_of_calls([one, ended("c", where=None)]) is None
    assert paths_of_calls([]) == []
    assert set(work_trees._may_have_written(one)) == {"/x", "y"}
    listed = ended("d", "/x", where=None, report=("/listed",))
    assert set(work_trees._may_have_written(listed)) == {"/x", "/listed"}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(work_trees, "time", clock)
    return clock


async def hold(tree: WatchedTree, repo: UserRepo, name: str, path: str) -> None:
    tree.more_to_come = True
    done = action(name, repo.write(path, b"by a call\n"))
    await tree.feed([ActionClosed(done)], source="hook", is_waiting=None)
    tree.more_to_come = False


async def test_calls_that_end_while_more_events_wait_are_recorded_together(
    tree: WatchedTree, repo: UserRepo, wakes: list[str], clock: Clock
) -> None:
    wakes.clear()
    await hold(tree, repo, "t1", "one.txt")
    assert wakes != []
    clock.now = 102
    await hold(tree, repo, "t2", "two.txt")
    assert tree._held_until == 103  # the first of them began to wait
    assert tree.may_record_outside(grace_seconds=600)
    assert facts(tree) == []
    assert tree.has_changes
    await tree.record_held()
    assert facts(tree) == [("committed", "t1", ("one.txt",)), ("committed", "t2", ("two.txt",))]
    assert (tree.any_held, tree._held) == (False, [])


async def test_nothing_held_is_nothing_to_record(tree: WatchedTree, wakes: list[str], clock: Clock) -> None:
    wakes.clear()
    await tree.record_held()
    assert (wakes, tree._held_until, tree.any_held) == ([], 0.0, False)
    assert not await tree.record_outside(grace_seconds=0)


async def test_what_a_held_call_may_have_written_is_not_outside(tree: WatchedTree, repo: UserRepo) -> None:
    await hold(tree, repo, "t1", "one.txt")
    repo.write("mine.txt", b"by the user\n")
    await tree.settle()
    assert await tree.record_outside(grace_seconds=0)  # the held call is left
    assert facts(tree) == [("outside", None, ("mine.txt",))]
    await tree.record_held()
    assert facts(tree)[-1] == ("committed", "t1", ("one.txt",))
    assert not await tree.record_outside(grace_seconds=0)


async def hold_command(tree: WatchedTree) -> None:
    """A command that may have written anywhere has ended, and is not recorded yet."""
    tree._held = [EndedCall(bash("held"), None)]
    tree._held_source = "hook"
    tree._held_until = float("inf")


async def test_while_a_command_is_held_nothing_is_outside(tree: WatchedTree, repo: UserRepo) -> None:
    await hold_command(tree)
    repo.write("made.txt", b"by the command or the user\n")
    await tree.settle()
    assert await tree.record_outside(grace_seconds=0)
    command = bash("t1")
    tree.windows.feed(opened(command))
    await tree.record_while_asked(lambda call: True)
    assert facts(tree) == []
    tree._held = []


async def test_held_calls_are_recorded_when_a_command_that_waits_starts_alone(
    tree: WatchedTree, repo: UserRepo
) -> None:
    await hold(tree, repo, "t1", "one.txt")
    repo.write("mine.txt", b"by the user\n")
    await tree.feed([opened(bash("t2"))], source="hook", is_waiting=lambda: True)
    assert sorted(facts(tree), key=str) == [
        ("committed", "t1", ("one.txt",)),
        ("outside", None, ("mine.txt",)),
    ]


@pytest.mark.parametrize("is_waiting", [None, False])
async def test_held_calls_stay_held_when_the_command_that_starts_does_not_wait(
    tree: WatchedTree, repo: UserRepo, is_waiting: bool | None
) -> None:
    await hold(tree, repo, "t1", "one.txt")
    tree.more_to_come = True
    waits = None if is_waiting is None else (lambda: False)
    await tree.feed([opened(bash("t2"))], source="hook", is_waiting=waits)
    assert facts(tree) == []
    assert tree.any_held
    tree.more_to_come = False


def test_a_corrected_status_reaches_the_history(tree: WatchedTree, repo: UserRepo) -> None:
    done = action("t1", repo.write("app.py", b"new\n"))
    tell(tree, ActionClosed(done))
    corrected: list[Any] = []
    tree.recorder.correct_status = lambda *facts: corrected.append(facts)  # type: ignore[method-assign]  # to see the calls
    tell(tree, StatusCorrected(ToolUseId("t1"), "failed", "succeeded"))
    assert corrected == [("t1", "failed")]


def test_a_failed_call_is_noted_without_a_change(tree: WatchedTree, repo: UserRepo) -> None:
    tell(tree, ActionClosed(action("t1", repo.path / "app.py", status="failed")))
    assert [(status, name) for status, name, _ in facts(tree)] == [("failed", "t1")]


@pytest.mark.parametrize(
    ("report", "late", "lost", "listed"),
    [
        (("a.txt",), True, False, True),
        (("a.txt",), False, True, True),
        (("a.txt",), False, False, False),
        (None, True, False, False),
    ],
)
@needs_barriers
async def test_the_list_of_the_client_decides_where_the_watch_cannot(
    repo: UserRepo, report: tuple[str, ...] | None, late: bool, lost: bool, listed: bool
) -> None:
    tree = WatchedTree(repo.path, wake=lambda: None)
    tree.start()
    if not lost:
        await tree.record_outside(grace_seconds=0)
        repo.write("b.txt", b"b\n")
        await tree.settle()
    tree._late = late
    done = bash("t1", report=None if report is None else ChangeReport((), report))
    assert tree._paths_for(done, None) == ({"a.txt"} if listed else {RepoPath("b.txt")})
    tree.close()


async def test_before_an_edit_the_paths_of_held_calls_are_not_outside(
    tree: WatchedTree, repo: UserRepo
) -> None:
    await hold(tree, repo, "t1", "one.txt")
    two = repo.write("two.txt", b"by the user\n")
    tree.more_to_come = True
    edit = action("t2", repo.path / "one.txt", two)
    await tree.feed([opened(edit)], source="hook", is_waiting=lambda: True)
    assert facts(tree) == [("outside", None, ("two.txt",))]
    tree.more_to_come = False


async def test_before_an_edit_nothing_is_outside_while_a_command_is_held(
    tree: WatchedTree, repo: UserRepo
) -> None:
    """Without barriers, nothing shows which paths the command wrote."""
    await hold_command(tree)
    made = repo.write("made.txt", b"by the command or the user\n")
    await tree.feed([opened(action("t1", made))], source="hook", is_waiting=lambda: True)
    assert facts(tree) == []
    tree._held = []


@needs_barriers
async def test_a_command_reported_afterwards_leaves_what_was_written_since_to_its_window(
    tree: WatchedTree, repo: UserRepo
) -> None:
    repo.write("before.txt", b"by the user\n")
    repo.write("since.txt", b"by the command\n")
    os.utime(repo.path / "since.txt", (4_200_000_000, 4_200_000_000))
    await tree.settle()
    command = bash("t1", time="2100-01-02T03:04:05Z")
    begun = opened(command)
    begun = begun._replace(call=begun.call._replace(time=command.time))
    await tree.feed([begun], source="transcript", is_waiting=None)
    assert facts(tree) == [("outside", None, ("before.txt",))]
    await tree.feed([ActionClosed(command)], source="transcript", is_waiting=None)
    assert facts(tree)[-1] == ("committed", "t1", ("since.txt",))


async def test_a_command_read_while_more_was_reported_is_recorded_together_with_that(
    tree: WatchedTree, repo: UserRepo
) -> None:
    """In a large work tree the next call is reported and writes while the command's change is looked for."""
    repo.write("n.txt", b"one\ntwo\n")
    await tree.settle()
    assert not await tree.record_outside(grace_seconds=0)
    command, place = bash("t1"), repo.path / "n.txt"
    unread = [True]
    tree.has_unread = lambda: bool(unread)
    tree.watch.stop()  # so everything is looked at
    await tree.feed([opened(command)], source="hook", is_waiting=lambda: True)
    repo.write("n.txt", b"ONE\nTWO\n")  # the first line by the command, the second by the edit
    await tree.feed([ActionClosed(command)], source="hook", is_waiting=lambda: True)
    assert tree.any_held
    unread.clear()
    edit = action("t2", place, report=reported(place, "ONE\ntwo\n", "ONE\nTWO\n"))
    await tree.feed([ActionClosed(edit)], source="hook", is_waiting=lambda: True)
    assert not tree.any_held
    assert facts(tree)[1:] == [("committed", "t1", ("n.txt",)), ("committed", "t2", ("n.txt",))]
    assert [entry.lines for entry in tree.recorder.entries()][1:] == [(1, 1), (1, 1)]


def test_a_change_that_a_scan_found_is_outside_only_after_a_call_could_claim_it(
    tree: WatchedTree, repo: UserRepo
) -> None:
    """Without a file watch nothing says when a file was written."""

    def look_after_grace() -> bool:
        time.sleep(0.2)
        return record_outside(tree, grace_seconds=0.2)

    settle(tree)
    tree.watch.stop()
    place = repo.write("app.py", b"by the edit\n")
    repo.write("mine.txt", b"by the user\n")
    assert record_outside(tree, grace_seconds=600)
    assert facts(tree) == []
    tell(tree, ActionClosed(action("t1", place)))
    repo.write("mine.txt", b"by the user, who still writes\n")
    assert not look_after_grace()
    assert facts(tree) == [("committed", "t1", ("app.py",))]
    wait_for(lambda: not look_after_grace(), what="the next scan, and a look after it")
    assert facts(tree)[1:] == [("outside", None, ("mine.txt",))]
    repo.write("mine.txt", b"again\n")
    assert not record_outside(tree)
    assert len(facts(tree)) == 3


def test_files_that_change_between_a_scan_and_the_look_after_it_delay_no_other(
    tree: WatchedTree, repo: UserRepo
) -> None:
    settle(tree)
    tree.watch.stop()
    repo.write("busy.txt", b"1\n")
    place = repo.write("made", b"a file\n")
    repo.write("still.txt", b"still\n")
    assert record_outside(tree, grace_seconds=600)
    repo.write("busy.txt", b"2\n")
    place.unlink()
    repo.write("made/inner.txt", b"now a directory\n")
    time.sleep(0.2)
    assert not record_outside(tree, grace_seconds=0.2)
    assert facts(tree) == [("outside", None, ("still.txt",))]
    settle(tree)
    assert {path for *_, paths in facts(tree) for path in paths} == {
        "still.txt",
        "busy.txt",
        "made/inner.txt",
    }


@needs_barriers
def test_a_change_is_outside_once_it_is_old_enough(tree: WatchedTree, repo: UserRepo) -> None:
    repo.write("mine.txt", b"by the user\n")
    asyncio.run(tree.settle())
    assert record_outside(tree, grace_seconds=600)
    assert not tree.may_record_outside(grace_seconds=600)
    assert facts(tree) == []
    assert not record_outside(tree)
    assert facts(tree) == [("outside", None, ("mine.txt",))]
    assert not tree.has_changes


@needs_barriers
async def test_what_was_written_after_a_call_had_ended_stays_for_the_next_look(
    tree: WatchedTree, repo: UserRepo
) -> None:
    repo.write("b.txt", b"b\n")
    await tree.settle()
    assert tree._paths_for(bash("t1"), 5.0) == set()
    assert tree.has_changes
    (repo.path / "c.txt").touch()
    await tree.settle()
    ended = moment()
    repo.write("c.txt", b"once more\n")
    await tree.settle()
    assert tree._paths_for(bash("t1"), ended) == {"b.txt", "c.txt"}
    assert tree._changed_paths.take().where == {"c.txt"}
    repo.write("b.txt", b"b\n")
    await tree.settle()
    assert tree._paths_for(bash("t1"), None) == {"b.txt"}
    assert not tree.has_changes


async def test_before_a_command_that_waits_a_tree_without_a_watch_is_scanned(
    tree: WatchedTree, repo: UserRepo
) -> None:
    tree.watch.stop()
    assert tree.watch.needs_scan
    repo.write("mine.txt", b"by the user\n")
    await tree.feed([opened(bash("t1"))], source="hook", is_waiting=lambda: True)
    assert facts(tree) == [("outside", None, ("mine.txt",))]


@needs_barriers
async def test_before_a_command_that_waits_nothing_is_recorded_where_nothing_changed(
    tree: WatchedTree, pool: Pool
) -> None:
    tree._is_quick = lambda where: False  # type: ignore[method-assign]  # as if the files were large
    await tree.feed([opened(bash("t1"))], source="hook", is_waiting=lambda: True)
    assert (pool.used, facts(tree)) == ([], [])
