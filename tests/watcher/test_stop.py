"""A watcher that is told to stop ends soon, whatever it or its threads are doing."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from chorus.errors import ChorusError
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_started, has_watcher
from tests.repos import UserRepo
from tests.waiting import wait_for

HOOK = Path(__file__).parents[2] / "hooks" / "chorus-hook"
# A watcher in which something hangs; the last resort comes after a second.
HANGING = """
import sys, threading, time
from chorus.watcher import process
from chorus.watcher.__main__ import main
process.END_SECONDS = {seconds}
{hang}
sys.exit(main(sys.argv[1:]))
"""
A_THREAD = """
from chorus.watcher.server import review_requests
def never(*_):
    open(sys.argv[1] + "/hanging", "x").close()
    threading.Event().wait()
review_requests.run_git_blame = never
"""
THE_LOOP = """
from chorus.watcher.watcher import Watcher
async def never(self): time.sleep(10_000)
Watcher._close = never
"""
A_TASK = """
from chorus.watcher.watcher import Watcher
import asyncio
async def never(self):
    while True:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            pass
Watcher._close = never
"""


@pytest.fixture
def home(repo: UserRepo) -> Home:
    return find_home(repo.path)


def start(home: Home, hang: str, seconds: float) -> "subprocess.Popen[bytes]":
    home.root.mkdir(mode=0o700)
    text = HANGING.format(hang=hang, seconds=seconds)
    process = subprocess.Popen([sys.executable, "-c", text, str(home.common_dir)])
    # Whoever connects before would start another one.
    wait_for(lambda: has_watcher(home), what="it holds the lock", seconds=60)
    return process


def wait_for_end(process: "subprocess.Popen[bytes]", home: Home) -> None:
    assert process.wait(timeout=60) == 0
    assert not has_watcher(home)


def test_a_thread_that_never_ends_does_not_delay_it(home: Home, repo: UserRepo) -> None:
    process = start(home, A_THREAD, seconds=10_000)
    refusals: list[ChorusError] = []

    def blame() -> None:
        with connect_started(home) as asking:
            try:
                asking.ask("blame", cwd=str(repo.path), path="app.py")
            except ChorusError as error:
                refusals.append(error)

    asking = threading.Thread(target=blame)
    with connect_started(home) as stopping:
        stopping.ask("log", cwd=str(repo.path))
        asking.start()
        wait_for((home.common_dir / "hanging").exists, what="the thread hangs", seconds=60)
        stopping.ask("stop")
    wait_for_end(process, home)
    asking.join()
    assert refusals


@pytest.mark.parametrize("hang", [THE_LOOP, A_TASK], ids=["the loop", "a task"])
def test_work_that_never_ends_is_cut_off_at_the_stop(home: Home, hang: str) -> None:
    process = start(home, hang, seconds=1)
    with connect_started(home) as stopping:
        stopping.ask("stop")
    wait_for_end(process, home)
    assert "are abandoned" in home.log.read_text()


def test_a_held_permission_hook_does_not_delay_it_and_continues(
    home: Home, repo: UserRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config" / "chorus" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('relay = "hook"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    process = start(home, "", seconds=10_000)
    event = {
        "hook_event_name": "PermissionRequest",
        "session_id": "s",
        "transcript_path": str(repo.path.parent / "t.jsonl"),
        "cwd": str(repo.path),
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_use_id": "t1",
    }
    with connect_started(home) as stopping:
        stopping.ask("status")
        hook = subprocess.Popen([HOOK], cwd=repo.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert hook.stdin is not None
        hook.stdin.write(json.dumps(event).encode())
        hook.stdin.close()
        wait_for(lambda: stopping.ask("prompts"), what="the hook is held", seconds=60)
        assert hook.poll() is None
        stopping.ask("stop")
    wait_for_end(process, home)
    assert hook.wait(timeout=60) == 0
    assert hook.stdout is not None
    assert hook.stdout.read() == b""
    hook.stdout.close()


def test_a_signal_ends_it_too(home: Home) -> None:
    process = start(home, THE_LOOP, seconds=1)
    with connect_started(home) as asking:
        asking.ask("status")
    os.kill(process.pid, 15)
    wait_for_end(process, home)
