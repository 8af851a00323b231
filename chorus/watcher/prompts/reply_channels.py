"""The ways an answer reaches a client: a held hook, the control protocol, or keys typed at a printed line."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import HeldHook
from chorus.agents.interface import CannotAnswer, Prompts
from chorus.errors import ChorusError
from chorus.system.processes import is_in_foreground, read_process
from chorus.tmux.keys import press
from chorus.tmux.panes import PaneState, pane_state_command, parse_pane
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.headless_runs import HeadlessRun, HeadlessRuns
from chorus.watcher.panes.watched_panes import WatchedPane
from chorus.watcher.prompts.answer_keys import PromptRefused
from chorus.watcher.prompts.requested_prompts import ControlRequests

# A client takes its answer at once; a busy machine takes longer.
ANSWER_TIMEOUT_SECONDS = 5.0
HOOK_POLL_SECONDS = 0.01
SCREEN_POLL_SECONDS = 0.02
# This many rows at the end of the screen must be unchanged when a key is sent.
ROWS_CHECKED = 6


@dataclass(slots=True)
class HookChannel:
    """A held hook. Its process ends when the user answered in the terminal, or at the hook's time limit."""

    prompts: Prompts
    event: HookEvent
    held: HeldHook
    how: str = "hook"

    @property
    def _process(self) -> int:
        return int(self.event.name.partition(".")[0])

    def is_open(self) -> bool:
        return read_process(self._process) is not None

    async def send(self, decision: dict[str, Any]) -> None:
        self.held.answer(self.prompts.hook_reply(decision))
        deadline = asyncio.get_running_loop().time() + ANSWER_TIMEOUT_SECONDS
        while self.is_open():
            if asyncio.get_running_loop().time() > deadline:
                raise PromptRefused("the hook did not accept the answer")
            await asyncio.sleep(HOOK_POLL_SECONDS)

    def close(self) -> None:
        self.held.close()


@dataclass(slots=True)
class ControlChannel:
    """The standard input of a headless session that Chorus started."""

    prompts: Prompts
    runs: HeadlessRuns
    run: HeadlessRun
    request_id: str
    requests: ControlRequests
    how: str = "control"

    def is_open(self) -> bool:
        return self.run.pipe.exists()

    async def send(self, decision: dict[str, Any]) -> None:
        await self.runs.write(self.run, self.prompts.control_reply(self.request_id, decision))
        self.requests.mark_answered(self.request_id)

    def close(self) -> None:
        """Do nothing: no resource is held."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """The pane while it shows the request's line, and what was typed after it."""

    state: PaneState
    typed: str
    rows: tuple[str, ...]


@dataclass(slots=True)
class LineChannel:
    """A client that prints a `permission_request` line in its pane and reads the answer there.

    The line must be the last thing the pane shows, printed by the client in the foreground: then one key is
    sent, `y` or `n`, and Enter once the pane shows that key and nothing else after the line. Otherwise no
    key is sent.
    """

    prompts: Prompts
    pane: WatchedPane
    text: str
    tmux: Callable[[WatchedPane], Tmux]
    how: str = "line"

    def is_open(self) -> bool:
        return self._look() is not None

    async def send(self, decision: dict[str, Any]) -> None:
        try:
            key = self.prompts.line_reply(decision)
        except CannotAnswer as error:
            raise PromptRefused(f"{error}; nothing was sent") from None
        shown = self._look()
        if shown is None or shown.typed:
            raise PromptRefused("the question is no longer the last line in the pane; nothing was sent")
        self._press(shown, key, sent=[])
        if await self._wait(lambda now: now.typed == key):
            shown = self._look()
            if shown is None or shown.typed != key:
                raise PromptRefused("the pane changed; one key was sent", keys=[key])
            self._press(shown, "Enter", sent=[key])
            if await self._wait(lambda _: False):
                raise PromptRefused("the client did not accept the answer", keys=[key, "Enter"])

    def close(self) -> None:
        """Do nothing: no resource is held."""

    async def _wait(self, reached: Callable[[ShownLine], bool]) -> bool:
        """Wait until the pane shows it (True) or the line is answered (False); raise when neither happens."""
        deadline = asyncio.get_running_loop().time() + ANSWER_TIMEOUT_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            shown = self._look()
            if shown is None:
                return False
            if reached(shown):
                return True
            await asyncio.sleep(SCREEN_POLL_SECONDS)
        raise PromptRefused("the client did not accept the key; no other key was sent")

    def _press(self, shown: ShownLine, key: str, *, sent: list[str]) -> None:
        try:
            press(self.tmux(self.pane), shown.state, key, showing=shown.rows)
        except ChorusError as error:
            raise PromptRefused(f"{error}; {len(sent)} keys were sent", keys=sent) from error

    def _look(self) -> ShownLine | None:
        """Return what the pane shows if the line is the last thing in it, apart from a typed key."""
        client = self.pane.client
        try:
            tmux = self.tmux(self.pane)
            lines = tmux.run(
                pane_state_command(self.pane.id), ["capture-pane", "-p", "-J", "-t", self.pane.id]
            )
        except ChorusError:
            return None
        state = parse_pane(lines[0])
        if (
            client is None
            or state.dead
            or state.in_mode
            or not is_in_foreground(client, state.identity.pane_pid)
        ):
            return None
        printed = [line.strip() for line in lines[1:] if line.strip()]
        rows = tuple(row[: state.width - 1] for row in printed[-ROWS_CHECKED:])
        for typed in ([], printed[-1:]):
            before = printed[: len(printed) - len(typed)]
            if (
                before
                and self.prompts.is_request_line(before[-1], self.text)
                and "".join(typed) in {"", "y", "n"}
            ):
                return ShownLine(state, "".join(typed), rows)
        return None
