"""Calls of several sessions in one file, reported in another order than they wrote."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.history.recorder import Recorder
from chorus.model.action import Action, Call, ChangeReport, FileReport, ReportHunk, WriteScope
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.outcomes import ActionClosed, CallOpened
from chorus.review.operations import Selection, revert
from chorus.watcher.work_trees import WatchedTree
from tests.history.agent_at_work import Agent, action, entry_of, on_disk, patch_of, replayed, statuses
from tests.repos import UserRepo

ROWS = "".join(f"row {number}\n" for number in range(20))


@pytest.fixture
def tree(repo: UserRepo) -> Iterator[WatchedTree]:
    repo.write("rows.txt", ROWS.encode())
    repo.commit("rows")
    made = WatchedTree(repo.path, wake=lambda: None)
    made.start()
    yield made
    made.close()


def call(name: str, place: Path) -> CallOpened:
    return CallOpened(
        Call(
            id=ToolUseId(name), tool="Edit", input={"file_path": str(place)}, session=SessionId(name),
            turn=None, agent=None, paths=(str(place),), write_scope=WriteScope.NAMED, lead_text=None,
            message=None, time=None,
        )
    )  # fmt: skip


def edited(name: str, place: Path, before: str, old: str, new: str) -> Action:
    at = before.splitlines().index(old) + 1
    report = FileReport(str(place), before=before, hunks=(ReportHunk(at, 1, at, 1, ["-" + old, "+" + new]),))
    both = ChangeReport((report,), (str(place),))
    return action(name, place, session=name, report=both, old_string=old, new_string=new)


async def both_write_and_ann_ends(tree: WatchedTree, repo: UserRepo) -> None:
    """Two calls open, both write, bob first; ann's end is reported first."""
    place = repo.path / "rows.txt"
    await tree.feed([call("bob", place), call("ann", place)], source="hook", is_waiting=lambda: True)
    first = ROWS.replace("row 15", "bob was here")
    repo.write("rows.txt", first.replace("row 5", "ann was here").encode())
    ann = edited("ann", place, first, "row 5", "ann was here")
    await tree.feed([ActionClosed(ann)], source="hook", is_waiting=lambda: True)


async def bob_ends(tree: WatchedTree, repo: UserRepo) -> None:
    bob = edited("bob", repo.path / "rows.txt", ROWS, "row 15", "bob was here")
    await tree.feed([ActionClosed(bob)], source="hook", is_waiting=lambda: True)


async def test_an_earlier_change_of_another_open_call_is_left_to_it(
    tree: WatchedTree, repo: UserRepo
) -> None:
    await both_write_and_ann_ends(tree, repo)
    await tree.record_outside(grace_seconds=0)
    assert statuses(tree.recorder) == []

    await bob_ends(tree, repo)
    assert statuses(tree.recorder) == ["committed", "committed"]
    assert patch_of(repo, entry_of(tree.recorder, "ann").commit) == ["-row 5", "+ann was here"]
    assert patch_of(repo, entry_of(tree.recorder, "bob").commit) == ["-row 15", "+bob was here"]
    assert replayed(tree.recorder) == on_disk(repo)


async def test_a_call_that_never_ends_is_not_waited_for_forever(repo: UserRepo) -> None:
    repo.write("rows.txt", ROWS.encode())
    repo.commit("rows")
    tree = WatchedTree(repo.path, wake=lambda: None, hold_seconds=0)
    tree.start()
    await both_write_and_ann_ends(tree, repo)
    assert statuses(tree.recorder) == ["outside", "committed"]

    await bob_ends(tree, repo)
    # What was recorded as outside is given back to the call that is reported after all.
    assert statuses(tree.recorder) == ["outside", "committed", "outside", "committed"]
    late = entry_of(tree.recorder, "bob")
    assert patch_of(repo, late.commit) == ["-row 15", "+bob was here"]
    tree.close()


async def test_held_calls_are_recorded_when_the_watcher_ends(tree: WatchedTree, repo: UserRepo) -> None:
    await both_write_and_ann_ends(tree, repo)
    tree.close()
    again = WatchedTree(repo.path, wake=lambda: None)
    assert patch_of(repo, entry_of(again.recorder, "ann").commit) == ["-row 5", "+ann was here"]
    again.close()


def test_a_revert_that_was_cut_off_is_finished_when_a_watcher_starts(
    repo: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Recorder.open(repo.path) as recorder:
        entry = Agent(repo, recorder).edit("app.py", b"x = 2\n")
        with monkeypatch.context() as patched:
            patched.setattr("chorus.review.revert.apply.write_files", die)
            with pytest.raises(KeyboardInterrupt):
                revert(recorder, Selection([str(entry.n)]))
    tree = WatchedTree(repo.path, wake=lambda: None)
    tree.start()
    assert (repo.path / "app.py").read_bytes() == b"x = 1\ny = 2\n"
    assert entry_of(tree.recorder, entry.id or "").status == "reverted"
    tree.close()


def die(*_: object) -> None:
    raise KeyboardInterrupt


async def test_a_call_of_which_only_the_end_is_reported_keeps_its_change(repo: UserRepo) -> None:
    """The hook before the call was killed, or added too late: the file was not looked at before the edit."""
    repo.write("rows.txt", ROWS.encode())
    repo.commit("rows")
    tree = WatchedTree(repo.path, wake=lambda: None, hold_seconds=0)
    tree.start()
    place = repo.path / "rows.txt"
    saved = ROWS.replace("row 2\n", "the user's line\n")
    repo.write("rows.txt", saved.replace("row 5", "ann was here").encode())
    ann = edited("ann", place, saved, "row 5", "ann was here")
    await tree.feed([call("ann", place), ActionClosed(ann)], source="hook", is_waiting=lambda: True)

    assert statuses(tree.recorder) == ["outside", "committed"]
    assert patch_of(repo, entry_of(tree.recorder, "ann").commit) == ["-row 5", "+ann was here"]
    assert replayed(tree.recorder) == on_disk(repo)
    tree.close()
