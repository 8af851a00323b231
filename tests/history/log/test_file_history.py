"""Of a long history only the records that name a file are parsed, and blame gives the same."""

import pytest

from chorus.history import records
from chorus.history.log.disk_log import DiskLog
from chorus.history.log.file_history import DiskFileHistory, MemoryFileHistory
from chorus.history.recorder import Recorder
from chorus.review.blame import blame
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

# The last ones are quoted in a message.
NAMES = ("a b.txt", "dir/ü.txt", "-x", 'q"x', "tail ", "new\nline", "\udcff")


def test_blame_is_the_same_however_the_history_is_read(
    repo: UserRepo, recorder: Recorder, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change() -> None:
        for name in NAMES:
            repo.write(name, b"one\ntwo by a command\nthree\n")
        repo.write("moved", (repo.path / "app.py").read_bytes())
        (repo.path / "app.py").unlink()

    monkeypatch.setattr(records, "MAX_LISTED", len(NAMES) - 1)
    agent.replace("app.py", b"x = 1", b"x = 2")
    for name in NAMES:
        agent.edit(name, b"one\ntwo\nthree\n")
    big = agent.bash(change)
    last = [agent.replace(name, b"three", b"3") for name in NAMES]
    assert not big.paths
    with DiskLog.open(repo.path) as newest:
        past = DiskFileHistory(recorder.workspace, newest)
        for number, name in enumerate(NAMES):
            found = blame(past, name)
            assert found == blame(MemoryFileHistory(recorder), name)
            assert [line["n"] for line in found] == [number + 2, big.n, last[number].n]
        assert [line["n"] for line in blame(past, "moved")] == [1, None]


def test_only_the_records_that_name_the_file_are_parsed(repo: UserRepo, agent: Agent) -> None:
    for number in range(20):
        agent.edit(f"{number}.txt", b"x\n")
    with DiskLog.open(repo.path) as newest:
        assert blame(DiskFileHistory(agent.recorder.workspace, newest), "7.txt")[0]["n"] == 8
        assert len(newest.scanner._parsed) == 2  # the newest record too: it has the content last seen
