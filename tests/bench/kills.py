"""Kill the watcher 50 times at random moments of a real session, in each way of watching: nothing is lost."""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from chorus.demo.model_server.server import ModelServer
from chorus.system.processes.processes import read_process
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start, start, stop
from tests.e2e.scenarios import bash, edit, in_directory, read, write
from tests.e2e.watched_session import MODES, WatchedSession, run_git
from tests.lab.client import Client, find_client, prepare_home, read_version
from tests.lab.script import Pause, Text
from tests.lab.terminal import Terminal
from tests.waiting import wait_for

KILLS = 50
# The model pauses between its calls, so that the session lasts about as long as the kills take.
ROUNDS = 24
PAUSE_SECONDS = 0.25
# The longest time between two kills.
MAX_LIFE_SECONDS = 1.5
DEADLINE_SECONDS = 240.0


def main() -> None:
    if find_client() is None or shutil.which("tmux") is None:
        print("  no client or no tmux on this machine: not measured")
        return
    for mode in MODES:
        kill_through(mode)


def kill_through(mode: str) -> None:
    rng = random.Random(mode)
    started = time.perf_counter()
    with session() as watched:
        watched.client.model_server.scripts["work"] = script(watched.project)
        MODES[mode](watched)
        watched.send("work")
        home = find_home(watched.project)
        killed = 0
        while killed < KILLS:
            time.sleep(rng.random() * MAX_LIFE_SECONDS)
            killed += kill_watcher(home)
            if rng.random() < 0.5:  # otherwise a hook starts it, or the next iteration
                start(home)
        connect_or_start(home).close()
        wait_until_over(watched)
        expected = [("Write", "Edit", "Bash", "Edit", "Edit")[n % 5] for n in range(5 * ROUNDS)]
        with suppress(AssertionError):  # the next check names what is missing
            wait_for(lambda: len(watched.actions()) >= len(expected), what="every action", seconds=60)
        check_everything_recorded(watched, expected)
    seconds = time.perf_counter() - started
    print(
        f"  {mode:<9} {killed} kills, {len(expected)} actions: each recorded exactly once ({seconds:.0f} s)",
        flush=True,
    )


def script(project: Path) -> list[list[Any]]:
    turns: list[list[Any]] = [[read("app.py")]]
    for n in range(ROUNDS):
        turns += [
            [Pause(PAUSE_SECONDS), write(f"w{n}.txt", f"{n}\n")],
            [Pause(PAUSE_SECONDS), edit("app.py", f"a {n}\n", f"A {n}\n")],
            [Pause(PAUSE_SECONDS), bash(f"echo {n} > b{n}.txt")],
            [Pause(PAUSE_SECONDS), *(edit("app.py", f"{x} {n}\n", f"{x.upper()} {n}\n") for x in "bc")],
        ]
    return [[in_directory(step, project) for step in turn] for turn in [*turns, [Text("All done.")]]]


def changes() -> Iterator[tuple[str, str | None, str]]:
    """Yield what each action changes: the path, the line before, the line after."""
    for n in range(ROUNDS):
        yield f"w{n}.txt", None, f"{n}"
        yield "app.py", f"a {n}", f"A {n}"
        yield f"b{n}.txt", None, f"{n}"
        yield "app.py", f"b {n}", f"B {n}"
        yield "app.py", f"c {n}", f"C {n}"


def check_everything_recorded(watched: WatchedSession, tools: list[str]) -> None:
    found = watched.actions()
    seen = [(entry["tool"], entry["status"], entry["paths"]) for entry in found]
    assert [entry["tool"] for entry in found] == tools, (seen, watched.log("--outside"))
    for entry, (path, before, after) in zip(found, changes(), strict=True):
        assert (entry["status"], entry["paths"]) == ("committed", [path]), entry
        shown = run_git(watched.project, "show", "--format=", "-U0", entry["commit"]).stdout
        lines = [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        assert lines == ([f"-{before}"] if before else []) + [f"+{after}"], (entry, lines)
    (lane,) = watched.chorus("lanes")
    count = run_git(watched.project, "rev-list", "--count", f"{lane['base']}..{lane['tip']}").stdout
    assert int(count) == len(tools)
    for path in {path for path, _, _ in changes()}:
        shown = run_git(watched.project, "show", f"{lane['tip']}:{path}").stdout
        assert shown == (watched.project / path).read_text(), path
    outside = [entry for entry in watched.log("--outside") if entry["status"] == "outside"]
    assert outside == [], outside


def kill_watcher(home: Home) -> bool:
    """Kill the watcher that holds the lock, unless its process id now belongs to another process."""
    text = home.lock.read_text() if home.lock.exists() else ""
    process = read_process(int(text)) if text.strip() else None
    if process is None or "chorus.watcher" not in process.arguments:
        start(home)
        return False
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    return True


def wait_until_over(watched: WatchedSession) -> None:
    if watched.pane is not None:
        watched.pane.wait_for("All done", seconds=DEADLINE_SECONDS)
    else:
        wait_for(lambda: '"result":"All done."' in watched.printed(), seconds=DEADLINE_SECONDS)


@contextmanager
def session() -> Iterator[WatchedSession]:
    binary = find_client()
    assert binary is not None
    with tempfile.TemporaryDirectory() as scratch, ModelServer() as model_server, Terminal() as terminal:
        project, home = Path(scratch) / "proj", Path(scratch) / "home"
        project.mkdir()
        # Three lines apart, so that edits do not touch each other.
        lines = "".join(f"a {n}\n-\n-\nb {n}\n-\n-\nc {n}\n-\n-\n" for n in range(ROUNDS))
        (project / "app.py").write_text(lines)
        author = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
        for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "first"]):
            subprocess.run(["git", *words], cwd=project, check=True)
        prepare_home(home, [project], version=read_version(binary))
        yield WatchedSession(Client(binary, home, project, model_server), terminal)
        stop(find_home(project))
