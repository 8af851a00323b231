"""What a hook costs: as a process against `sh -c true`, and as the real client feels it."""

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
from tests.lab.script import Text, ToolUse, Turn

ROUNDS = 150
PAYLOAD = json.dumps({"hook_event_name": "PreToolUse", "tool_input": {"content": "x" * 4000}}).encode()
EDITS = 15
CLIENT_ROUNDS = 3


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        _measure_processes(Path(place))
        _measure_client(Path(place))


def _measure_processes(place: Path) -> None:
    bare, down, hung, alive = (_repository(place / name) for name in ("bare", "down", "hung", "alive"))
    Spool(_spool(down)).open()
    (_spool(down) / "watcher").unlink()
    (_spool(down) / "asleep").touch()
    Spool(_spool(hung)).open()
    (_spool(hung) / "late").touch()
    hook = [str(HOOK)]
    ways: dict[str, tuple[list[str], Path]] = {
        "sh -c true": (["sh", "-c", "true"], bare),
        "never used Chorus": (hook, bare),
        "watcher alive, waited for": (hook, alive),
        "watcher down": (hook, down),
        "watcher hung, second event": (hook, hung),
    }
    with _agent(alive):
        for _ in range(5):
            _run(hook, alive)
        taken = _interleave({name: _runner(words, cwd) for name, (words, cwd) in ways.items()}, ROUNDS)
    (_spool(hung) / "late").unlink()
    start = time.perf_counter()
    _run(hook, hung)
    _print_table(taken)
    print(
        f"  {'watcher hung, first event':<28}{(time.perf_counter() - start) * 1000:8.2f} ms  (its time limit)"
    )


def _measure_client(place: Path) -> None:
    """One session edits three files in turn, each with other hooks: the same process, the same moment."""
    binary = find_client()
    if binary is None:
        print("  no client on this platform: not measured as the client feels it")
        return
    project = _repository(place / "client")
    home = place / "home"
    prepare_home(home, [project], version=read_version(binary))
    hooks = {
        "none": [],
        "true": [{"type": "command", "command": "true", "timeout": 5, "if": "Edit(true)"}],
        "ours": [{"type": "command", "command": str(HOOK), "args": [], "timeout": 5, "if": "Edit(ours)"}],
    }
    with ModelServer() as model_server, _agent(project):
        model_server.scripts["go"] = _edits(project, list(hooks))
        client = Client(binary, home, project, model_server)
        taken: dict[str, list[float]] = {name: [] for name in hooks}
        for _ in range(CLIENT_ROUNDS):
            for number, seconds in enumerate(
                _time_edits(client, [h for entry in hooks.values() for h in entry])
            ):
                taken[list(hooks)[number % len(hooks)]].append(seconds)
    median = {name: statistics.median(seconds) for name, seconds in taken.items()}
    floor = median["true"] - median["none"]
    print("  one edit in the real client, with a hook before and after it:")
    for name, what in {"none": "no hook", "true": "sh -c true", "ours": "ours, watcher alive"}.items():
        extra = median[name] - median["none"]
        print(f"  {what:<28}{median[name] * 1000:8.2f} ms  adds {extra * 1000:6.2f} ms {extra / floor:7.2f}x")


def _time_edits(client: Client, entries: list[dict[str, Any]]) -> list[float]:
    """Seconds from each request of the model to the next: one edit, its hooks, and the client's own work."""
    for name in ("none", "true", "ours"):
        (client.project / name).write_text("a0\n")
    client.model_server.requests.clear()
    groups = [{"matcher": "Edit", "hooks": entries}]
    settings = json.dumps({"hooks": {"PreToolUse": groups, "PostToolUse": groups}})
    run = client.headless("go", "--permission-mode", "acceptEdits", "--settings", settings)
    assert (client.project / "ours").read_text() == f"a{EDITS}\n", run.stderr
    times = [request.at for request in client.model_server.messages()]
    return [after - before for before, after in itertools.pairwise(times)]


def _edits(project: Path, names: list[str]) -> list[Turn]:
    turns: list[Turn] = []
    for n in range(EDITS):
        for name in names:
            change = {"file_path": str(project / name), "old_string": f"a{n}", "new_string": f"a{n + 1}"}
            turns.append([ToolUse("Edit", change)])
    return [*turns, [Text("Done.")]]


def _repository(path: Path) -> Path:
    (path / ".git").mkdir(parents=True)
    return path


def _spool(project: Path) -> Path:
    return project / ".git" / "chorus" / "spool"


@contextlib.contextmanager
def _agent(project: Path) -> Iterator[None]:
    """A process that takes each event and lets its hook go, as the watcher does."""
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


def _interleave(ways: Mapping[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            start = time.perf_counter()
            run()
            taken[name].append(time.perf_counter() - start)
    return taken


def _print_table(taken: Mapping[str, list[float]]) -> None:
    floor = statistics.median(taken["sh -c true"])
    for name, seconds in taken.items():
        median = statistics.median(seconds)
        print(f"  {name:<28}{median * 1000:8.2f} ms {median / floor:7.2f}x")


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
