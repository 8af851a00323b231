"""The timeline is in no list of git's, and git's garbage collection leaves what it reaches."""

import pytest

from chorus.history.log.disk_log import DiskLog
from chorus.history.recorder import Recorder
from chorus.history.timeline.timeline_log import OLD_REF_PREFIX
from chorus.store.maintenance.sweep import sweep
from tests.history.agent_at_work import Agent
from tests.history.invariants import assert_whole
from tests.repos import UserRepo

OLD_REF = f"{OLD_REF_PREFIX}main"


def test_no_git_command_lists_it(repo: UserRepo, recorder: Recorder, agent: Agent) -> None:
    before = repo.git("log", "--all", "--format=%H").split()
    lane = agent.edit("one.txt", b"1\n")
    assert repo.git("log", "--all", "--format=%H").split() == [str(lane.commit), *before]
    assert "refs/chorus" not in repo.git("for-each-ref")
    assert repo.fsck() == ""
    remote = repo.path.parent / "remote"
    repo.git("clone", "-q", "--mirror", str(repo.path), str(remote))
    assert recorder.timeline.tip not in repo.git("-C", str(remote), "rev-list", "--all").split()


def test_gc_keeps_the_users_objects_that_only_the_timeline_reaches(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    repo.write("big.txt", b"the user's own text\n")
    repo.git("add", "big.txt")
    repo.git("commit", "-qm", "Big")
    recorder.start()
    lane = agent.edit("one.txt", b"1\n").lane
    repo.git("reset", "-q", "--hard", "HEAD~1")
    repo.git("branch", "-qD", str(lane))
    for name in ("HEAD", "refs/heads/main"):
        repo.git("reflog", "expire", "--expire=now", name)
    for command in (
        ["gc", "-q", "--prune=now"],
        ["reflog", "expire", "--all"],
        ["repack", "-qad"],
        ["prune"],
    ):
        repo.git(*command)
    with Recorder.open(repo.path) as again:
        again.record_outside()
        entry = next(entry for entry in again.entries() if entry.status == "outside")
        (big,) = [edit for edit in again.edits(entry) if edit.path == "big.txt"]
        assert again.workspace.read(big.before) == b"the user's own text\n"
        assert_whole(repo, again)
    assert repo.fsck() == ""


def test_a_sweep_keeps_it_even_without_its_reflog(repo: UserRepo, recorder: Recorder, agent: Agent) -> None:
    agent.edit("one.txt", b"1\n")
    repo.git("reflog", "expire", "--expire=now", "--all")
    sweep(recorder.workspace.repository, recorder.workspace.store, grace_seconds=-10)
    with Recorder.open(repo.path) as again:
        assert [entry.n for entry in again.entries()] == [1]
        assert_whole(repo, again)


@pytest.mark.parametrize("moved", [False, True])
def test_a_timeline_below_refs_is_read_and_moved(repo: UserRepo, moved: bool) -> None:
    with Recorder.open(repo.path) as first:
        Agent(repo, first).edit("one.txt", b"1\n")
        tip = str(first.timeline.tip)
    file = repo.path / ".git/chorus/timeline/main"
    repo.git("update-ref", OLD_REF, tip)  # as an older version left it, or one that was killed while moving
    if not moved:
        file.unlink()
        (repo.path / ".git/logs/refs/chorus/timeline/main").unlink()
    with DiskLog.open(repo.path) as log:
        assert [entry.n for entry in log.entries()] == [1]
    with Recorder.open(repo.path) as second:
        assert [entry.n for entry in second.entries()] == [1]
        second.start()
        assert file.read_text().strip() == tip
        assert repo.git("for-each-ref", OLD_REF) == ""
        assert tip in repo.git("rev-list", "--reflog").split()
        Agent(repo, second).edit("two.txt", b"2\n")
        assert [entry.n for entry in second.entries()] == [1, 2]
        assert_whole(repo, second)


def test_a_timeline_that_an_older_version_went_on_with_is_left_alone(repo: UserRepo) -> None:
    with Recorder.open(repo.path) as first:
        Agent(repo, first).edit("one.txt", b"1\n")
        older = repo.git("rev-parse", "main").strip()
    repo.git("update-ref", OLD_REF, older)
    with Recorder.open(repo.path) as second:
        second.start()
        assert [entry.n for entry in second.entries()] == [1]
    assert repo.git("rev-parse", OLD_REF).strip() == older
