"""The tmux server of the demo, with the client in a pane."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import Self

from chorus.demo.scratch_repository import ScratchRepository
from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.errors import TmuxNotInstalled
from chorus.tmux.panes import capture_screen, read_history
from chorus.tmux.tmux_server import TmuxServer

# The rule of the input box, and its mark in the row below. A dialog has the same mark before an option.
INPUT_BOX = r"─{10}\n❯\s"
POLL_SECONDS = 0.02
# Far longer than any step takes: it only bounds a story that went wrong.
WAIT_TIMEOUT_SECONDS = 60.0
EXIT_TIMEOUT_SECONDS = 10.0


class ScreenTimeout(ChorusError):
    """The screen did not show the expected text."""


class DemoTmux:
    def __init__(self, scratch: ScratchRepository, *, width: int = 120, height: int = 40) -> None:
        self._scratch = scratch
        self._size = (width, height)
        self.address = Address(scratch.root / "tmux.sock")
        self.server = TmuxServer(self.address)
        self.pane = PaneId("")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            pids = [int(pid) for pid in self.server.run(["list-panes", "-a", "-F", "#{pane_pid}"])]
            self.server.run(["kill-server"])
        except ChorusError:
            return  # the server is already gone
        _wait_for_exit(pids)

    def start_client(self, *arguments: str, panel: bool) -> None:
        """Run `chorus claude` in the first pane and wait until the client accepts a message."""
        width, height = map(str, self._size)
        options = ["--no-mod", *([] if panel else ["--no-panel"])]  # the stand-in runs hooks only
        command_line = [sys.executable, "-P", "-m", "chorus", "claude", *options, "--", *arguments]
        # fmt: off
        command = [
            "tmux", "-S", str(self.address.socket), "-f", "/dev/null",
            # The output of a client that cannot start stays on the screen.
            "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";",
            "new-session", "-d", "-P", "-F", "#{pane_id}", "-n", "client",
            "-x", width, "-y", height, "-c", str(self._scratch.project), "--", *command_line,
        ]
        # fmt: on
        try:
            done = subprocess.run(
                command, env=self._scratch.environment(), capture_output=True, text=True, check=True
            )
        except FileNotFoundError as error:
            raise TmuxNotInstalled from error
        except subprocess.CalledProcessError as error:
            raise ScreenTimeout(f"tmux did not start: {error.stderr.strip()}") from error
        self.pane = PaneId(done.stdout.strip())
        self.wait_for(INPUT_BOX)
        self.server.run(["set-option", "-g", "remain-on-exit", "off"])

    def screen(self) -> str:
        return capture_screen(self.server, self.pane).text

    def type(self, text: str) -> None:
        """Type a message into the input box and wait until it shows."""
        self.server.run(["send-keys", "-t", self.pane, "-l", "--", text])
        self.wait_for(r"❯\s" + re.escape(text))

    def send(self, text: str) -> None:
        self.type(text)
        self.server.run(["send-keys", "-t", self.pane, "Enter"])

    def wait_for(self, pattern: str) -> str:
        """Wait until the pattern is on the screen, and return the screen's text."""
        deadline = time.monotonic() + WAIT_TIMEOUT_SECONDS
        while True:
            seen = capture_screen(self.server, self.pane)
            screen = seen.text
            if re.search(pattern, screen):
                return screen
            if seen.pane.dead:
                raise ScreenTimeout(f"the client ended:\n{read_history(self.server, self.pane).strip()}")
            if time.monotonic() > deadline:
                raise ScreenTimeout(f"the screen does not show {pattern!r}:\n{screen.rstrip()}")
            time.sleep(POLL_SECONDS)


def _wait_for_exit(pids: list[int]) -> None:
    """Wait until these processes end. Kill those that still run after EXIT_TIMEOUT_SECONDS."""
    deadline = time.monotonic() + EXIT_TIMEOUT_SECONDS
    for pid in pids:
        with suppress(ProcessLookupError):
            while time.monotonic() < deadline:
                os.kill(pid, 0)
                time.sleep(POLL_SECONDS)
            os.kill(pid, signal.SIGKILL)
