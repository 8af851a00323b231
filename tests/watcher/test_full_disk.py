"""A full disk is reported, and nothing is lost once there is space again."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.history.recorder import Recorder
from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.history.invariants import assert_whole
from tests.history.test_full_disk import fill, repo_on_it, small_disk
from tests.repos import UserRepo
from tests.waiting import wait_for

__all__ = ["repo_on_it", "small_disk"]  # fixtures

SECONDS = 120.0
NAMES = ("t1", "t2", "t3")


class Session:
    """What a client writes of itself, on a disk that has room."""

    def __init__(self, repo: UserRepo, transcript: Path) -> None:
        self.repo, self.transcript = repo, transcript
        self.lines = 0
        transcript.touch()

    def begin(self, home: Home) -> None:
        """Its hook tells that it is there."""
        event = {"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}
        where = {"cwd": str(self.repo.path), "transcript_path": str(self.transcript)}
        place = home.spool / f"{os.getpid()}.1"
        place.write_bytes(b"1\t\t\t\n" + json.dumps(event | where).encode())
        wait_for(lambda: not place.exists(), what="the hook is heard", seconds=SECONDS)

    def edit(self, name: str, after: str) -> None:
        place = self.repo.path / "app.py"
        before = place.read_text()
        given = {"file_path": str(place), "old_string": before, "new_string": after}
        self._write("assistant", [{"type": "tool_use", "id": name, "name": "Edit", "input": given}])
        place.write_text(after)
        result = {"filePath": str(place), "oldString": before, "newString": after, "originalFile": before}
        done = {"type": "tool_result", "tool_use_id": name, "content": "updated"}
        self._write("user", [done], toolUseResult=result)

    def _write(self, role: str, content: list[dict[str, Any]], **more: Any) -> None:
        self.lines += 1
        line = {"type": role, "sessionId": "s", "uuid": f"u{self.lines}", "cwd": str(self.repo.path)}
        message = {"role": role, "content": content, "id": f"m{self.lines}"}
        with self.transcript.open("a") as file:
            file.write(json.dumps({**line, "message": message, **more}) + "\n")


@pytest.fixture
def session(repo_on_it: UserRepo, tmp_path: Path) -> Iterator[Session]:
    home = find_home(repo_on_it.path)
    connect_or_start(home).close()
    session = Session(repo_on_it, tmp_path / "s.jsonl")
    session.begin(home)
    yield session
    stop(home)


def ask(home: Home, do: str, **arguments: Any) -> Any:
    """None while one watcher makes way for the next."""
    try:
        with connect(home) as watcher:
            return watcher.request(do, arguments)
    except WatcherNotRunning:
        return None


def test_changes_on_a_full_disk_are_recorded_once_there_is_space(session: Session, small_disk: Path) -> None:
    repo = session.repo
    home = find_home(repo.path)

    def problems() -> str:
        return str((ask(home, "status") or {}).get("problems"))

    def recorded() -> list[tuple[str, str]]:
        entries = ask(home, "log", cwd=str(repo.path)) or []
        return [(entry["id"], entry["status"]) for entry in entries]

    session.edit("t1", "x = 2\n")
    wait_for(lambda: recorded() == [("t1", "committed")], what="the first edit", seconds=SECONDS, every=0.05)
    ballast = small_disk / "ballast"
    fill(ballast)
    session.edit("t2", "x = 3\n")
    wait_for(
        lambda: "No space left" in problems(), what="the report of the problem", seconds=SECONDS, every=0.05
    )
    session.edit("t3", "x = 4\n")
    ballast.unlink()

    committed = [(name, "committed") for name in NAMES]
    wait_for(lambda: recorded() == committed, what="everything is recorded", seconds=SECONDS, every=0.05)
    assert problems() == "[]"
    stop(home)
    with Recorder.open(repo.path) as recorder:
        assert_whole(repo, recorder)
