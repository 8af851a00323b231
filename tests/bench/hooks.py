"""Cost of a hook: as a process, compared with `sh -c true`, and in the real client."""

import contextlib
import itertools
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from chorus.agents.hook_spool import Spool
from chorus.demo.model_server.server import ModelServer
from tests.lab.client import Client, find_client, prepare_home, read_version
from tests.lab.hooks import HOOK
from tests.lab.script import Reply, Text, ToolUse

ROUNDS = 150
PAYLOAD = json.dumps({"hook_event_name": "PreToolUse", "tool_input": {"content": "x" * 4000}}).encode()
EDITS = 15
CLIENT_ROUNDS = 3


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        _measure_processes(Path(scratch))
        _measure_client(Path(scratch))


def _measure_processes(scratch: Path) -> None:
    unused, stopped, hung, running = (
        _repository(scratch / name) for name in ("unused", "stopped", "hung", "running")
    )
    Spool(_spool(stopped)).open()
    (_spool(stopped) / "watcher").unlink()
    (_spool(stopped) / "asleep").touch()
    Spool(_spool(hung)).open()
    (_spool(hung) / "late").touch()
    hook = [str(HOOK)]
    variants: dict[str, tuple[list[str], Path]] = {
        "sh -c true": (["sh", "-c", "true"], unused),
        "Chorus never used": (hook, unused),
        "watcher running": (hook, running),
        "watcher stopped": (hook, stopped),
        "watcher hung, second event": (hook, hung),
    }
    with _running_watcher(running):
        for _ in range(5):
            _run(hook, running)
        times = _interleave({name: _runner(words, cwd) for name, (words, cwd) in variants.items()}, ROUNDS)
    (_spool(hung) / "late").unlink()
    start = time.perf_counter()
    _run(hook, hung)
    _print_table(times)
    print(
        f"  {'watcher hung, first event':<28}{(time.perf_counter() - start) * 1000:8.2f} ms  (its time limit)"
    )


def _measure_client(scratch: Path) -> None:
    """Edit three files in turn in one session, each with other hooks: same process, same conditions."""
    binary = find_client()
    if binary is None:
        print("  no client on this platform: the cost in the client is not measured")
        return
    project = _repository(scratch / "client")
    home = scratch / "home"
    prepare_home(home, [project], version=read_version(binary))
    hooks = {
        "none": [],
        "true": [{"type": "command", "command": "true", "timeout": 5, "if": "Edit(true)"}],
        "ours": [{"type": "command", "command": str(HOOK), "args": [], "timeout": 5, "if": "Edit(ours)"}],
    }
    with ModelServer() as model_server, _running_watcher(project):
        model_server.scripts["go"] = _edits(project, list(hooks))
        client = Client(binary, home, project, model_server)
        times: dict[str, list[float]] = {name: [] for name in hooks}
        for _ in range(CLIENT_ROUNDS):
            for number, seconds in enumerate(
                _time_edits(client, [h for entry in hooks.values() for h in entry])
            ):
                times[list(hooks)[number % len(hooks)]].append(seconds)
    median = {name: statistics.median(seconds) for name, seconds in times.items()}
    floor = median["true"] - median["none"]
    print("  one edit in the real client, with a hook before and after it:")
    for name, what in {"none": "no hook", "true": "sh -c true", "ours": "Chorus, watcher running"}.items():
        extra = median[name] - median["none"]
        print(f"  {what:<28}{median[name] * 1000:8.2f} ms  adds {extra * 1000:6.2f} ms {extra / floor:7.2f}x")


def _time_edits(client: Client, entries: list[dict[str, Any]]) -> list[float]:
    """Seconds between requests to the model: one edit, its hooks, and the client's own work."""
    for name in ("none", "true", "ours"):
        (client.project / name).write_text("a0\n")
    client.model_server.requests.clear()
    groups = [{"matcher": "Edit", "hooks": entries}]
    settings = json.dumps({"hooks": {"PreToolUse": groups, "PostToolUse": groups}})
    run = client.headless("go", "--permission-mode", "acceptEdits", "--settings", settings)
    assert (client.project / "ours").read_text() == f"a{EDITS}\n", run.stderr
    times = [request.at for request in client.model_server.messages()]
    return [after - before for before, after in itertools.pairwise(times)]


def _edits(project: Path, names: list[str]) -> list[Reply]:
    replies: list[Reply] = []
    for n in range(EDITS):
        for name in names:
            change = {"file_path": str(project / name), "old_string": f"a{n}", "new_string": f"a{n + 1}"}
            replies.append([ToolUse("Edit", change)])
    return [*replies, [Text("Done.")]]


def _repository(path: Path) -> Path:
    (path / ".git").mkdir(parents=True)
    return path


def _spool(project: Path) -> Path:
    return project / ".git" / "chorus" / "spool"


@contextlib.contextmanager
def _running_watcher(project: Path) -> Iterator[None]:
    """Run a process that takes each event and releases its hook, as the watcher does."""
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.hooks", str(_spool(project))])
    while not (_spool(project) / "watcher").exists():
        time.sleep(0.01)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _serve(directory: Path) -> None:
    spool = Spool(directory)
    spool.open()
    poll = select.poll()
    poll.register(spool.fileno(), select.POLLIN)
    while True:
        poll.poll(1000)
        for event in spool.take():
            spool.release(event)
            spool.forget(event)


def _runner(words: list[str], project: Path) -> Callable[[], None]:
    return lambda: _run(words, project)


def _run(words: list[str], project: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(project)}
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    with contextlib.suppress(BrokenPipeError):
        process.communicate(PAYLOAD)


def _interleave(variants: Mapping[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in variants}
    for _ in range(rounds):
        for name, run in variants.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    return times


def _print_table(times: Mapping[str, list[float]]) -> None:
    floor = statistics.median(times["sh -c true"])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"  {name:<28}{median * 1000:8.2f} ms {median / floor:7.2f}x")


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
