"""The watcher's processor time per edit, by hooks and by the mod, and idle; its memory over 20,000 edits.

The driver plays the client: it reports, writes the file, appends to the transcript. Only the processor time
of the watcher counts. `python -m tests.bench.processor FILES mod|hooks EDITS` prints where it goes.
"""

import http.client
import json
import os
import pstats
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError
from chorus.wire.client import connect
from chorus.wire.home import Home, find_home
from tests.bench.recording import path_of
from tests.waiting import wait_for

EDITS = 200
IDLE_SECONDS = 30.0
SIZES_AFTER = (1500, 3000, 6000, 10_000, 15_000, 20_000)
MANY_EDITS = SIZES_AFTER[-1]
LINE = "    return argument + 1\n"
BODY = "def function(argument):\n" + LINE * 60
PROFILED = """
import cProfile, signal, sys, time
from chorus.watcher.__main__ import main
profile = cProfile.Profile(time.thread_time)
signal.signal(signal.SIGUSR1, lambda *_: profile.enable())
try:
    main(sys.argv[2:])
finally:
    profile.disable()
    profile.dump_stats(sys.argv[1])
"""


def main() -> None:
    for files in (100, 50_000):
        for kind in ("mod", "hooks"):
            with driver(files, kind) as client:
                print(f"  {files:>6} files, {kind:<5}: {client.measure(EDITS)}", flush=True)
                if files == 100:
                    for when in ("in the half minute after the last edit", "in the next one"):
                        print(f"  idle {when}: {client.idle():.3%} of one core", flush=True)
    with driver(100, "mod") as client:
        print(f"  memory: {client.memory()}", flush=True)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("chorus", timeout=60)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.path))


class Driver:
    """Reports edits to a watcher as a client does, by its mod or by its hooks."""

    def __init__(self, home: Home, project: Path, paths: list[str], kind: str, pid: int) -> None:
        self.home, self.project, self.paths, self.pid = home, project, paths, pid
        self.kind = kind
        self.transcript = project.parent / "session.jsonl"
        self.session = {"session_id": "11111111-0000-4000-8000-000000000000", "cwd": str(project)}
        self.session |= {"transcript_path": str(self.transcript), "permission_mode": "acceptEdits"}
        self.connection = UnixConnection(home.socket)
        self.number = 0
        self.alone = False  # nothing else may be writing, so an edit is reported at its end alone
        if kind == "hooks":
            wait_for((home.spool / "poke").exists, what="the spool")
        self.hook({"hook_event_name": "SessionStart", "source": "startup"})
        self.hook({"hook_event_name": "UserPromptSubmit", "prompt": "go"})
        time.sleep(3.0)  # the first scan

    is_profiled = False

    def edit(self) -> None:
        self.number += 1
        call = f"toolu_{self.number:08}"
        path = self.project / self.paths[self.number % len(self.paths)]
        before = path.read_text()
        line = f"    # {self.number}\n"
        tool_input = {"file_path": str(path), "old_string": LINE, "new_string": line + LINE}
        after = before.replace(LINE, line + LINE, 1)
        at = before[: before.index(LINE)].count("\n")  # lines before the new one
        patch = {"oldStart": at, "oldLines": 1, "newStart": at, "newLines": 2}
        result: dict[str, Any] = {
            "filePath": str(path),
            "oldString": LINE,
            "newString": line + LINE,
            "originalFile": before,
        }
        result |= {
            "structuredPatch": [patch | {"lines": [" " + before.splitlines()[at - 1], "+" + line[:-1]]}]
        }
        block = {"type": "tool_use", "id": call, "name": "Edit", "input": tool_input}
        self.write_line("assistant", {"role": "assistant", "content": [block]})
        event = {"tool_name": "Edit", "tool_use_id": call, "tool_input": tool_input}
        self.before(event)
        path.write_text(after)
        self.after(event, result)
        done = {"type": "tool_result", "tool_use_id": call, "content": "The file was updated."}
        self.write_line("user", {"role": "user", "content": [done]}, toolUseResult=result)

    def before(self, event: dict[str, Any]) -> None:
        if self.alone if self.kind == "mod" else (self.home.spool / f"alone.{os.getpid()}").exists():
            return
        if self.kind == "mod":
            self.post({"event": "before", "time": int(time.time() * 1000), **self._call(event)})
        else:
            self.hook({"hook_event_name": "PreToolUse", **event})

    def after(self, event: dict[str, Any], result: dict[str, Any]) -> None:
        if self.kind == "mod":
            self.post({"event": "after", "result": result, **self._call(event)})
        else:
            self.hook({"hook_event_name": "PostToolUse", **event, "tool_response": result})

    def _call(self, event: dict[str, Any]) -> dict[str, Any]:
        names = {"tool": event["tool_name"], "call": event["tool_use_id"], "input": event["tool_input"]}
        return {"session": self.session, "cwd": str(self.project), **names}

    def post(self, body: object) -> None:
        self.connection.request("POST", "/report", json.dumps(body))
        self.alone = json.loads(self.connection.getresponse().read()).get("alone") is True

    def hook(self, event: dict[str, Any]) -> None:
        if self.kind == "mod":
            self.post({"event": "hook", "hook": {**self.session, **event}})
            return
        self.number += 1
        name = self.home.spool / f"{os.getpid()}.{self.number}"
        temporary = self.home.spool / "being-written"
        temporary.write_bytes(b"1\t%d\t\t\n" % os.getpid() + json.dumps({**self.session, **event}).encode())
        temporary.rename(name)
        wakeup = os.open(self.home.spool / "poke", os.O_WRONLY | os.O_NONBLOCK)
        os.write(wakeup, b"\n")
        os.close(wakeup)
        while name.exists():
            time.sleep(0.0005)

    def write_line(self, kind: str, message: dict[str, Any], **more: object) -> None:
        common = {"sessionId": self.session["session_id"], "cwd": str(self.project)}
        moment = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        line = {"type": kind, "uuid": os.urandom(8).hex(), "timestamp": moment, "message": message}
        with self.transcript.open("a") as file:
            file.write(json.dumps({**common, **line, **more}) + "\n")

    def measure(self, edits: int, pause: float = 0.15) -> str:
        """Processor time per edit, reading the transcript included, without what the idle watcher uses."""
        for _ in range(20):
            self.edit()
        time.sleep(1.0)
        idle = self.idle(3.0)
        if self.is_profiled:
            os.kill(self.pid, signal.SIGUSR1)
        spent = []
        used, started = processor(self.pid), time.monotonic()
        for _ in range(edits):
            self.edit()
            time.sleep(pause)
            now, ended = processor(self.pid), time.monotonic()
            spent.append(1000 * (now - used - idle * (ended - started)))
            used, started = now, ended
        self.check(edits)
        spent.sort()
        low, middle = spent[edits // 10], spent[edits // 2]
        load = os.getloadavg()[0]
        return f"{low:.2f} ms of processor time per edit (p10), {middle:.2f} (median), load {load:.1f}"

    def check(self, edits: int) -> None:
        with connect(self.home) as watcher:
            entries = watcher.ask("log", cwd=str(self.project), here=True, outside=True)
        mine = [entry for entry in entries if entry["status"] == "committed"]
        assert all(entry["paths"] for entry in mine)
        others = [entry["status"] for entry in entries if entry["status"] != "committed"]
        assert not others, others
        assert len(mine) >= edits, (len(mine), edits)

    def idle(self, seconds: float = IDLE_SECONDS) -> float:
        used, started = processor(self.pid), time.monotonic()
        time.sleep(seconds)
        return (processor(self.pid) - used) / (time.monotonic() - started)

    def memory(self) -> str:
        sizes = []
        for number in range(1, MANY_EDITS + 1):
            self.edit()
            if number in SIZES_AFTER:
                sizes.append(f"{resident(self.pid):.1f} MB after {number:,}")
        self.check(MANY_EDITS)
        return "; ".join(sizes)


def processor(pid: int) -> float:
    """Seconds of processor time that all threads of a process have used."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def is_serving(home: Home) -> bool:
    try:
        connect(home).close()
    except (ChorusError, OSError):
        return False
    return True


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


@contextmanager
def driver(files: int, kind: str, profile: Path | None = None) -> Iterator[Driver]:
    fast = Path("/dev/shm")
    with tempfile.TemporaryDirectory(
        prefix="chorus-processor-", dir=fast if fast.is_dir() else None
    ) as scratch:
        project = Path(scratch) / "project"
        paths = [path_of(number, files, 20 if files < 1000 else 40) for number in range(files)]
        for path in paths:
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(BODY)
        git = ["git", "-c", "user.name=b", "-c", "user.email=b@example.com"]
        for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
            subprocess.run([*git, *words], cwd=project, check=True, capture_output=True)
        home = find_home(project)
        home.spool.mkdir(parents=True, mode=0o700)
        home.root.chmod(0o700)
        program = ["-c", PROFILED, str(profile)] if profile else ["-m", "chorus.watcher"]
        watcher = subprocess.Popen([sys.executable, *program, str(home.common_dir)])
        try:
            wait_for(lambda: is_serving(home), what="the watcher", seconds=60)
            yield Driver(home, project, paths[:50], kind, watcher.pid)
        finally:
            watcher.send_signal(signal.SIGTERM)
            watcher.wait()


def print_profile(files: int, kind: str, edits: int) -> None:
    with tempfile.TemporaryDirectory(prefix="chorus-processor-") as scratch:
        path = Path(scratch) / "profile"
        with driver(files, kind, path) as client:
            client.is_profiled = True
            print(client.measure(edits))
        pstats.Stats(str(path)).sort_stats("cumulative").print_stats(70)


if __name__ == "__main__":
    print_profile(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
