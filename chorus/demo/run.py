"""A whole performance: scratch place, stage, client, and then either the player or a person.

Whatever happens, the tmux server, the agent and the files are gone afterwards.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FrameType

from chorus.demo.demo_tmux import DemoTmux
from chorus.demo.guide import PREFIX, Guide
from chorus.demo.player import PERMISSION_MODE, StoryPlayer
from chorus.demo.real_client import RealClient
from chorus.demo.scratch_repository import ScratchRepository
from chorus.errors import ChorusError
from chorus.output import print_err
from chorus.tmux.address import select_address
from chorus.tmux.tmux_server import TmuxServer

# The bar below the panes: the hint alone, on its own line.
BAR = [
    ("status-position", "bottom"),
    ("status-left-length", "200"),
    ("status-right", ""),
    ("status-style", "bg=colour25,fg=colour231,bold"),
    ("window-status-format", ""),
    ("window-status-current-format", ""),
    ("mouse", "on"),
    # An arrow right after `C-b →` is meant for the panel, not for another change of the pane.
    ("repeat-time", "0"),
    # No login shell: that would forget where the demo's own programs are.
    ("default-command", 'exec "$SHELL"'),
]


def play_headless(*, real: bool) -> None:
    """The story by itself."""
    with _staged(real=real) as (scratch, stage):
        print_err(f"chorus demo: playing in {scratch.project}")
        StoryPlayer(scratch, stage).play()
    print_err("chorus demo: every step held; nothing of it is left")


def play_interactive(*, real: bool) -> None:
    """The story for a person, who drives it; hints stand in the bar below."""
    size = os.get_terminal_size()
    with _staged(real=real, width=size.columns, height=size.lines) as (scratch, stage):
        stage.start_client(*PERMISSION_MODE, panel=True)
        for option, value in BAR:
            stage.tmux.run(["set-option", "-g", option, value])
        left = threading.Event()
        guide = threading.Thread(target=Guide(scratch, stage, left, find_prefix(os.environ)).run, daemon=True)
        guide.start()
        _attach(stage)
        left.set()
        guide.join()
    print_err("chorus demo: nothing of it is left")


@contextmanager
def _staged(
    *, real: bool, width: int = 120, height: int = 40
) -> Iterator[tuple[ScratchRepository, DemoTmux]]:
    with ExitStack() as things:
        for number in (signal.SIGTERM, signal.SIGHUP):
            things.callback(signal.signal, number, signal.signal(number, _leave))
        scratch = things.enter_context(ScratchRepository())
        if real:
            things.enter_context(RealClient(scratch))
        yield scratch, things.enter_context(DemoTmux(scratch, width=width, height=height))


def find_prefix(environment: Mapping[str, str]) -> str:
    """What to press for the demo's tmux: another one around it takes the first prefix for itself."""
    if not environment.get("TMUX"):
        return PREFIX
    try:
        outer = TmuxServer(select_address(environment, name=None, path=None)).run(["show", "-gv", "prefix"])
    except ChorusError:
        return PREFIX  # what the variable names is gone
    return f"{PREFIX} {PREFIX}" if outer == [PREFIX] else PREFIX


def _leave(number: int, frame: FrameType | None) -> None:
    """A closed window or a kill is an orderly end: everything is taken away on the way out."""
    raise SystemExit(128 + number)


def _attach(stage: DemoTmux) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
    command = ["tmux", "-S", str(stage.address.socket), "attach-session"]
    subprocess.run(command, env=environment)
