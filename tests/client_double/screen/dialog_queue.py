"""The dialogs that wait for a key, one at a time.

Any thread may put a question; the drawing thread opens the next dialog and hands it the keys. A
question answered elsewhere, by a hook, takes its dialog with it.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.client_double.output import Answer
from tests.client_double.screen.frame import Overlay, State


@dataclass(slots=True, eq=False)
class QueuedDialog:
    name: str
    overlay: Overlay
    settle: Callable[[Answer], object]
    at_the_bottom: bool = False
    gone: threading.Event = field(default_factory=threading.Event)


class DialogQueue:
    def __init__(self, state: State, changed: Callable[[], None]) -> None:
        self.lock = threading.RLock()
        self._state = state
        self._changed = changed
        self._asked: list[QueuedDialog] = []

    @property
    def name(self) -> str | None:
        """The name of the open dialog."""
        return self._asked[0].name if self._asked and self._state.overlay is not None else None

    def put(self, asked: QueuedDialog) -> None:
        with self.lock:
            self._asked.append(asked)
        self._changed()

    def withdraw(self, asked: QueuedDialog) -> None:
        with self.lock:
            self._remove(asked)
        self._changed()

    def raise_dialog(self, *, ready: bool) -> None:
        """Open the next dialog, unless the user has just typed into the input box."""
        state, asked = self._state, self._asked
        if state.overlay is not None:
            state.overlay.complete = True
            return
        state.waiting = bool(asked) and not ready
        if asked and ready:
            state.overlay, state.at_the_bottom = asked[0].overlay, asked[0].at_the_bottom

    def press(self, key: str) -> None:
        with self.lock:
            if self.name is None:
                return
            asked = self._asked[0]
            # The client ignores keys until a dialog is drawn completely.
            answer = asked.overlay.press(key) if asked.overlay.complete else None
            if answer is not None:
                self._remove(asked)
                asked.settle(answer)
        self._changed()

    def dismiss(self) -> None:
        """Refuse all dialogs: the client ends."""
        with self.lock:
            for asked in list(self._asked):
                self._remove(asked)
                asked.settle(Answer(False))

    def _remove(self, asked: QueuedDialog) -> None:
        if asked in self._asked:
            if asked is self._asked[0]:
                self._state.overlay = None
            self._asked.remove(asked)
        asked.gone.set()
