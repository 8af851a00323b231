"""Old records are dropped unless they are open, young or on a lane."""

import pytest

from chorus.commands.gc import forget_old
from chorus.errors import UsageError
from chorus.history.recorder import Recorder
from chorus.history.retention import forget_old_records
from chorus.review.drop import drop, restore
from chorus.review.operations import Selection, revert
from chorus.store.maintenance.sweep import sweep
from chorus.store.repository import Repository
from tests.history.agent_at_work import Agent, action, on_disk, replayed
from tests.history.invariants import assert_whole
from tests.repos import UserRepo

LATER = 10**11


def test_reviewed_actions_of_dropped_lanes_are_dropped_and_the_rest_stays(
    repo: UserRepo, recorder: Recorder
) -> None:
    old, new = Agent(repo, recorder, "old"), Agent(repo, recorder, "new")
    first = [old.edit("old.txt", b"%d\n" % number) for number in range(5)]
    last = [new.edit("new.txt", b"%d\n" % number) for number in range(3)]
    recorder.mark("kept", [str(entry.id) for entry in first])
    drop(recorder, str(first[0].lane))

    assert forget_old_records(recorder, LATER) == 6

    kept = [entry for entry in recorder.entries() if entry.id]
    assert [(entry.n, entry.id, entry.commit) for entry in kept] == [
        (entry.n, entry.id, entry.commit) for entry in last
    ]
    assert replayed(recorder) == on_disk(repo)
    sweep(recorder.workspace.repository, recorder.workspace.store)
    assert_whole(repo, recorder)
    assert new.edit("new.txt", b"more\n").n == 9
    with Recorder.open(repo.path) as again:
        assert len(again.entries()) == 4
        assert_whole(repo, again)


def test_a_reverted_action_is_dropped_together_with_its_revert(repo: UserRepo, recorder: Recorder) -> None:
    agent = Agent(repo, recorder)
    lane = str(agent.edit("gone.txt", b"one\n").lane)
    revert(recorder, Selection(["1"]))
    agent.edit("app.py", b"two\n")
    recorder.mark("kept", [str(entry.id) for entry in recorder.entries() if entry.n == 3])
    agent.edit("app.py", b"three\n")
    assert [entry.n for entry in recorder.entries() if entry.open] == [4]
    drop(recorder, lane)

    assert forget_old_records(recorder, LATER) == 4

    assert [entry.n for entry in recorder.entries()] == [4]
    assert_whole(repo, recorder)


def test_open_actions_young_records_and_existing_lanes_are_kept(repo: UserRepo, recorder: Recorder) -> None:
    agent = Agent(repo, recorder)
    entries = [agent.edit("app.py", b"%d\n" % number) for number in range(3)]
    assert forget_old_records(recorder, LATER) == 0
    recorder.mark("kept", [str(entry.id) for entry in entries])
    assert forget_old_records(recorder, LATER) == 0
    drop(recorder, None)
    assert forget_old_records(recorder, 0) == 0
    assert len(recorder.entries()) == 3


def test_another_process_notices_that_the_oldest_records_are_gone(repo: UserRepo, recorder: Recorder) -> None:
    agent = Agent(repo, recorder)
    entries = [agent.edit("app.py", b"%d\n" % number) for number in range(4)]
    recorder.mark("kept", [str(entry.id) for entry in entries])
    with Recorder.open(repo.path) as other:
        assert len(other.entries()) == 4
        drop(recorder, None)
        assert forget_old_records(recorder, LATER) == 4
        assert [entry.n for entry in other.entries()] == [4]
        assert Agent(repo, other, "b").edit("app.py", b"again\n").n == 5
        assert_whole(repo, other)


def test_gc_drops_old_records_by_the_users_setting(repo: UserRepo, recorder: Recorder) -> None:
    agent = Agent(repo, recorder)
    entries = [agent.edit("app.py", b"%d\n" % number) for number in range(4)]
    recorder.mark("kept", [str(entry.id) for entry in entries])
    drop(recorder, None)
    repository = Repository.open(repo.path)
    assert forget_old(repository) == 0
    repo.git("config", "chorus.keepDays", "7")
    assert forget_old(Repository.open(repo.path)) == 0
    repo.git("config", "chorus.keepDays", "soon")
    with pytest.raises(UsageError, match="soon"):
        forget_old(Repository.open(repo.path))


def test_a_commit_seen_before_old_records_were_dropped_is_not_found_again_after_a_restart(
    repo: UserRepo,
) -> None:
    with Recorder.open(repo.path) as recorder:
        entries = [Agent(repo, recorder).edit("app.py", b"%d\n" % number) for number in range(4)]
        recorder.mark("kept", [str(entry.id) for entry in entries])
        drop(recorder, None)
        repo.git("commit", "-q", "--allow-empty", "-m", "mine")
        recorder.record_outside()
        assert forget_old_records(recorder, LATER) == 4
    repo.write("app.py", b"agent\n")
    with Recorder.open(repo.path) as recorder:
        recorder.record_named_paths([action("t1", repo.path / "app.py")])
        assert recorder.lanes.all()[-1].base == repo.git("rev-parse", "HEAD").strip()
        marks = [line for line in recorder.journal.marks.lines if line["kind"] == "head"]
        assert {line["reason"] for line in marks} == {"commit: mine"}


def test_a_lane_of_which_half_was_dropped_can_be_restored(repo: UserRepo, recorder: Recorder) -> None:
    agent = Agent(repo, recorder)
    made = agent.edit("new.txt", b"1\n")
    recorder.mark("kept", [str(made.id)])
    agent.edit("app.py", b"two\n")
    drop(recorder, str(made.lane))
    assert forget_old_records(recorder, LATER) == 2
    restore(recorder, str(made.lane))
    assert_whole(repo, recorder)
    agent.edit("app.py", b"three\n")
    assert_whole(repo, recorder)


def test_a_process_that_missed_a_rewrite_of_the_history_knows_every_lane(
    repo: UserRepo, recorder: Recorder
) -> None:
    old = Agent(repo, recorder, "old")
    gone = [old.edit("old.txt", b"%d\n" % number) for number in range(3)]
    recorder.mark("kept", [str(entry.id) for entry in gone])
    with Recorder.open(repo.path) as away:
        assert len(away.log.lanes()) == 1
        drop(recorder, str(gone[0].lane))
        old.edit("old.txt", b"on another lane\n")
        assert forget_old_records(recorder, LATER) == 4
        new = Agent(repo, recorder, "new")
        for number in range(6):
            new.edit("new.txt", b"%d\n" % number)
        assert away.log.lanes() == recorder.log.lanes()
        assert len(away.log.lanes()) == 2


def test_a_tree_that_a_sweep_removed_is_written_again_for_the_same_change(
    repo: UserRepo, recorder: Recorder
) -> None:
    agent = Agent(repo, recorder)
    before = (repo.path / "run.sh").read_bytes()
    made = agent.edit("run.sh", b"agent\n")
    repo.write("run.sh", before)
    repo.write("notes.txt", b"other\n")
    recorder.record_outside()
    drop(recorder, made.lane)
    recorder.workspace.store._loose._recent.clear()  # it ends long before the grace period of a sweep
    sweep(recorder.workspace.repository, recorder.workspace.store, grace_seconds=-1)
    again = agent.edit("run.sh", b"agent\n")
    assert again.lane != made.lane
    assert_whole(repo, recorder)
