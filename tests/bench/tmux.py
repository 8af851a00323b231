"""One look at a pane: a tmux process per call, against the kept control-mode connection."""

import statistics
import time
from pathlib import Path

from chorus.core.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.control import Control
from chorus.tmux.oneshot import OneShot, Tmux
from chorus.tmux.screen import read_screen
from tests.lab.terminal import Terminal

ROUNDS = 200


def main() -> None:
    with Terminal() as terminal:
        pane = terminal.open(
            ["sh", "-c", "seq 500; exec cat"], cwd=Path.cwd(), environment={"PATH": "/bin:/usr/bin"}
        )
        pane.wait_for("500")
        address = Address(terminal.socket())
        with Control(address, target=pane.id) as control:
            ways: dict[str, Tmux] = {"one-shot (libtmux)": OneShot(address), "control connection": control}
            seconds: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, tmux in ways.items():
                    start = time.perf_counter()
                    read_screen(tmux, PaneId(pane.id))
                    seconds[name].append(time.perf_counter() - start)
    floor = min(map(statistics.median, seconds.values()))
    for name, taken in seconds.items():
        median = statistics.median(taken)
        print(f"  {name:<22}{median * 1000:8.3f} ms {median / floor:7.1f}x")
