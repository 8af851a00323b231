"""The panel: from an action to the screen, start-up, scrolling, memory with 10,000 actions, idle cost."""

import fcntl
import os
import pty
import resource
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import PARSER, entry, prompt, story_watcher

ROOT = Path(__file__).parent.parent.parent
MANY = 10_000
SAMPLES = 30
DEADLINE_SECONDS = 60.0
PANEL = [sys.executable, "-P", "-m", "chorus", "panel"]
# Textual drawing one word: the lower bound of start-up.
BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self): yield Static("Queue")
Bare().run()
"""
# Textual with the watcher's socket and one line of text: the lower bound of an arrival.
BARE_CLIENT = """
import json, threading
from pathlib import Path
from textual.app import App
from textual.widgets import Static
from chorus.wire.client import connect
from chorus.wire.home import find_home
class Bare(App):
    def compose(self): yield Static("Queue")
    def on_mount(self): threading.Thread(target=self.listen, daemon=True).start()
    def listen(self):
        with connect(find_home(Path.cwd())) as watcher:
            watcher.ask("subscribe")
            self.call_from_thread(self.show, "Listening")
            for event in watcher.events():
                self.call_from_thread(self.show, (event.get("entry") or event["prompt"])["message"])
    def show(self, text): self.query_one(Static).update(text)
Bare().run()
"""


@dataclass(slots=True)
class Screen:
    """A program on its own terminal, and the bytes it writes."""

    pid: int
    terminal: int
    seen: bytes = b""

    def wait_for(self, words: bytes) -> float:
        """Wait until these words are written; return the seconds it took."""
        started = time.perf_counter()
        while words not in self.seen:
            left = started + DEADLINE_SECONDS - time.perf_counter()
            assert left > 0, f"{words!r} was not written: {self.seen[-2000:]!r}"
            self.read(left)
        return time.perf_counter() - started

    def read(self, seconds: float) -> None:
        if select.select([self.terminal], [], [], seconds)[0]:
            self.seen += os.read(self.terminal, 1 << 20)

    def drain(self, seconds: float) -> None:
        """Discard output until nothing was written for that time."""
        while select.select([self.terminal], [], [], seconds)[0]:
            os.read(self.terminal, 1 << 20)
        self.seen = b""

    def press(self, keys: bytes) -> None:
        os.write(self.terminal, keys)

    def memory_megabytes(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def on_terminal(command: Sequence[str], where: Path) -> Iterator[Screen]:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(where),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    environment |= {"PYTHONPATH": str(ROOT), "COLORTERM": "truecolor"}
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(where)
        os.execve(command[0], list(command), environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    try:
        yield Screen(pid, terminal)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


@contextmanager
def watcher_with(count: int) -> Iterator[ScriptedWatcher]:
    with tempfile.TemporaryDirectory() as directory:
        watcher = story_watcher(Path(directory))
        watcher.entries = {
            n: entry(n, turn=f"t{n // 12}", summary=f"Step {n}", paths=[f"src/part{n % 97}/file{n % 13}.py"])
            for n in range(1, count + 1)
        }
        watcher.patches = dict.fromkeys(watcher.entries, PARSER)
        watcher.start()
        try:
            yield watcher
        finally:
            watcher.stop()


def measure_arrival(watcher: ScriptedWatcher, screen: Screen) -> tuple[list[float], list[float]]:
    """Return the seconds from an event of the watcher to the terminal: for actions, for prompts."""
    actions, prompts = [], []
    for n in range(SAMPLES):
        screen.drain(0.1)
        watcher.add_action(entry(MANY + 100 + n, turn=f"new{n}", message=f"Arrival-{n}-of-many"), PARSER)
        actions.append(screen.wait_for(f"Arrival-{n}-of-many".encode()))
    for n in range(SAMPLES):
        screen.drain(0.1)
        watcher.add_prompt(prompt("p", question=f"Question-{n}-of-many", fingerprint=f"f{n}"))
        prompts.append(screen.wait_for(f"Question-{n}-of-many".encode()))
    watcher.withdraw("p")
    return actions, prompts


def measure_bare_arrival(watcher: ScriptedWatcher, screen: Screen) -> float:
    screen.wait_for(b"Listening")
    times = []
    for n in range(SAMPLES):
        screen.drain(0.1)
        watcher.add_action(entry(2 * MANY + n, message=f"Arrival-{n}-of-many"))
        times.append(screen.wait_for(f"Arrival-{n}-of-many".encode()))
    return statistics.median(times)


def measure_scroll(screen: Screen) -> float:
    """Return the seconds from a page key to the first bytes drawn."""
    times = []
    for key in [b"\x1b[5~", b"\x1b[6~"] * (SAMPLES // 2):
        screen.drain(0.06)
        screen.press(key)
        started = time.perf_counter()
        screen.read(DEADLINE_SECONDS)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def measure_idle(screen: Screen) -> float:
    """Return the share of one core that an idle panel uses."""
    screen.drain(0.5)
    before, started = screen.cpu_seconds(), time.perf_counter()
    screen.drain(5.0)
    return (screen.cpu_seconds() - before) / (time.perf_counter() - started)


def measure_start(command: Sequence[str], where: Path, words: bytes) -> float:
    times = []
    for _ in range(5):
        started = time.perf_counter()
        with on_terminal(command, where) as screen:
            screen.wait_for(words)
            times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows: dict[int, dict[str, float]] = {}
    for count in (100, MANY):
        with watcher_with(count) as watcher, on_terminal(PANEL, watcher.home.common_dir.parent) as screen:
            screen.wait_for(f"Step {count}".encode())
            screen.drain(0.5)
            memory, idle, scroll = screen.memory_megabytes(), measure_idle(screen), measure_scroll(screen)
            screen.press(b"G")
            actions, prompts = measure_arrival(watcher, screen)
            rows[count] = {
                "action to screen, median ms": statistics.median(actions) * 1000,
                "action to screen, worst ms": max(actions) * 1000,
                "prompt to screen, median ms": statistics.median(prompts) * 1000,
                "prompt to screen, worst ms": max(prompts) * 1000,
                "page key to screen, median ms": scroll * 1000,
                "memory MB": memory,
                "idle % of a core": idle * 100,
            }
    few, many = rows[100], rows[MANY]
    print(f"{'':32}{'100 actions':>14}{f'{MANY:,}':>14}{'ratio':>8}")
    for name, value in few.items():
        ratio = f"{many[name] / value:8.2f}" if value else f"{'':8}"
        print(f"{name:32}{value:14.1f}{many[name]:14.1f}{ratio}")
    with watcher_with(100) as watcher:
        where = watcher.home.common_dir.parent
        with on_terminal([sys.executable, "-c", BARE_CLIENT], where) as screen:
            floor = measure_bare_arrival(watcher, screen) * 1000
        bare = measure_start([sys.executable, "-c", BARE], where, b"Queue")
        panel = measure_start(PANEL, where, b"Step 100")
    for what in ("action", "prompt"):
        times = many[f"{what} to screen, median ms"] / floor
        print(f"{what} to screen at {MANY:,}: {times:.1f}x Textual with one line ({floor:.1f} ms)")
    print(f"start-up, seconds: Textual alone {bare:.2f}, panel with its log {panel:.2f}: {panel / bare:.2f}x")
