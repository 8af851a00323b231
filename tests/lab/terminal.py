"""A tmux server for one test, read and typed into from outside."""

import functools
import os
import re
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest

from chorus.tmux.tmux_server import read_version

# A deadline: on an idle machine everything shows within a second.
WAIT_TIMEOUT_SECONDS = 90.0
SETTLED_SECONDS = 0.25

# A pane's environment without what the tmux server inherited from the test run.
ONLY_THIS_ENVIRONMENT = 'exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" "$@"'

# Otherwise it makes every detached session 80 columns wide, whatever it is told.
SIZES_OF_3_2 = ("start-server", ";", "set-option", "-g", "window-size", "manual", ";")


class NotShown(AssertionError):
    """The screen did not show what was expected."""


def wait_until(condition: Callable[[], bool], *, what: str, seconds: float = WAIT_TIMEOUT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise NotShown(f"not within {seconds:g} s: {what}")
        time.sleep(0.02)


@functools.cache
def is_tmux_3_2() -> bool:
    """Whether this tmux does some things its own way: sizes of sessions, and blanks at the ends of rows."""
    return read_version().startswith("3.2")


class Terminal:
    """A private tmux server. It ends, with everything in it, when the block ends."""

    def __init__(self, *, width: int = 120, height: int = 40) -> None:
        self.name = f"chorus-lab-{uuid.uuid4().hex[:12]}"
        self.width, self.height = width, height

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.socket().unlink(missing_ok=True)

    def stop(self) -> None:
        """Kill the server and wait until it is gone: tmux replies before it exits."""
        self.tmux("kill-server", check=False)
        self.wait_left()

    def wait_left(self) -> None:
        """Wait until the server is gone: before it exits it lists no pane and accepts no new one."""
        wait_until(lambda: not self._answers(), what="the tmux server has left")

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket())) == 0

    def socket(self) -> Path:
        return Path(os.environ.get("TMUX_TMPDIR", "/tmp")) / f"tmux-{os.getuid()}" / self.name

    def tmux(self, *arguments: str, check: bool = True) -> str:
        command = ["tmux", "-L", self.name, "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=check).stdout

    def open(self, command: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> "Pane":
        """Run a command in a new pane, with exactly this environment."""
        # tmux expands formats in the directory, and a word that ends in a semicolon ends its command.
        directory = re.sub(";$", r"\\;", str(cwd).replace("#", "##"))
        pairs = [f"{name}={value}" for name, value in environment.items()]
        # fmt: off
        pane = self.tmux(
            *(SIZES_OF_3_2 if is_tmux_3_2() else ()),
            "new-session", "-d", "-P", "-F", "#{pane_id}", "-x", str(self.width), "-y", str(self.height),
            "-c", directory, "--", "sh", "-c", ONLY_THIS_ENVIRONMENT, "sh", *pairs, *command,
        )
        # fmt: on
        return Pane(self, pane.strip())


@dataclass(frozen=True, slots=True)
class Pane:
    terminal: Terminal
    id: str

    def screen(self) -> str:
        return self.terminal.tmux("capture-pane", "-p", "-t", self.id, check=False)

    def press(self, *keys: str) -> None:
        """Press named keys, one after another."""
        self.terminal.tmux("send-keys", "-t", self.id, *keys)

    def type(self, text: str) -> None:
        self.terminal.tmux("send-keys", "-t", self.id, "-l", "--", text)

    def wait_for(self, pattern: str, *, seconds: float = WAIT_TIMEOUT_SECONDS) -> str:
        """Wait until the screen shows the pattern; return the screen."""
        return self._wait(lambda screen: bool(re.search(pattern, screen)), pattern, seconds)

    def wait_settled(self, pattern: str, *, seconds: float = WAIT_TIMEOUT_SECONDS) -> str:
        """Wait until the screen shows the pattern and has been still long enough to accept a key.

        The client draws some dialogs twice, and swallows keys in the first 150 ms of one.
        """
        since, last = time.monotonic(), ""

        def still(screen: str) -> bool:
            nonlocal since, last
            if screen != last:
                since, last = time.monotonic(), screen
            return bool(re.search(pattern, screen)) and time.monotonic() - since > SETTLED_SECONDS

        return self._wait(still, pattern, seconds)

    def wait_gone(self, pattern: str, *, seconds: float = WAIT_TIMEOUT_SECONDS) -> str:
        return self._wait(lambda screen: not re.search(pattern, screen), f"no {pattern}", seconds)

    def _wait(self, good: Callable[[str], bool], what: str, seconds: float) -> str:
        screen = ""

        def look() -> bool:
            nonlocal screen
            screen = self.screen()
            return good(screen)

        try:
            wait_until(look, what=what, seconds=seconds)
        except NotShown as error:
            raise NotShown(f"{error}\n{screen}") from None
        return screen


def terminal_fixture(*, width: int = 120, height: int = 40) -> object:
    """Make a `terminal` fixture of this size; assign it to the name `terminal`."""

    @pytest.fixture(name="terminal")
    def open_terminal() -> Iterator[Terminal]:
        if shutil.which("tmux") is None:
            pytest.skip("no tmux on this machine")
        with Terminal(width=width, height=height) as terminal:
            yield terminal

    return open_terminal
