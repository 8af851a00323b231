"""Short commands with a watcher, at 30 and at 10,000 actions: processor time compared with bare Python.

The console script itself, as an installer writes it, is part of the time. The target is 3 times bare Python,
for `blame` 6 times.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from chorus.history.recorder import Recorder
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.bench.lanes import make_repository, scratch
from tests.history.agent_at_work import action

ROUNDS = 25
ACTIONS = (30, 10_000)
SCRIPT = str(Path(sys.executable).with_name("chorus"))
FLOOR = "python -c pass"
COMMANDS = {
    FLOOR: [sys.executable, "-c", "pass"],
    "python -I -S": [sys.executable, "-I", "-S", "-c", "pass"],
    "chorus --version": [SCRIPT, "--version"],
    "status --short": [SCRIPT, "status", "--short"],
    "prompts": [SCRIPT, "prompts"],
    "log -n 40": [SCRIPT, "log", "-n", "40"],
    "show": [SCRIPT, "show", "5"],
    "blame": [SCRIPT, "blame", "d3/f155.txt:5"],
    "log, every line": [SCRIPT, "log"],
}


class Cost(NamedTuple):
    processor_seconds: float
    wall_seconds: float


def main() -> None:
    # An editable install compiles nothing; a wheel's modules are compiled when it is installed.
    subprocess.run([sys.executable, "-m", "compileall", "-q", "chorus"], check=True)
    for count in ACTIONS:
        with scratch() as folder:
            measure(record(folder, count), count)


def record(folder: Path, count: int) -> Path:
    """Make a repository with so many recorded actions."""
    paths = [f"d{i // 50}/f{i}.txt" for i in range(1_000)]
    repo = make_repository(folder / "repo", paths)
    with Recorder.open(repo) as recorder:
        recorder.start()
        for number in range(count):
            place = repo / paths[(number * 7919) % len(paths)]
            place.write_bytes(place.read_bytes().replace(b"line 5 ", b"line 5 x", 1))
            recorder.record_named_paths([action(f"t{number}", place)])
    return repo


def measure(repo: Path, count: int) -> None:
    home = find_home(repo)
    connect_or_start(home).close()
    try:
        costs: dict[str, list[Cost]] = {name: [] for name in COMMANDS}
        run(repo, COMMANDS["show"])  # the watcher that has just started reads the history once
        for _ in range(ROUNDS):
            for name, command in COMMANDS.items():
                costs[name].append(run(repo, command))
    finally:
        stop(home)
    floor = median(costs[FLOOR])
    print(f"  {count:,} actions (load {os.getloadavg()[0]:.1f})")
    for name, found in costs.items():
        cost = median(found)
        print(
            f"    {name:<17} {cost.processor_seconds * 1e3:6.1f} ms, "
            f"{cost.processor_seconds / floor.processor_seconds:5.2f} times; "
            f"wall {cost.wall_seconds / floor.wall_seconds:5.2f} times",
            flush=True,
        )


def median(costs: list[Cost]) -> Cost:
    return Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))


def run(directory: Path, command: list[str]) -> Cost:
    """Run a command to its end and return what it cost, with the processes it waited for."""
    null = os.open(os.devnull, os.O_RDWR)
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=directory, stdout=null, stderr=null)
    _, _, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = 0  # it has been waited for
    os.close(null)
    return Cost(used.ru_utime + used.ru_stime, seconds)


if __name__ == "__main__":
    main()
