"""Nothing that reaches the watcher stops its loop: each step is short, and heavy work runs beside it.

Steps are measured in processor time of the loop's thread, so that a busy machine changes nothing.
"""

import asyncio
import gc
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from chorus.errors import ChorusError
from chorus.history.log import memory_log
from chorus.history.log.json_views import show_json
from chorus.history.recorder import Recorder
from chorus.model.json_limit import MAX_COMMAS
from chorus.review.blame import blame_from_disk, run_git_blame
from chorus.watcher.recorder_pool import RecorderPool
from chorus.watcher.server import review_requests
from chorus.watcher.server.review_requests import MAX_APPLIED, MAX_BLAMED_LINES, MAX_NAMED, MAX_TRACED_BYTES
from chorus.watcher.work_trees import MAX_QUICK_PATHS
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo
from tests.waiting import wait_for
from tests.watcher.measured_watcher import MeasuredWatcher

# The longest step of these inputs takes a few hundredths of a second here; before it was bounded, half a
# second and more.
LIMIT_SECONDS = 0.25


@pytest.fixture
def watcher(repo: UserRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MeasuredWatcher]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with MeasuredWatcher(repo.path).running(monkeypatch) as watcher:
        yield watcher


def event(watcher: MeasuredWatcher, **more: Any) -> dict[str, Any]:
    return {
        "session_id": "s",
        "transcript_path": str(watcher.project.parent / "none.jsonl"),
        "cwd": str(watcher.project),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "x",
        **more,
    }


def begin(watcher: MeasuredWatcher, transcript: Path | str) -> None:
    """A session begins whose transcript is already there, and all of it is read."""
    name = f"s-{Path(transcript).name[:20]}"
    start = event(watcher, session_id=name, transcript_path=str(transcript), source="startup")
    watcher.hooks.tell(start | {"hook_event_name": "SessionStart"})
    with watcher.connect() as connection:
        connection.ask("sync")


def message(session: str, number: int, text: str) -> bytes:
    value = {
        "type": "user",
        "uuid": f"u{number}",
        "sessionId": session,
        "timestamp": "2026-01-01T00:00:00Z",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(value).encode() + b"\n"


def test_hostile_transcripts(watcher: MeasuredWatcher, tmp_path: Path) -> None:
    fifo, sparse, line = tmp_path / "fifo.jsonl", tmp_path / "sparse.jsonl", tmp_path / "line.jsonl"
    os.mkfifo(fifo)
    sparse.touch()
    os.truncate(sparse, 10 * 2**30)
    line.touch()
    os.truncate(line, 100 * 2**20)  # without a newline
    many, numbers = tmp_path / "many.jsonl", tmp_path / "numbers.jsonl"
    # Each is a turn of its own, and of each turn's end the sums of all are known.
    many.write_bytes(b"".join(message(f"s-{many.name}", number, "hi") for number in range(6_000)))
    numbers.write_bytes(b'{"type": "user", "message": [%s0]}\n' % (b"0," * (MAX_COMMAS + 1)))
    watcher.reset()
    for transcript in ("/dev/zero", fifo, sparse, line, many, numbers, "/".join(["", *["d"] * 2000])):
        begin(watcher, transcript)
    with watcher.connect() as connection:
        status = connection.ask("status")
    assert len(status["problems"]) >= 3  # what is no file, or endless, is named
    assert watcher.longest < LIMIT_SECONDS


def test_huge_and_odd_hook_events(watcher: MeasuredWatcher) -> None:
    deep = str(watcher.project / "/".join(["d"] * 2000))
    named = {"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "t1"}
    watcher.reset()
    watcher.hooks.tell(
        event(watcher, prompt="word " * 4_000_000),
        event(watcher, cwd=deep),
        event(watcher, **named, tool_input={"file_path": deep, "content": "x"}),
    )
    assert watcher.longest < LIMIT_SECONDS


def test_rubbish_on_the_socket(watcher: MeasuredWatcher) -> None:
    numbers = b"0," * (MAX_COMMAS * 5)
    watcher.reset()
    for body in (b'{"a":[' + numbers + b"0]}", os.urandom(10**6), b"[" * 10**6):
        watcher.send(b"POST /report HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    watcher.send(b'{"v":1,"id":1,"do":"log","a":[' + numbers + b"0]}\n")
    watcher.send(b"x" * 10**6 + b"\n" + b"\0" * 10**6)
    with watcher.connect() as connection:
        assert connection.ask("status")["ok"]
    assert watcher.longest < LIMIT_SECONDS


def test_a_large_file_and_many_files_are_recorded_beside_the_loop(watcher: MeasuredWatcher) -> None:
    text = "a line of text\n" * 600_000
    place = watcher.project / "large.txt"
    write = {"tool_name": "Write", "tool_use_id": "t1"}
    tool_input = {"file_path": str(place), "content": text}
    command = {"tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "make"}}
    done = {"stdout": "", "stderr": "", "interrupted": False}
    watcher.reset()
    watcher.hooks.tell(event(watcher, **write, tool_input=tool_input, hook_event_name="PreToolUse"))
    place.write_text(text)
    response = {"type": "create", "filePath": str(place), "originalFile": None}
    after = {"hook_event_name": "PostToolUse", "tool_response": response}
    watcher.hooks.tell(event(watcher, **write, tool_input=tool_input, **after))
    watcher.hooks.tell(event(watcher, **command, hook_event_name="PreToolUse"))
    (watcher.project / "many").mkdir()
    for number in range(1_500):
        (watcher.project / "many" / f"{number}.txt").write_text(f"{number}\n")
    watcher.hooks.tell(event(watcher, **command, hook_event_name="PostToolUse", tool_response=done))
    with watcher.connect() as connection:
        entries = connection.ask("log", cwd=str(watcher.project))
    assert [(entry["id"], entry["files"]) for entry in entries] == [("t1", 1), ("t2", 1_500)]
    assert watcher.longest < LIMIT_SECONDS


def test_a_file_that_was_large_is_recorded_beside_the_loop_when_it_becomes_small(
    watcher: MeasuredWatcher,
) -> None:
    place = watcher.project / "large.txt"
    place.write_text("a line of text\n" * 600_000)

    def is_recorded() -> bool:
        with watcher.connect() as connection:
            entries = connection.ask("log", cwd=str(watcher.project), outside=True)
            return [entry["status"] for entry in entries] == ["outside"] * count

    count = 1
    wait_for(is_recorded, seconds=60)
    watcher.reset()
    place.write_text("a line\n")
    count = 2
    wait_for(is_recorded, seconds=60)
    assert watcher.longest < LIMIT_SECONDS


@contextmanager
def held(monkeypatch: pytest.MonkeyPatch, watcher: MeasuredWatcher) -> Iterator[Callable[[], bool]]:
    """Whatever runs beside the loop waits until the end. Yields whether anything does."""
    gate, waiting = threading.Event(), threading.Event()

    def wait() -> None:
        assert threading.current_thread() is not watcher.thread
        waiting.set()
        gate.wait()

    borrow = RecorderPool.borrow

    def borrow_later(pool: RecorderPool, work_tree: Path) -> object:
        wait()
        return borrow(pool, work_tree)

    def answer_later(answer: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: Any, **named: Any) -> object:
            wait()
            return answer(*arguments, **named)

        return call

    monkeypatch.setattr(RecorderPool, "borrow", borrow_later)
    monkeypatch.setattr(memory_log, "show_json", answer_later(show_json))
    monkeypatch.setattr(review_requests, "run_git_blame", answer_later(run_git_blame))
    monkeypatch.setattr(review_requests, "blame_from_disk", answer_later(blame_from_disk))
    try:
        yield waiting.is_set
    finally:
        gate.set()
        monkeypatch.setattr(RecorderPool, "borrow", borrow)


ACTIONS = MAX_NAMED + 10
HEAVY: dict[str, tuple[str, dict[str, Any]]] = {
    "the whole log": ("log", {}),
    "the log of a path": ("log", {"path": "rows.txt", "limit": 5}),
    "an action": ("show", {"action": "1"}),
    "an action that changed many files": ("show", {"action": str(ACTIONS + 1)}),
    "blame": ("blame", {"path": "app.py"}),
    "blame of a large file": ("blame", {"path": "large.txt"}),
    "hunks": ("hunks", {"action": "1"}),
    "a dry revert of a lane": ("revert", {"lane": "LANE", "dry_run": True}),
    "a revert of a lane": ("revert", {"lane": "LANE"}),
    "a revert of many": ("revert", {"actions": [str(n) for n in range(ACTIONS, 0, -1)], "dry_run": True}),
    "a dry landing": ("land", {"lane": "LANE", "onto": "landed", "dry_run": True}),
    "a pull request": ("pull_request", {"lane": "LANE"}),
    "keeping a lane": ("keep", {"lane": "LANE"}),
    "dropping a lane": ("drop", {"lane": "LANE"}),
    "notes": ("notes", {}),
}


@pytest.fixture
def history(repo: UserRepo) -> str:
    """A lane with many actions on one file, and one that changed many files."""
    repo.write("large.txt", (b"x" * 99 + b"\n") * (MAX_TRACED_BYTES // 100 + 1))
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        rows = [f"row {number}" for number in range(ACTIONS)]
        repo.write("rows.txt", "\n".join(rows).encode())
        for number in range(ACTIONS):
            rows[number] += " edited"
            agent.edit("rows.txt", "\n".join(rows).encode())
        agent.bash(lambda: [repo.write(f"many/{n}", b"x\n") for n in range(300)] and None, command="make")
        return str(recorder.lanes.all()[0].name)


def test_status_is_answered_while_any_heavy_request_is_worked_on(
    history: str, watcher: MeasuredWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_requests.ReviewRequests, "_prepare_quickly", lambda *_: None)
    wait_for(watcher.has_looked, seconds=60)
    for what, (request, arguments) in HEAVY.items():
        given = {key: history if value == "LANE" else value for key, value in arguments.items()}

        def ask(request: str = request, given: dict[str, Any] = given) -> None:
            with watcher.connect() as connection:
                connection.request(request, {"cwd": str(watcher.project), **given})

        with held(monkeypatch, watcher) as is_held:
            asking = threading.Thread(target=_ignore_refusals, args=(ask,), daemon=True)
            asking.start()
            wait_for(is_held, what=f"{what}: it is worked on beside the loop", seconds=60)
            with watcher.connect() as connection:
                assert connection.ask("status")["lanes"] >= 0
                assert connection.ask("prompts") == []
            assert asking.is_alive(), what
        asking.join()


def _ignore_refusals(ask: Callable[[], None]) -> None:
    with suppress(ChorusError):
        ask()


def test_status_is_answered_while_much_is_recorded(
    watcher: MeasuredWatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held(monkeypatch, watcher) as is_held:
        for number in range(MAX_QUICK_PATHS + 1):
            (watcher.project / f"new-{number}").write_text("x")
        wait_for(is_held, what="it is recorded beside the loop", seconds=60)
        with watcher.connect() as connection:
            assert connection.ask("status")["open"] == 0
    with watcher.connect() as connection:
        wait_for(lambda: connection.ask("log", cwd=str(watcher.project), outside=True), seconds=60)


def test_no_garbage_is_collected_during_work_beside_the_loop(repo: UserRepo) -> None:
    """A full collection of what a large plan holds stops all threads, and so the loop."""

    async def work() -> bool:
        return await RecorderPool().use(repo.path, lambda _: gc.isenabled())

    assert not asyncio.run(work())
    assert gc.isenabled()


def test_the_revert_of_a_lane_beside_the_loop_is_complete(
    history: str, watcher: MeasuredWatcher, repo: UserRepo
) -> None:
    with watcher.connect() as connection:
        done = connection.ask("revert", cwd=str(repo.path), lane=history)
        assert len(done["made"]) == ACTIONS + 1 > MAX_APPLIED
        entries = connection.ask("log", cwd=str(repo.path), lane=history)
    assert {entry["status"] for entry in entries if not entry["reverts"]} == {"reverted"}
    assert "edited" not in (repo.path / "rows.txt").read_text()
    assert not (repo.path / "many" / "0").exists()


def test_a_file_of_very_many_lines_is_blamed_line_by_line(watcher: MeasuredWatcher) -> None:
    (watcher.project / "long.txt").write_bytes(b"x\n" * (MAX_BLAMED_LINES + 1))
    with watcher.connect() as connection:
        with pytest.raises(ChorusError, match="has more than"):
            connection.ask("blame", cwd=str(watcher.project), path="long.txt")
        assert len(connection.ask("blame", cwd=str(watcher.project), path="long.txt", line=7)) == 1
