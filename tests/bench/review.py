"""`log` on 10,000 actions, `show` and `revert` in small and large repositories; long runs of some tests."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from chorus.history.log.filter import LogFilter
from chorus.history.recorder import Recorder
from chorus.review.operations import Selection, redo, revert
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.bench.lanes import make_repository, scratch
from tests.history.agent_at_work import action, bash

SIZES = (100, 50_000)
LONG_HISTORY = 10_000
ROUNDS = 15
ROOT = Path(__file__).parent.parent.parent
# Tests that the suite runs briefly, and the variable that makes each run longer.
LONG_TESTS = {
    "tests/history/test_random_histories.py": {"CHORUS_HISTORIES": "300"},
    "tests/commands/test_busy.py": {"CHORUS_BUSY": "200"},
}


def main() -> None:
    measure_sizes()
    for count in (1, 100, 3_000):
        measure_many(count)
    with scratch() as folder:
        measure_log(folder)
    for path, variables in LONG_TESTS.items():
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
        started = time.perf_counter()
        subprocess.run(command, check=True, env=os.environ | variables, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - started
        print(f"  {path} with {variables}: passes ({seconds:.0f} s)", flush=True)


def measure_sizes() -> None:
    """Show, revert and redo one edit, in a small and a large repository in turn."""
    with ExitStack() as opened:
        repositories = [open_repository(opened, size) for size in SIZES]
        rounds = [
            [review_one(*repository, number) for repository in repositories] for number in range(ROUNDS)
        ]
    for name in ("show", "revert", "redo"):
        small, large = (statistics.median(found[place][name] for found in rounds) for place in (0, 1))
        print(
            f"  {name:<7} {small * 1e3:6.2f} ms at {SIZES[0]} files, {large * 1e3:6.2f} ms at {SIZES[1]:,}: "
            f"{large / small:.2f} times as long",
            flush=True,
        )


def open_repository(opened: ExitStack, size: int) -> tuple[Recorder, Path]:
    folder = opened.enter_context(scratch())
    paths = [f"d{i // 2500}/e{i // 50 % 50}/f{i}.txt" for i in range(size)]
    repo = make_repository(folder / "repo", paths)
    recorder = opened.enter_context(Recorder.open(repo))
    recorder.start()
    return recorder, repo / paths[size // 2]


def review_one(recorder: Recorder, place: Path, number: int) -> dict[str, float]:
    name = f"toolu_{number}"
    recorder.record_before_call([str(place)])
    place.write_bytes(place.read_bytes().replace(b"line 5 ", b"line 5 x", 1))
    recorder.record_named_paths([action(name, place)])
    return {
        "show": timed(lambda: recorder.log.show(name)),
        "revert": timed(lambda: revert(recorder, Selection([name]))),
        "redo": timed(lambda: redo(recorder, Selection([name]))),
    }


def measure_many(count: int) -> None:
    """Revert and redo one action of many files, compared with syncing each file separately."""
    paths = [f"d{i // 50}/f{i}.txt" for i in range(count)]
    with scratch() as folder:
        repo = make_repository(folder / "repo", paths)
        with Recorder.open(repo) as recorder, Recorder.open(repo) as syncing_each:
            # As on an unknown file system.
            syncing_each.workspace.work_tree.__dict__["_journal"] = None
            recorder.start()
            for place in (repo / path for path in paths):
                place.write_bytes(place.read_bytes().replace(b"line 5 ", b"line 5 x", 1))
            recorder.record_window(bash("t1"))
            rounds = [[time_revert_and_redo(one) for one in (recorder, syncing_each)] for _ in range(7)]
    together, each = (statistics.median(found[place] for found in rounds) for place in (0, 1))
    print(
        f"  revert of {count:,} files: {together / count * 1e3:.2f} ms each, "
        f"{each / count * 1e3:.2f} with a sync for each: {together / each:.2f} times",
        flush=True,
    )


def time_revert_and_redo(recorder: Recorder) -> float:
    """Return the mean seconds of a revert and a redo."""
    os.sync()
    return timed(lambda: [change(recorder, Selection(["t1"])) for change in (revert, redo)]) / 2


def measure_log(folder: Path) -> None:
    """Measure the command as users run it, compared with `chorus --version` and `git log` of the lane."""
    paths = [f"d{i // 50}/f{i}.txt" for i in range(1_000)]
    repo = make_repository(folder / "repo", paths)
    with Recorder.open(repo) as recorder:
        recorder.start()
        for number in range(LONG_HISTORY):
            place = repo / paths[(number * 7919) % len(paths)]
            place.write_bytes(place.read_bytes().replace(b"line 5 ", b"line 5 x", 1))
            recorder.record_named_paths([action(f"t{number}", place)])
        whole = timed(lambda: recorder.log.select(LogFilter()))
        screen = timed(lambda: recorder.log.select(LogFilter(limit=200)))
        lane = recorder.lanes.all()[0].name
    print(
        f"  log of {LONG_HISTORY:,}, in memory: the first screen takes {screen / whole:.2f} of all",
        flush=True,
    )
    command = [sys.executable, "-m", "chorus"]
    start = statistics.median(run_first(repo, [*command, "--version"], 1) for _ in range(5))
    subprocess.run([*command, "keep", "1"], cwd=repo, check=True, env=environment(), capture_output=True)
    try:
        # The watcher that has just started reads the history once.
        run_first(repo, [*command, "log"], 40)
        for label, lines in (("first 40 lines", 40), ("all lines", None)):
            mine = statistics.median(run_first(repo, [*command, "log"], lines) for _ in range(5))
            theirs = statistics.median(run_first(repo, ["git", "log", lane], lines) for _ in range(5))
            print(
                f"  chorus log, {label}: {mine * 1e3:.0f} ms, {mine / start:.1f} times `chorus --version`, "
                f"{mine / theirs:.1f} times `git log` of the lane",
                flush=True,
            )
        measure_others(repo, start, "with a watcher")
    finally:
        stop(find_home(repo))
    alone = statistics.median(run_first(repo, [*command, "log"], 40) for _ in range(5))
    print(
        f"  chorus log, first 40 lines, without a watcher: {alone * 1e3:.0f} ms, {alone / start:.1f} times",
        flush=True,
    )
    measure_others(repo, start, "without a watcher")


def measure_others(repo: Path, start: float, label: str) -> None:
    """Measure other commands on a long history; `start` is the time of `chorus --version`."""
    commands = (["show", str(LONG_HISTORY)], ["show", "5"], ["lanes"], ["status"], ["blame", "d3/f155.txt:5"])
    times = {" ".join(words): timed_command(repo, words) / start for words in commands}
    ratios = ", ".join(f"{words} {ratio:.1f}" for words, ratio in times.items())
    print(f"  {label}, times `chorus --version`: {ratios}", flush=True)


def timed_command(repo: Path, words: list[str]) -> float:
    command = [sys.executable, "-m", "chorus", *words]
    return statistics.median(run_first(repo, command, None) for _ in range(3))


def run_first(repo: Path, command: list[str], lines: int | None) -> float:
    """Return the seconds until so many lines were printed; None: until the end."""
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        for count, _ in enumerate(process.stdout, 1):
            if count == lines:
                break
        seconds = time.perf_counter() - started
        process.stdout.close()
    return seconds


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def timed(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started
