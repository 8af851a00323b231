"""A recorder killed 1,000 times while it records 200 edits; it and a revert killed at every writing call."""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from chorus.history.recorder import Recorder
from chorus.model.action import Action
from tests.history.agent_at_work import action, reported
from tests.history.crash_child import run_and_be_killed
from tests.history.invariants import assert_whole
from tests.repos import UserRepo, make_template

EDITS = 200
KILLS = 1_000
FILES = 10
MOST_TRIES = 50


def main() -> None:
    os.environ |= dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "bench")
    os.environ |= dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "bench@example.com")
    kill_at_random()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    paths = ("tests/lanes/test_crash.py", "tests/lanes/test_writing.py")
    subprocess.run([*command, *paths], check=True, env=os.environ | {"CHORUS_CRASH_POINTS": "100000"})


def kill_at_random() -> None:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        repo = UserRepo(make_template(Path(name) / "repo"))
        with Recorder.open(repo.path) as recorder:
            recorder.start()
        dice, killed = random.Random(1), 0
        done: list[Action] = []
        started = time.perf_counter()
        for number in range(EDITS):
            place = repo.path / f"file{number % FILES}.txt"
            before = place.read_text() if place.exists() else None
            after = (before or "") + f"line {number}\n"
            place.write_text(after)
            done.append(action(f"t{number}", place, report=reported(place, before, after)))
            tries = 0
            # A run that ends before its time is up was not killed, and does not count.
            while killed < KILLS * (number + 1) // EDITS and tries < MOST_TRIES:
                tries += 1
                killed += not run_and_be_killed(lambda: replay(repo, done), 0.1, dice)
        assert killed == KILLS
        replay(repo, done)
        with Recorder.open(repo.path) as recorder:
            recorder.record_outside()
            ids = [entry.id for entry in recorder.entries() if entry.id]
            assert ids == [act.id for act in done]
            assert_whole(repo, recorder)
    seconds = time.perf_counter() - started
    print(
        f"  {EDITS} edits, {killed} kills: each recorded once, nothing broken ({seconds:.0f} s)", flush=True
    )


def replay(repo: UserRepo, done: list[Action]) -> None:
    """Tell of everything again, as sources do after a restart."""
    with Recorder.open(repo.path) as recorder:
        for act in done:
            recorder.record_named_paths([act])
