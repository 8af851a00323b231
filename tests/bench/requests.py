"""How long `status` takes while the watcher plans large reverts and landings, and sends a long log.

One connection asks for something heavy in a history of 10,000 actions, with an action on which fifty later
ones depend; another asks for the status all the time.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError
from chorus.history.recorder import Recorder
from chorus.wire.client import Connection, connect
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.bench.lanes import make_repository, scratch
from tests.history.agent_at_work import action

ACTIONS = int(os.environ.get("CHORUS_BENCH_ACTIONS", "10000"))
DEPENDENTS = 50
# The file of the dependents has this many lines; every third action changes one of them.
LINES = 3_000
ROOT = Path(__file__).parent.parent.parent

Request = Callable[[Connection], Any]


def main() -> None:
    with scratch() as folder:
        repo = make_repository(folder / "repo", [f"d{i // 50}/f{i}.txt" for i in range(1_000)])
        lane = record_history(repo)
        command = [sys.executable, "-m", "chorus", "keep", "2"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, cwd=repo, check=True, env=environment, capture_output=True)
        try:
            with connect(find_home(repo)) as watcher:
                watcher.ask("log", limit=1)  # it has read its history
                watcher.ask("status")  # and counted its lanes, which takes 0.1 s once
            for name, request in requests(lane, repo).items():
                measure(repo, name, request)
        finally:
            stop(find_home(repo))


def requests(lane: str, repo: Path) -> dict[str, Request]:
    cwd = str(repo)

    def dry(watcher: Connection, **more: Any) -> object:
        return watcher.ask("revert", cwd=cwd, dry_run=True, **more)

    return {
        "nothing": lambda watcher: time.sleep(1),
        "log": lambda watcher: watcher.ask("log", cwd=cwd),
        "revert, dry, blocked": lambda watcher: dry(watcher, actions=["t1"]),
        "revert, dry, dependents": lambda watcher: dry(watcher, actions=["t1"], with_dependents=True),
        "revert a lane, dry": lambda watcher: dry(watcher, lane=lane),
        "land a lane, dry": lambda watcher: watcher.ask(
            "land", cwd=cwd, lane=lane, onto="landed", dry_run=True
        ),
        "revert, dependents": lambda watcher: watcher.ask(
            "revert", cwd=cwd, actions=["t1"], with_dependents=True
        ),
        "lanes": lambda watcher: watcher.ask("lanes", cwd=cwd),
    }


def record_history(repo: Path) -> str:
    """Record the actions; return the name of their lane."""
    shared = repo / "shared.txt"
    rows = [f"row {number}" for number in range(LINES)]
    shared.write_text("\n".join(rows))
    every = max(ACTIONS // DEPENDENTS, 1)
    with Recorder.open(repo) as recorder:
        recorder.start()
        for number in range(1, ACTIONS + 1):
            if number % every == 1:
                rows[5] += " x"
                place = shared
            elif number % 3 == 0:
                rows[10 + number * 7919 % (LINES - 10)] += " y"
                place = shared
            else:
                place = repo / f"d{number * 7919 % 1_000 // 50}/f{number * 7919 % 1_000}.txt"
            if place == shared:
                place.write_text("\n".join(rows))
            else:
                place.write_bytes(place.read_bytes() + b"more %d\n" % number)
            recorder.record_named_paths([action(f"t{number}", place, turn=f"turn-{number // 100}")])
        return str(recorder.lanes.all()[0].name)


def measure(repo: Path, name: str, request: Request) -> None:
    """Make one heavy request, and ask for the status meanwhile."""
    done = threading.Event()
    waits: list[float] = []

    def ask() -> None:
        with connect(find_home(repo)) as watcher:
            while not done.is_set():
                started = time.perf_counter()
                watcher.ask("status")
                waits.append((time.perf_counter() - started) * 1e3)
                time.sleep(0.002)

    asking = threading.Thread(target=ask)
    asking.start()
    said = ""
    started = time.perf_counter()
    try:
        with connect(find_home(repo)) as watcher:
            request(watcher)
    except ChorusError as error:
        said = f" ({str(error).splitlines()[0][:60]})"
    took = time.perf_counter() - started
    done.set()
    asking.join()
    p99 = statistics.quantiles(waits, n=100)[98] if len(waits) > 1 else max(waits, default=0.0)
    median = statistics.median(waits or [0.0])
    print(
        f"  {name:<24} {took:6.2f} s; status: {len(waits):>4} asked, median {median:6.1f} ms, "
        f"p99 {p99:6.1f}, longest {max(waits, default=0.0):7.1f}{said}",
        flush=True,
    )


if __name__ == "__main__":
    main()
