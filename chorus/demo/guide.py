"""Hints for a person who plays the story: the next thing to do, in the bar below the panes.

Watches the screen and the repository while the person is attached. Types each message into the input
box, so that one Enter sends it, and presses nothing else.
"""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chorus.demo import story
from chorus.demo.demo_tmux import INPUT_BOX, DemoTmux
from chorus.demo.player import ASKED
from chorus.demo.scratch_repository import ScratchRepository
from chorus.errors import ChorusError

LOOK_SECONDS = 0.3
# How keys reach the demo's own tmux; inside another one with the same prefix it takes two.
PREFIX = "C-b"
# Each fits a bar of 80 columns, also with two prefixes.
WELCOME = "left: the client · right: Chorus · press Enter to send the message"
ASKING = "the client asks · in the panel (C-b →) press a: approve"
MORE = "each action is a commit · in the client (C-b ←) Enter asks for more"
REVERT = "'Goodbye' is wrong · choose it in the panel (C-b →) and press r twice"
LAND = "only that edit is gone · press l, then ctrl+l: the rest lands on main"
THE_END = "landed · C-b c: shell for `git log` · C-b d leaves nothing behind"


@dataclass(frozen=True, slots=True)
class Guide:
    scratch: ScratchRepository
    stage: DemoTmux
    left: threading.Event  # set when the person has left
    prefix: str = PREFIX

    def run(self) -> None:
        """Go through the hints as the story goes on, until the person leaves."""
        try:
            for number, hint in enumerate(self._hints(), 1):
                words = f" {number}/6  {hint.replace(PREFIX, self.prefix)} "
                self.stage.tmux.run(["set-option", "-g", "status-left", words])
        except ChorusError:
            # The person closed the client or the window: there is nothing left to guide through.
            return

    def _hints(self) -> Iterator[str]:
        first, second = story.messages(str(self.scratch.project))
        self.stage.type(first.text)
        yield WELCOME
        if self._until(lambda: self._shows(ASKED)):
            yield ASKING
        if self._until(lambda: self._shows(f"● {first.last_words}[\\s\\S]*{INPUT_BOX}")):
            self.stage.type(second.text)
            yield MORE
        if self._until(lambda: self._shows(f"● {second.last_words}")):
            yield REVERT
        if self._until(lambda: self._file("greet.py") == story.FINAL_GREET):
            yield LAND
        if self._until(lambda: len(self.scratch.git("rev-list", "main").split()) > 1):
            yield THE_END

    def _until(self, holds: Callable[[], bool]) -> bool:
        """Wait until it holds; False when the person has left before."""
        while not self.left.wait(LOOK_SECONDS):
            if holds():
                return True
        return False

    def _shows(self, pattern: str) -> bool:
        return re.search(pattern, self.stage.screen()) is not None

    def _file(self, name: str) -> str:
        return (self.scratch.project / name).read_text(encoding="utf-8")
