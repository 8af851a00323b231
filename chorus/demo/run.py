"""Run the demo in a scratch repository and a tmux server of its own, with or without the user."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FrameType

from chorus.demo.demo_tmux import DemoTmux
from chorus.demo.guide import BELOW, IN_WINDOW, PREFIX, Guide
from chorus.demo.player import PERMISSION_MODE, StoryPlayer
from chorus.demo.real_client import RealClient
from chorus.demo.scratch_repository import ScratchRepository
from chorus.errors import ChorusError
from chorus.output import print_err
from chorus.tmux.address import select_address
from chorus.tmux.launch import MIN_BELOW_HEIGHT, MIN_BESIDE_WIDTH
from chorus.tmux.tmux_server import TmuxServer

# The options of the demo's tmux. The bar below the panes shows only the hint.
BAR = [
    ("status-position", "bottom"),
    ("status-left-length", "200"),
    ("status-right", ""),
    ("status-style", "bg=colour25,fg=colour231,bold"),
    ("window-status-format", ""),
    ("window-status-current-format", ""),
    ("mouse", "on"),
    # An arrow key right after `C-b →` is for the panel, not another change of the pane.
    ("repeat-time", "0"),
    # No login shell: it would reset PATH, and with it the demo's own programs.
    ("default-command", 'exec "$SHELL"'),
]


def play_headless(*, real: bool) -> None:
    with _set_up(real=real) as (scratch, tmux):
        print_err(f"chorus demo: playing in {scratch.project}")
        StoryPlayer(scratch, tmux).play()
    print_err("chorus demo: every step passed; the scratch repository was removed")


def play_interactive(*, real: bool) -> None:
    """Let the user drive the story, with hints in the bar below the panes."""
    size = os.get_terminal_size()
    rows = size.lines - 1  # one is for the status line
    with _set_up(real=real, width=size.columns, height=rows) as (scratch, tmux):
        tmux.start_client(*PERMISSION_MODE, panel=True)
        for option, value in BAR:
            tmux.server.run(["set-option", "-g", option, value])
        left = threading.Event()
        replacements = find_replacements(size.columns, rows)
        hints = Guide(scratch, tmux, left, find_prefix(os.environ), replacements)
        guide = threading.Thread(target=hints.run, daemon=True)
        guide.start()
        _attach(tmux)
        left.set()
        guide.join()
    print_err("chorus demo: the scratch repository was removed")


@contextmanager
def _set_up(
    *, real: bool, width: int = 120, height: int = 40
) -> Iterator[tuple[ScratchRepository, DemoTmux]]:
    with ExitStack() as things:
        for number in (signal.SIGTERM, signal.SIGHUP):
            things.callback(signal.signal, number, signal.signal(number, _leave))
        scratch = things.enter_context(ScratchRepository())
        if real:
            things.enter_context(RealClient(scratch))
        yield scratch, things.enter_context(DemoTmux(scratch, width=width, height=height))


def find_replacements(columns: int, rows: int) -> Mapping[str, str]:
    """Return the words to replace in hints if the terminal is too small for a panel beside the client."""
    if columns >= MIN_BESIDE_WIDTH:
        return {}
    return BELOW if rows >= MIN_BELOW_HEIGHT else IN_WINDOW


def find_prefix(environment: Mapping[str, str]) -> str:
    """Return the tmux prefix to type: twice if the demo runs inside another tmux with the same prefix."""
    if not environment.get("TMUX"):
        return PREFIX
    try:
        outer = TmuxServer(select_address(environment, name=None, path=None)).run(["show", "-gv", "prefix"])
    except ChorusError:
        return PREFIX  # that server is gone
    return f"{PREFIX} {PREFIX}" if outer == [PREFIX] else PREFIX


def _leave(number: int, frame: FrameType | None) -> None:
    """Exit on a signal, so that the demo cleans up."""
    raise SystemExit(128 + number)


def _attach(tmux: DemoTmux) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
    command = ["tmux", "-S", str(tmux.address.socket), "attach-session"]
    subprocess.run(command, env=environment)
