"""Hints for a user who drives the demo: the next step, in the bar below the panes."""

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from chorus.demo import story
from chorus.demo.demo_tmux import INPUT_BOX, DemoTmux
from chorus.demo.player import PERMISSION_DIALOG
from chorus.demo.scratch_repository import ScratchRepository
from chorus.errors import ChorusError

POLL_SECONDS = 0.3
# The prefix of the demo's tmux.
PREFIX = "C-b"
# Each hint fits a bar of 80 columns, also with two prefixes.
WELCOME = "left: the client · right: Chorus · press Enter to send the message"
PROMPT = "the client asks · in the panel (C-b →) press a: approve"
MORE = "each action is a commit · in the client (C-b ←) Enter asks for more"
REVERT = "'Goodbye' is wrong · choose it in the panel (C-b →) and press r twice"
LAND = "only that edit is gone · press l, then ctrl+l: the rest lands on main"
THE_END = "landed · C-b c: shell for `git log` · C-b d removes the demo"

# The words to replace in hints: for a narrow terminal, where the panel is below the client, and for one that
# is low as well, where the panel has a window of its own.
BELOW = {"left:": "above:", "right:": "below:", "→": "↓", "←": "↑"}
IN_WINDOW = {"left:": "here:", "right:": "window 1:", "→": "1", "←": "0"}


@dataclass(frozen=True, slots=True)
class Guide:
    scratch: ScratchRepository
    tmux: DemoTmux
    left: threading.Event  # set when the user has detached
    prefix: str = PREFIX
    replacements: Mapping[str, str] = field(default_factory=dict)  # words in hints (`find_replacements`)

    def run(self) -> None:
        try:
            for number, hint in enumerate(self._hints(), 1):
                status = f" {number}/6  {self.render(hint)} "
                self.tmux.server.run(["set-option", "-g", "status-left", status])
        except ChorusError:
            # The user closed the client or the window.
            return

    def render(self, hint: str) -> str:
        """Return the hint with the user's tmux prefix and the panel's real position."""
        for beside, here in self.replacements.items():
            hint = hint.replace(beside, here)
        return hint.replace(PREFIX, self.prefix)

    def _hints(self) -> Iterator[str]:
        first, second = story.messages(str(self.scratch.project))
        self.tmux.type(first.text)
        yield WELCOME
        if self._wait_for(lambda: self._shows(PERMISSION_DIALOG)):
            yield PROMPT
        if self._wait_for(lambda: self._shows(f"● {first.last_text}[\\s\\S]*{INPUT_BOX}")):
            self.tmux.type(second.text)
            yield MORE
        if self._wait_for(lambda: self._shows(f"● {second.last_text}")):
            yield REVERT
        if self._wait_for(lambda: self._file("greet.py") == story.FINAL_GREET):
            yield LAND
        if self._wait_for(lambda: len(self.scratch.git("rev-list", "main").split()) > 1):
            yield THE_END

    def _wait_for(self, holds: Callable[[], bool]) -> bool:
        """Wait until the condition holds. Return False if the user left first."""
        while not self.left.wait(POLL_SECONDS):
            if holds():
                return True
        return False

    def _shows(self, pattern: str) -> bool:
        return re.search(pattern, self.tmux.screen()) is not None

    def _file(self, name: str) -> str:
        return (self.scratch.project / name).read_text(encoding="utf-8")
