"""The mod in the real client while its watcher fails: what is recorded, and how long the client is held.

A headless client makes 200 edits for each fault: a watcher that is killed, one that hangs, something that
answers rubbish on its socket, and a mod that says nothing more; and 200 without one, to compare with. Each
edit must be recorded once. How long the mod holds an edit or the start of a turn is measured in the client,
by a copy of the mod that keeps the time its handlers take without that of the call itself. Beside it, as the
model sees it, what an edit takes longer (from one request to the next) than the median of those before the
fault: that has the client's and the machine's own delays in it; the longest before the fault is named.
"""

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chorus.demo.model_server.server import ModelServer
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start
from tests.compare.edits import make_repository
from tests.compare.felt_cost import EDITS_PER_ROUND, ChorusMod, LivingClient
from tests.compare.session import Sandbox
from tests.lab.client import find_client
from tests.waiting import wait_for

EDITS = 200
ROUNDS = -(-EDITS // EDITS_PER_ROUND)
QUIET_ROUNDS = 5
LIMIT = 300  # milliseconds
QUIET_SECONDS = 1.0  # so that no report is open when the fault begins


# What the timed mod has instead of a piece of text that the module has once. No two calls run at once here.
TIMED = {
    "let hook //": """const held = []
let begun = 0
let inside = 0

async function keepTimes($) {
  const line = held.splice(0).join(" ")
  await $.process.run(["sh", "-c", 'echo "$1" >> "$2"', "sh", line, FILE], { timeoutMs: 2000 })
}

let hook //""",
    'on("tool.call", async ($, e, next) => {': """on("tool.call", async ($, e, next) => {
    begun = Date.now()""",
    "      const done = await next(e)\n": """      const ran = Date.now()
      const done = await next(e)
      inside = Date.now() - ran
""",
    "      return done\n    } finally {": """      held.push(Date.now() - begun - inside)
      return done
    } finally {""",
    "started + TURN_LIMIT_MS - Date.now())": """started + TURN_LIMIT_MS - Date.now())
    held.push(Date.now() - started)""",
    "    asked.clear()": """    await keepTimes($)
    asked.clear()""",
}


class TimedMod(ChorusMod):
    """The mod, with the times for which it holds the client in a file."""

    times: Path

    def arguments(self, sandbox: Sandbox) -> list[str]:
        option, copy = super().arguments(sandbox)
        module = Path(copy) / "hooks" / "register.js"
        self.times = sandbox.home / "held"
        text = module.read_text()
        for old, new in TIMED.items():
            assert text.count(old) == 1, old
            text = text.replace(old, new.replace("FILE", json.dumps(str(self.times))))
        module.write_text(text)
        return [option, copy]

    def read_held(self) -> list[int]:
        """For how many milliseconds each call and each message was held so far."""
        return [int(word) for word in self.times.read_text().split()]


class SilentMod(TimedMod):
    """A mod that is switched off during the session, as the watcher sees it."""

    def arguments(self, sandbox: Sandbox) -> list[str]:
        option, copy = super().arguments(sandbox)
        module = Path(copy) / "hooks" / "register.js"
        reports = (1 + QUIET_ROUNDS) * EDITS_PER_ROUND  # one of each edit, and some of turns
        marker = "async function post($, url, body) {"
        text = module.read_text()
        assert marker in text
        silent = f"let posts = 0\n{marker}\n  if (++posts > {reports}) return null"
        module.write_text(text.replace(marker, silent))
        return [option, copy]


def main() -> None:
    binary = find_client()
    if binary is None:
        print("  no client on this machine: not measured")
        return
    for name, fault, kind in (
        ("no fault", no_fault, TimedMod),
        ("watcher killed every 5 s", killed, TimedMod),
        ("watcher hung", hung, TimedMod),
        ("rubbish on its socket", rubbish, TimedMod),
        ("mod switched off", no_fault, SilentMod),
    ):
        with tempfile.TemporaryDirectory(prefix="chorus-faults-") as scratch:
            found = run(Path(scratch), binary, fault, kind())
            print(f"  {name:<26} {found} (load {os.getloadavg()[0]:.0f})", flush=True)


Fault = Callable[[Home], "Iterator[None]"]


def run(scratch: Path, binary: Path, fault: Fault, variant: TimedMod) -> str:
    sandbox = Sandbox(scratch / "project", scratch / "home")
    make_repository(sandbox.project, sandbox.home, files=100)
    variant.start(sandbox)
    home = find_home(sandbox.project)
    try:
        with ModelServer() as model_server:
            client = LivingClient(variant, sandbox, binary, model_server)
            for number in range(1 + QUIET_ROUNDS):
                client.play(number, counted=number > 0)
            usual, usual_start = statistics.median(client.felt.edits), statistics.median(client.felt.starts)
            quiet = client.felt.edits[:]
            client.felt.edits.clear()
            client.felt.starts.clear()
            time.sleep(QUIET_SECONDS)
            before = len(variant.read_held())
            with contextmanager(fault)(home):
                for number in range(ROUNDS):
                    client.play(1 + QUIET_ROUNDS + number)
                edits, starts = client.felt.edits[:], client.felt.starts[:]
            started = time.monotonic()
            client.end()
            ended = time.monotonic() - started
        connect_or_start(home).close()
        wait_for(
            lambda: variant.count_recorded(sandbox, client.felt.made) == client.felt.made,
            what="every edit recorded",
            seconds=120,
        )
    finally:
        variant.close(sandbox)
    held = sorted(variant.read_held()[before:])
    longer = sorted(1000 * (seconds - usual) for seconds in edits)
    spread = 1000 * (max(quiet) - usual)
    begun = sorted(1000 * (seconds - usual_start) for seconds in starts)
    return (
        f"{len(edits)} edits, all recorded once; the mod held {len(held)} edits and turns at most "
        f"{held[-1]} ms ({sum(one > LIMIT for one in held)} above {LIMIT}), the median "
        f"{held[len(held) // 2]}; seen by the model, an edit takes {longer[len(longer) // 2]:+.0f} ms "
        f"longer, at most {longer[-1]:+.0f} (of "
        f"{1000 * usual:.0f}; before the fault at most {spread:+.0f}), a turn begins "
        f"{begun[len(begun) // 2]:+.0f} ms later, at most {begun[-1]:+.0f}; "
        f"the client ended after {ended:.1f} s"
    )


def no_fault(_: Home) -> Iterator[None]:
    yield


def killed(home: Home) -> Iterator[None]:
    """Kill the watcher again and again; the mod starts another."""
    done = threading.Event()

    def kill() -> None:
        while not done.wait(5.0):
            with suppress(OSError, ValueError):
                os.kill(int(home.lock.read_text()), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def hung(home: Home) -> Iterator[None]:
    pid = int(home.lock.read_text())
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def rubbish(home: Home) -> Iterator[None]:
    """Put something else in the watcher's place."""
    subprocess.run([sys.executable, "-m", "chorus", "stop"], cwd=home.common_dir.parent, capture_output=True)
    listener = socket.socket(socket.AF_UNIX)
    home.socket.unlink(missing_ok=True)
    listener.bind(str(home.socket))
    listener.listen()

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{"\xff[[,}')

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield
    finally:
        home.socket.unlink(missing_ok=True)
        listener.close()
