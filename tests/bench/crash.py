"""Kill a recorder 1,000 times while it records 200 edits; kill it and a revert at every write call."""

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
MAX_TRIES = 50


def main() -> None:
    os.environ |= dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "bench")
    os.environ |= dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "bench@example.com")
    kill_at_random()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    paths = ("tests/history/test_crash.py", "tests/review/test_file_writes.py")
    subprocess.run([*command, *paths], check=True, env=os.environ | {"CHORUS_CRASH_POINTS": "100000"})


def kill_at_random() -> None:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        repo = UserRepo(make_template(Path(name) / "repo"))
        with Recorder.open(repo.path) as recorder:
            recorder.start()
        rng, killed = random.Random(1), 0
        done: list[Action] = []
        started = time.perf_counter()
        for number in range(EDITS):
            path = repo.path / f"file{number % FILES}.txt"
            before = path.read_text() if path.exists() else None
            after = (before or "") + f"line {number}\n"
            path.write_text(after)
            done.append(action(f"t{number}", path, report=reported(path, before, after)))
            tries = 0
            # A run that ended before the kill does not count.
            while killed < KILLS * (number + 1) // EDITS and tries < MAX_TRIES:
                tries += 1
                killed += not run_and_be_killed(lambda: replay(repo, done), 0.1, rng)
        assert killed == KILLS
        replay(repo, done)
        with Recorder.open(repo.path) as recorder:
            recorder.record_outside()
            ids = [entry.id for entry in recorder.entries() if entry.id]
            assert ids == [act.id for act in done]
            assert_whole(repo, recorder)
    seconds = time.perf_counter() - started
    print(
        f"  {EDITS} edits, {killed} kills: each recorded once, nothing damaged ({seconds:.0f} s)", flush=True
    )


def replay(repo: UserRepo, done: list[Action]) -> None:
    """Record everything again, as sources do after a restart."""
    with Recorder.open(repo.path) as recorder:
        for act in done:
            recorder.record_named_paths([act])
