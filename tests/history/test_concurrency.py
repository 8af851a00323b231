"""Two recorders and a user at the same time: no lock is in the way, nothing is lost."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from chorus.history.recorder import Recorder
from tests.history.agent_at_work import Agent, lane_subjects
from tests.history.invariants import assert_whole
from tests.repos import UserRepo

EDITS = 15


class WholeRepo(UserRepo):
    """Replaces its files as a whole, as the client does: git never reads half a file."""

    def write(self, path: str, data: bytes) -> Path:
        place = self.path / path
        beside = self.path.parent / f"{path}.new"
        beside.write_bytes(data)
        return beside.replace(place)


def in_child(work: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
            raise
        os._exit(0)
    return child


def record_edits(repo: UserRepo, session: str) -> None:
    with Recorder.open(repo.path) as recorder:
        agent = Agent(WholeRepo(repo.path), recorder, session)
        for number in range(EDITS):
            path = repo.path / f"{session}.txt"
            agent.edit(path.name, b"".join(b"%d\n" % line for line in range(number + 1)))


@pytest.mark.parametrize(
    "commands",
    [
        ["status -s", "add -A", "commit -qm user --allow-empty", "log -5 --oneline"],
        ["gc -q", "gc -q --prune=now", "commit -qm user --allow-empty"],
        ["checkout -q -B other", "checkout -q main", "pack-refs --all", "stash list"],
    ],
)
def test_two_recorders_beside_a_user_who_commits_and_rebases(
    template_repo: Path, memory_path: Path, commands: list[str]
) -> None:
    repo = UserRepo.copy(template_repo, memory_path / "repo")
    repo.git("commit", "-qam", "clean")
    sessions = ("one", "two")
    children = {in_child(lambda name=name: record_edits(repo, name)) for name in sessions}  # type: ignore[misc]  # a default argument of a lambda
    failures = []
    while children:
        for words in commands:
            done = subprocess.run(["git", *words.split()], cwd=repo.path, capture_output=True, text=True)
            if done.returncode:
                failures.append((words, done.stderr))
        for child in list(children):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                assert status == 0
                children.remove(child)
    assert failures == []
    with Recorder.open(repo.path) as recorder:
        entries = [entry for entry in recorder.entries() if entry.id]
        assert sorted(entry.n or 0 for entry in entries) == list(range(1, 2 * EDITS + 1))
        for session in sessions:
            own = [entry for entry in entries if entry.session == session]
            assert len(own) == EDITS
            lanes = {str(entry.lane) for entry in own}
            assert sum(len(lane_subjects(repo, lane)) for lane in lanes) >= EDITS
        recorder.record_outside()
        assert_whole(repo, recorder)
