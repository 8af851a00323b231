"""Read a pane in both ways; and read a pane that prints 50 MB through a pipe, byte for byte."""

import select
import statistics
import sys
import tempfile
import time
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.control_connection import ControlConnection
from chorus.tmux.panes import capture_screen, read_pane
from chorus.tmux.pipe import open_pipe
from chorus.tmux.tmux_server import Tmux, TmuxServer
from tests.lab.terminal import Terminal

ROUNDS = 200
FLOOD_LINES = 500_000
FLOOD = "import sys; [sys.stdout.write('%099d\\n' % n) for n in range({})]; sys.stdout.flush(); input()"


def main() -> None:
    _measure_reads()
    _measure_flood()


def _measure_flood() -> None:
    with Terminal() as terminal, tempfile.TemporaryDirectory() as scratch:
        wait = ["sh", "-c", 'read go; exec "$@"', "sh", sys.executable, "-c", FLOOD.format(FLOOD_LINES)]
        pane = terminal.open(wait, cwd=Path.cwd(), environment={"PATH": "/bin:/usr/bin"})
        tmux = TmuxServer(Address(terminal.socket()))
        pipe = open_pipe(tmux, PaneId(pane.id), Path(scratch) / "fifo")
        server = read_pane(tmux, PaneId(pane.id)).identity.server_pid
        pane.press("Enter")
        start, processor = time.perf_counter(), time.process_time()
        got, tail, expected = 0, b"", 0
        while expected < FLOOD_LINES:
            chunk = pipe.read()
            if not chunk:
                select.select([pipe], [], [], 1)
            got += len(chunk)
            *lines, tail = (tail + chunk).split(b"\r\n")
            for line in lines:
                if line.isdigit():
                    assert int(line) == expected, "a line is missing or out of order"
                    expected += 1
        seconds, used = time.perf_counter() - start, time.process_time() - processor
        peak = next(
            line for line in Path(f"/proc/{server}/status").read_text().splitlines() if "VmHWM" in line
        )
        pipe.close(tmux)
    print(
        f"  {got / 1e6:.0f} MB in {seconds:.1f} s, none lost, in order; {used:.1f} s of processor time here;"
    )
    print(f"  peak memory of the tmux server: {peak.split(':')[1].strip()}")


def _measure_reads() -> None:
    with Terminal() as terminal:
        pane = terminal.open(
            ["sh", "-c", "seq 500; exec cat"], cwd=Path.cwd(), environment={"PATH": "/bin:/usr/bin"}
        )
        pane.wait_for("500")
        address = Address(terminal.socket())
        with ControlConnection(address, target=pane.id) as control:
            variants: dict[str, Tmux] = {
                "one-shot (libtmux)": TmuxServer(address),
                "control connection": control,
            }
            seconds: dict[str, list[float]] = {name: [] for name in variants}
            for _ in range(ROUNDS):
                for name, tmux in variants.items():
                    start = time.perf_counter()
                    capture_screen(tmux, PaneId(pane.id))
                    seconds[name].append(time.perf_counter() - start)
    floor = min(map(statistics.median, seconds.values()))
    for name, measured in seconds.items():
        median = statistics.median(measured)
        print(f"  {name:<22}{median * 1000:8.3f} ms {median / floor:7.1f}x")
