"""`chorus claude` in a tmux pane, with a watcher running (warm) and without (cold): what it adds to a start.

Two measures: until the client's first screen, in alternating rounds; and the processor time of everything
before the client's own program runs. The targets are 0.15 s warm and 0.4 s cold, on a quiet machine.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.bench.kills import session
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import INPUT_BOX, find_client

ROUNDS = 15
CHORUS = [sys.executable, "-m", "chorus", "claude"]


def main() -> None:
    if find_client() is None or shutil.which("tmux") is None:
        print("  no client or no tmux on this machine: not measured")
        return
    with session() as watched:
        home = find_home(watched.project)
        try:
            measure_screens(watched, home)
            measure_processor(watched, home)
        finally:
            stop(home)


def measure_screens(watched: WatchedSession, home: Home) -> None:
    ways = {"client alone": [str(watched.client.binary)], "warm": CHORUS, "cold": CHORUS}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    watched.terminal.open(["sleep", "1000"], cwd=watched.project, environment={})  # the server stays
    for _ in range(ROUNDS):
        for way, command in ways.items():
            prepare(home, way)
            seconds[way].append(first_screen(watched, command))
    alone = seconds["client alone"]
    for way, found in seconds.items():
        median, fastest = statistics.median(found), min(found)
        print(
            f"  first screen, {way:<13} median {median:.2f} s, {median - statistics.median(alone):+.2f} s; "
            f"fastest {fastest:.2f} s, {fastest - min(alone):+.2f} s (load {os.getloadavg()[0]:.1f})",
            flush=True,
        )


def measure_processor(watched: WatchedSession, home: Home) -> None:
    """A client that ends at once leaves only what `chorus claude` itself needs."""
    client = watched.client.home / "ends-at-once"
    client.write_text("#!/bin/sh\necho '2.1.325 (Claude Code)'\n")
    client.chmod(0o755)
    with_pane = watched.terminal.open(["sleep", "1000"], cwd=watched.project, environment={})
    environment = {
        **watched.environment(),
        "TMUX": f"{watched.terminal.socket()},0,0",
        "TMUX_PANE": with_pane.id,
    }
    for way in ("warm", "cold"):
        found = []
        for _ in range(ROUNDS):
            prepare(home, way)
            found.append(processor_seconds([*CHORUS, "--client", str(client)], watched.project, environment))
        print(
            f"  processor time before the client runs, {way}: {statistics.median(found) * 1e3:.0f} ms",
            flush=True,
        )


def prepare(home: Home, way: str) -> None:
    if way == "cold":
        stop(home)
    else:
        connect_or_start(home).close()


def first_screen(watched: WatchedSession, command: Sequence[str]) -> float:
    started = time.perf_counter()
    pane = watched.terminal.open(command, cwd=watched.project, environment=watched.environment())
    pane.wait_for(INPUT_BOX)
    seconds = time.perf_counter() - started
    watched.terminal.tmux("kill-session", "-t", pane.id)
    return seconds


def processor_seconds(command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> float:
    process = subprocess.Popen(
        command, cwd=directory, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0  # it has been waited for
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
