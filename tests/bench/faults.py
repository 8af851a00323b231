"""The mod in the real client while its watcher fails: what is recorded, and how long the client is held.

A headless client makes 200 edits for each fault: a watcher that is killed, one that hangs, and something that
answers rubbish on its socket. Each edit must be recorded once. An edit takes from one request to the model to
the next; what it is held is that time less the median of the edits before the fault.
"""

import os
import shutil
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
from tests.lab.hooks import HOOK
from tests.waiting import wait_for

EDITS = 200
ROUNDS = -(-EDITS // EDITS_PER_ROUND)
QUIET_ROUNDS = 5


class ModWithWake(ChorusMod):
    """As `chorus claude` starts it: the mod may start a watcher."""

    def environment(self, sandbox: Sandbox) -> dict[str, str]:
        program = shutil.which("chorus", path=str(Path(sys.executable).parent)) or "chorus"
        return {**super().environment(sandbox), "CHORUS_HOOK": str(HOOK), "CHORUS_PROGRAM": program}


def main() -> None:
    binary = find_client()
    if binary is None:
        print("  no client on this machine: not measured")
        return
    for name, fault in {
        "watcher killed every 5 s": killed,
        "watcher hung": hung,
        "rubbish on its socket": rubbish,
    }.items():
        with tempfile.TemporaryDirectory(prefix="chorus-faults-") as scratch:
            print(f"  {name:<30} {run(Path(scratch), binary, fault)}", flush=True)


Fault = Callable[[Home], "Iterator[None]"]


def run(scratch: Path, binary: Path, fault: Fault) -> str:
    sandbox = Sandbox(scratch / "project", scratch / "home")
    make_repository(sandbox.project, sandbox.home, files=100)
    variant = ModWithWake()
    variant.start(sandbox)
    home = find_home(sandbox.project)
    try:
        with ModelServer() as model_server:
            client = LivingClient(variant, sandbox, binary, model_server)
            for number in range(1 + QUIET_ROUNDS):
                client.play(number, counted=number > 0)
            usual = statistics.median(client.felt.edits)
            client.felt.edits.clear()
            with contextmanager(fault)(home):
                for number in range(ROUNDS):
                    client.play(1 + QUIET_ROUNDS + number)
                edits = client.felt.edits[:]
            started = time.monotonic()
            client.end()
            ended = time.monotonic() - started
        connect_or_start(home).close()
        wait_for(
            lambda: variant.count_recorded(sandbox) == client.felt.made,
            what="every edit recorded",
            seconds=120,
        )
    finally:
        variant.close(sandbox)
    held = sorted(1000 * (seconds - usual) for seconds in edits)
    late = sum(one > 300 for one in held)
    return (
        f"{len(edits)} edits, all recorded once; held: median {held[len(held) // 2]:+.0f} ms, longest "
        f"{held[-1]:.0f} ms, {late} above 300 ms (an edit takes {1000 * usual:.0f}); the client ended after "
        f"{ended:.1f} s"
    )


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
