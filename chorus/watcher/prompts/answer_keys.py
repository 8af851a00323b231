"""Send the keys of one answer to one pane: read the screen, press the next key, read again.

tmux checks the pane, its program and its text, and sends the key, in one step. A key is sent only while the
pane runs the same client and shows the prompt that the answer is for.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chorus.agents.interface import (
    Answered,
    AnswerRelay,
    DialogStillShown,
    PaneView,
    PressKey,
    PromptReader,
    Refused,
    Wait,
)
from chorus.errors import ChorusError, ExitCode
from chorus.model.prompt import NoPrompt, Prompt, ScreenArea, UnknownPrompt
from chorus.system.processes.processes import is_in_foreground
from chorus.tmux.errors import PaneChanged, ScreenChanged
from chorus.tmux.keys import ShownRows, press, type_text
from chorus.tmux.panes import PaneState, Screen, capture_screen
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.watched_panes import WatchedPane

log = logging.getLogger("chorus.watcher")

# A dialog disappears within 150 ms of its key; a busy machine takes longer.
VERIFY_TIMEOUT_SECONDS = 5.0
POLL_SECONDS = 0.02

COPY_MODE_HINT = "Press q in the pane to leave copy mode, then answer again."
PARTLY_SENT_HINT = "Check the pane, and answer there if the dialog is still open."


class PromptRefused(ChorusError):
    """The answer was not sent, was sent only in part, or was not accepted.

    `keys`: the keys that may have been pressed.
    """

    exit_code = ExitCode.REFUSED
    hint = "Check the pane, then run `chorus prompts` and answer again."

    def __init__(self, message: str, *, keys: Sequence[str] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint or (PARTLY_SENT_HINT if keys else None))
        self.keys = list(keys)


@dataclass(frozen=True, slots=True)
class PaneReader:
    """Reads a pane's screen and the prompt on it."""

    pane: WatchedPane
    screen_reader: PromptReader
    tmux: Callable[[WatchedPane], Tmux]

    def screen(self) -> Screen | None:
        try:
            return capture_screen(self.tmux(self.pane), self.pane.id)
        except ChorusError as error:
            log.info("%s cannot be read: %s", self.pane.id, error)
            return None

    def observe(self, screen: Screen) -> PaneView:
        state = screen.pane
        return PaneView(
            pane=self.pane.id,
            process=self._process(screen),
            found=self.screen_reader.read(screen.text, width=state.width),
            dead=state.dead,
            in_mode=state.in_mode,
            scrolled=bool(state.scrolled),
        )

    def _process(self, screen: Screen) -> str:
        """Return text that identifies the pane's client; empty if no client is in the foreground."""
        client, identity = self.pane.client, screen.pane.identity
        if client is None or not is_in_foreground(client, identity.pane_pid):
            return ""
        server = f"{identity.server_pid}@{identity.server_started}"
        return f"{server} {identity.pane_pid} {client.pid}@{client.started}"


async def send_answer(reader: PaneReader, relay: AnswerRelay, *, not_before: float) -> list[str]:
    """Press the keys of an answer and return them. Raises PromptRefused if the answer was not given.

    `not_before`: the event loop's time from which the first key may be pressed.
    """
    loop = asyncio.get_running_loop()
    await asyncio.sleep(max(0.0, not_before - loop.time()))
    deadline = loop.time() + VERIFY_TIMEOUT_SECONDS
    keys: list[str] = []
    while loop.time() < deadline:
        screen = reader.screen()
        if screen is None:
            raise PromptRefused(f"the pane cannot be read; {_count(len(keys))}", keys=keys)
        view = reader.observe(screen)
        match relay.observe(view):
            case PressKey(key, literal):
                keys.append(key)
                rows = _rows_of(view.found, screen)
                if not _press(reader, relay, screen.pane, rows, keys, literal=literal):
                    keys.pop()
                    await asyncio.sleep(POLL_SECONDS)
            case Answered():
                return keys
            case Refused(reason, sent):
                hint = COPY_MODE_HINT if not keys and (view.in_mode or view.scrolled) else None
                raise PromptRefused(f"{reason}; {_count(sent)}", keys=keys, hint=hint)
            case Wait():
                await asyncio.sleep(POLL_SECONDS)
    match relay.expire():
        case Answered():
            return keys
        case DialogStillShown():
            left = f"the dialog is still there; {_count(len(keys))}, and no more will be"
            raise PromptRefused(left, keys=keys)
        case Refused(reason, sent):
            raise PromptRefused(f"{reason}; {_count(sent)}", keys=keys)


def _rows_of(found: Prompt | UnknownPrompt | NoPrompt, screen: Screen) -> ShownRows:
    """Return the rows of the dialog, which must be on the screen when the key is sent."""
    area = found.area if isinstance(found, Prompt) else ScreenArea()
    return ShownRows(screen.rows[area.top :], area.columns)


def _press(
    reader: PaneReader,
    relay: AnswerRelay,
    pane: PaneState,
    rows: ShownRows,
    keys: list[str],
    *,
    literal: bool,
) -> bool:
    """Press the last key in `keys`. Return False if nothing was sent because the client was still drawing."""
    send = type_text if literal else press
    try:
        send(reader.tmux(reader.pane), pane, keys[-1], rows=rows)
    except PaneChanged as error:
        if isinstance(error, ScreenChanged) and relay.retry_last_key():
            return False
        refused = relay.key_not_sent(str(error))
        raise PromptRefused(f"{error}; {_count(refused.sent)}", keys=keys[:-1]) from error
    except ChorusError as error:
        # tmux may have sent the key: the prompt counts as answered and gets no other key.
        raise PromptRefused(f"{error}; it is not known whether the key arrived", keys=keys) from error
    return True


def _count(keys: int) -> str:
    return "nothing was sent" if keys == 0 else "one key was sent" if keys == 1 else f"{keys} keys were sent"
