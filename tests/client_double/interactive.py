"""The client on a screen: one thread draws and takes keys, another holds the conversation.

A key typed before a dialog is up goes into the input box and holds the dialog back; a key typed at
a dialog answers it. Text and Enter send a message; while the model works it waits its turn.
"""

import queue
import sys
import threading
import time
from collections.abc import Callable

from tests.client_double.client import Client, assemble, open_session
from tests.client_double.options import Options
from tests.client_double.screen.blocks import AssistantText, ClientLine
from tests.client_double.screen.frame import State, footer_modes, render
from tests.client_double.screen.keys import KeyRecord, decode_keys
from tests.client_double.screen.screen_output import ScreenOutput
from tests.client_double.screen.terminal import Terminal
from tests.client_double.session import Registration, Session
from tests.client_double.values import Json

BEAT_SECONDS = 0.1
# For so long after a key typed into the input box no dialog opens.
HOLD_SECONDS = 1.5
TWICE_SECONDS = 1.0
Job = Callable[[], None]


class App:
    def __init__(self, options: Options, terminal: Terminal) -> None:
        self.session, script = open_session(options, interactive=True)
        self._terminal = terminal
        self._state = State(self.session.version, str(self.session.cwd), self.session.mode)
        self._front = ScreenOutput(self.session, self._state, script.options, terminal.wake)
        self._client: Client = assemble(options, self.session, script, self._front)
        self._client.tasks.notify = self._notified
        self._record = KeyRecord(options.record_keys)
        self._jobs: queue.Queue[Job | None] = queue.Queue()
        self._registration = Registration(self.session)
        self._registered: tuple[str, str] | None = None
        self._typed_at = 0.0
        self._interrupted_at = 0.0
        self._leaving: str | None = None
        self._failure: BaseException | None = None
        self._first = options.message

    def run(self) -> None:
        threading.excepthook = self._failed
        worker = threading.Thread(target=self._work, daemon=True)
        worker.start()
        try:
            while self._leaving is None and self._failure is None:
                self._draw()
                data = self._terminal.read(self._pause())
                if data is None:
                    self._leaving = "other"
                elif data:
                    self._take(data)
        finally:
            self._leave(worker)
        if self._failure is not None:
            raise self._failure

    def _failed(self, failure: threading.ExceptHookArgs) -> None:
        """End the client when a thread fails, so that the error is visible."""
        self._failure = failure.exc_value
        self._terminal.wake()

    def _leave(self, worker: threading.Thread) -> None:
        self._client.conversation.interrupt.set()
        self._client.shell.stop()
        self._front.asking.dismiss()
        self._jobs.put(None)
        worker.join(timeout=5)
        self._client.conversation.end(self._leaving or "other")
        self._registration.remove()

    def _work(self) -> None:
        self._client.conversation.begin("startup")
        if self._first:
            self._send(self._first)
        while (job := self._jobs.get()) is not None:
            job()
            if self._state.queued and self._jobs.empty():
                self._send(self._state.queued.pop(0))

    def _draw(self) -> None:
        now = time.monotonic()
        self._terminal.measure()
        with self._front.lock:
            self._front.asking.raise_dialog(ready=now - self._typed_at >= HOLD_SECONDS)
            self._state.mode = self.session.mode
            self._state.leaving = now - self._interrupted_at < TWICE_SECONDS
            self._state.beat += self._state.working_since is not None
            rows = render(self._state, self._terminal.columns, self._terminal.rows, now)
        self._terminal.draw(rows)
        self._register()

    def _register(self) -> None:
        state = self._state
        waits, works = state.overlay is not None, state.working_since is not None
        status = "waiting" if waits else "busy" if works else "idle"
        if (self.session.id, status) != self._registered:
            self._registered = (self.session.id, status)
            self._registration.write(self.session, status)

    def _pause(self) -> float | None:
        state = self._state
        if state.overlay is not None and not state.overlay.complete:
            return 0.03
        busy = state.working_since is not None or state.waiting or state.leaving
        return BEAT_SECONDS if busy else None

    def _take(self, data: bytes) -> None:
        self._record.add(data, self._front.asking.name)
        for key in decode_keys(data):
            # Each key acts on the screen that the key before it left.
            if self._state.overlay is not None:
                self._front.asking.press(key)
            else:
                self._press(key)

    def _press(self, key: str) -> None:
        state = self._state
        match key:
            case "enter":
                self._submit()
            case "escape" if state.working_since is not None:
                self._interrupt()
            case "backspace":
                state.typed = state.typed[:-1]
            case "ctrl-u":
                state.typed = ""
            case "ctrl-c":
                self._control_c()
            case "ctrl-d" if not state.typed:
                self._leaving = "prompt_input_exit"
            case "btab":
                modes = footer_modes()
                place = modes.index(self.session.mode) if self.session.mode in modes else 0
                self.session.mode = modes[(place + 1) % len(modes)]
            case _ if len(key) == 1 or key.startswith("paste:"):
                state.typed += key.removeprefix("paste:")
                self._typed_at = time.monotonic()

    def _submit(self) -> None:
        state = self._state
        text, state.typed, self._typed_at = state.typed.strip(), "", 0.0
        if text in ("/exit", "/quit", "exit", "quit"):
            self._leaving = "prompt_input_exit"
        elif text == "/clear":
            self._jobs.put(self._clear)
        elif text.startswith("/"):
            state.blocks.append(ClientLine(f"  ⎿  Unknown command: {text}"))
        elif text and state.working_since is not None:
            state.queued.append(text)
        elif text:
            self._send(text)

    def _send(self, text: str, origin: Json | None = None) -> None:
        self._front.begin_work()
        self._jobs.put(lambda: self._client.conversation.say(text, origin))

    def _notified(self, text: str, origin: Json) -> None:
        summary = text.partition("<summary>")[2].partition("</summary>")[0]
        with self._front.lock:
            self._state.blocks.append(AssistantText(summary))
        self._send(text, origin)

    def _clear(self) -> None:
        self._client.conversation.clear()
        self._front.clear()

    def _interrupt(self) -> None:
        self._client.conversation.interrupt.set()
        self._client.shell.stop()

    def _control_c(self) -> None:
        now = time.monotonic()
        if self._state.working_since is not None:
            self._interrupt()
        elif self._state.typed:
            self._state.typed = ""
        elif now - self._interrupted_at < TWICE_SECONDS:
            self._leaving = "prompt_input_exit"
        else:
            self._interrupted_at = now


def run(options: Options) -> int:
    with Terminal() as terminal:
        app = App(options, terminal)
        app.run()
    _say_goodbye(app.session)
    return 0


def _say_goodbye(session: Session) -> None:
    sys.stdout.write(f"\r\nResume this session with:\r\nclaude --resume {session.id}\r\n")
    sys.stdout.flush()
