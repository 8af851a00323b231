"""`python -m chorus.demo.stand_in`: the stand-in, with the options of the client that the demo uses."""

import argparse
import queue
import sys
import threading
import time
from pathlib import Path

from chorus.demo.stand_in.conversation import Conversation
from chorus.demo.stand_in.screen import State
from chorus.demo.stand_in.session import CLIENT_VERSION, Registration, Session
from chorus.demo.stand_in.terminal import Terminal

REDRAW_SECONDS = 0.1
# A second Ctrl-C within this time exits.
EXIT_SECONDS = 1.0


class App:
    """Draws the screen and reads keys, while another thread plays the conversation."""

    def __init__(self, options: argparse.Namespace, terminal: Terminal) -> None:
        self._session = Session(Path.cwd(), options.permission_mode)
        self._terminal = terminal
        self._state = State(str(self._session.cwd), self._session.mode)
        self._conversation = Conversation(self._session, options.settings, self._state, terminal.wake)
        self._registration = Registration(self._session)
        self._messages: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._interrupted_at = 0.0
        self._exit_reason: str | None = None

    def run(self) -> None:
        worker = threading.Thread(target=self._converse, daemon=True)
        worker.start()
        try:
            while self._exit_reason is None and worker.is_alive():
                self._draw()
                busy = self._state.working_since is not None or self._state.leaving
                keys = self._terminal.read_keys(REDRAW_SECONDS if busy else None)
                if keys is None:
                    break
                for key in keys:
                    self._press(key)
        finally:
            self._conversation.stop()
            self._messages.put(None)
            worker.join(timeout=5)
            self._conversation.end(self._exit_reason or "other")
            self._registration.remove()

    def _converse(self) -> None:
        self._conversation.begin()
        while (message := self._messages.get()) is not None:
            self._conversation.send(message)

    def _draw(self) -> None:
        state = self._state
        state.leaving = time.monotonic() - self._interrupted_at < EXIT_SECONDS
        columns, rows = self._terminal.measure()
        self._terminal.draw(state.render(columns, rows))
        status = "waiting" if state.dialog else "idle" if state.working_since is None else "busy"
        self._registration.update(status)

    def _press(self, key: str) -> None:
        state = self._state
        if state.dialog is not None:
            state.dialog.press(key)
            return
        match key:
            case "enter":
                self._submit()
            case "escape" | "ctrl-c" if state.working_since is not None:
                self._conversation.stop()
            case "backspace":
                state.typed = state.typed[:-1]
            case "ctrl-u":
                state.typed = ""
            case "ctrl-c":
                if state.leaving:
                    self._exit_reason = "prompt_input_exit"
                state.typed, self._interrupted_at = "", time.monotonic()
            case "ctrl-d" if not state.typed:
                self._exit_reason = "prompt_input_exit"
            case _ if len(key) == 1:
                state.typed += key

    def _submit(self) -> None:
        text, self._state.typed = self._state.typed.strip(), ""
        if text in ("/exit", "/quit", "exit", "quit"):
            self._exit_reason = "prompt_input_exit"
        elif text:
            self._messages.put(text)


def main() -> int:
    parser = argparse.ArgumentParser(prog="claude", allow_abbrev=False)
    parser.add_argument("--settings", default="")
    parser.add_argument("--permission-mode", default="acceptEdits", choices=["acceptEdits", "auto"])
    parser.add_argument("-v", "--version", action="version", version=f"{CLIENT_VERSION} (Claude Code)")
    options = parser.parse_args()
    if not sys.stdout.isatty():
        parser.error("the demo's stand-in for Claude Code needs a terminal")
    with Terminal() as terminal:
        App(options, terminal).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
