"""The watcher beside a real client: from write to lane commit, a pane that prints 50 MB, and idle."""

import json
import os
import shutil
import statistics
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from chorus.panel.state.items import parse_log_item
from chorus.wire.client import Connection, connect
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start
from tests.bench.kills import session
from tests.e2e.scenarios import in_directory, write
from tests.e2e.watched_session import WatchedSession, run_git
from tests.lab.client import find_client
from tests.lab.script import Text
from tests.waiting import wait_for

WRITES = 100
FLOOD_BYTES = 50_000_000
# About what the client prints for one new file of 80 lines.
CONTENT = "x" * 79 + "\n"
LINES = 80
IDLE_SECONDS = 30.0
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    if find_client() is None or shutil.which("tmux") is None:
        print("  no client or no tmux on this machine: not measured")
        return
    with session() as watched:
        watched.start_hooked()
        measure_commits(watched)
        measure_idle(watched)
    with session() as watched:
        measure_flood(watched)


def measure_commits(watched: WatchedSession) -> None:
    """Measure the time from writing a file to the event for its lane commit."""
    script = [[in_directory(write(f"f{n}.txt", f"{n}\n"), watched.project)] for n in range(WRITES)]
    watched.client.model_server.scripts["write"] = [*script, [Text("Written.")]]
    reported: dict[str, float] = {}
    # Left open, because closing it would wait for the thread that reads it.
    watcher = connect(find_home(watched.project))
    watcher.ask("subscribe")
    threading.Thread(target=_listen, args=(watcher, reported), daemon=True).start()
    watched.send("write")
    wait_for(lambda: len(reported) == WRITES, what="every commit", seconds=240)
    delays = sorted(at - (watched.project / path).stat().st_mtime for path, at in reported.items())
    git_times = [_time(partial(_commit, watched.project, n)) for n in range(20)]
    floor = statistics.median(git_times)
    for name, seconds in {"p50": delays[len(delays) // 2], "p99": delays[int(len(delays) * 0.99)]}.items():
        print(f"  write to lane commit, {name:<10}{seconds * 1000:8.1f} ms {seconds / floor:7.2f}x")
    print(f"  {'git add and git commit':<32}{floor * 1000:6.1f} ms {1:7.2f}x")


def _listen(watcher: Connection, reported: dict[str, float]) -> None:
    for event in watcher.events():
        entry = parse_log_item(event.get("entry"))
        if event["event"] == "action" and entry is not None and entry.status == "committed":
            for path in entry.paths:
                reported.setdefault(path, time.time())


def _commit(project: Path, number: int) -> None:
    (project / f"own{number}").write_text("x\n")
    author = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
    run_git(project, "add", f"own{number}")
    assert run_git(project, *author, "commit", "-qm", "own", f"own{number}").returncode == 0


def measure_idle(watched: WatchedSession) -> None:
    pid = _pid(find_home(watched.project))
    before, started = _processor(pid), time.monotonic()
    time.sleep(IDLE_SECONDS)
    share = (_processor(pid) - before) / (time.monotonic() - started)
    print(f"  idle beside a client for {IDLE_SECONDS:.0f} s: {share:.2%} of one core")


def measure_flood(watched: WatchedSession) -> None:
    """Measure a pane that prints the events of a headless session as fast as it can."""
    project = watched.project
    events = project.parent / "events.jsonl"
    count = _write_events(events, project)
    command = ["sh", "-c", f'read go; cat "{events}"; exec sleep 600']
    pane = watched.terminal.open(command, cwd=project, environment={"PATH": os.environ["PATH"]})
    home = find_home(project)
    pipe = project.parent / "no-input"
    os.mkfifo(pipe)
    with connect_or_start(home) as watcher:
        socket = str(watched.terminal.socket())
        watcher.ask("watch", socket=socket, pane=pane.id, run="flood", pipe=str(pipe))
        pid = _pid(home)
        processor, started = _processor(pid), time.monotonic()
        pane.press("Enter")
        wait_for(lambda: _recorded(watcher, project) >= count, what="every event", seconds=280)
        seconds, used = time.monotonic() - started, _processor(pid) - processor
        lost = count - _recorded(watcher, project)
    size = events.stat().st_size
    again = _time(lambda: _decode(events))
    print(f"  a pane that prints {size / 1e6:.0f} MB in {2 * count} events: {lost} lost, {seconds:.1f} s,")
    print(f"    {used:.1f} s of processor time ({used / again:.1f}x json.loads alone), {_peak(pid)} at peak")


def _write_events(path: Path, project: Path) -> int:
    """Write failing calls, so that recording them writes no file."""
    number = 0
    base = {"session_id": "00000000-0000-4000-8000-000000000000", "parent_tool_use_id": None}
    with path.open("w") as file:
        init = {"type": "system", "subtype": "init", "cwd": str(project), "uuid": "u", **base}
        file.write(json.dumps(init) + "\n")
        while file.tell() < FLOOD_BYTES:
            number += 1
            for event in _pair(number, project):
                file.write(json.dumps({**event, **base}) + "\n")
    return number


def _pair(number: int, project: Path) -> list[Mapping[str, Any]]:
    tool_input = {"file_path": f"{project}/made{number}.txt", "content": CONTENT * LINES}
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Write", "input": tool_input}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "no", "is_error": True}
    return [
        {"type": "assistant", "message": {"content": [call], "id": f"m{number}"}, "uuid": f"a{number}"},
        {"type": "user", "message": {"role": "user", "content": [result]}, "uuid": f"b{number}"},
    ]


def _recorded(watcher: Connection, project: Path) -> int:
    time.sleep(0.5)  # a request is work for the watcher too
    return len(watcher.ask("log", cwd=str(project)))


def _decode(path: Path) -> None:
    for line in path.read_bytes().splitlines():
        json.loads(line)


def _time(run: Callable[[], None]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _pid(home: Home) -> int:
    return int(home.lock.read_text())


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _peak(pid: int) -> str:
    status = Path(f"/proc/{pid}/status").read_text()
    return f"{int(status.split('VmHWM:')[1].split()[0]) / 1024:.0f} MB of memory"
