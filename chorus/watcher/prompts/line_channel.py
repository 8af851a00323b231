"""A client that asks with a `permission_request` line in its pane and reads the answer there.

The line must be the last thing the pane shows, in front of the very client that printed it: then one key,
`y` or `n`, and Enter once the pane shows that key and nothing else behind the line. Anything else: no key.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chorus.agents.claude_code.replies.permission_replies import DEFAULT_DENIAL
from chorus.errors import ChorusError
from chorus.system.processes import is_in_foreground
from chorus.tmux.keys import press
from chorus.tmux.panes import PaneState, pane_state_command, parse_pane
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.panes import WatchedPane
from chorus.watcher.prompts.pressing import PromptRefused

TAKEN_SECONDS = 5.0
LOOK_AGAIN_SECONDS = 0.02
# So many rows at the end of the screen must still be there when a key is sent.
ROWS_CHECKED = 6


@dataclass(frozen=True, slots=True)
class Shown:
    state: PaneState
    typed: str  # behind the line
    rows: tuple[str, ...]


@dataclass(slots=True)
class LineChannel:
    pane: WatchedPane
    text: str
    tmux: Callable[[WatchedPane], Tmux]
    how: str = "line"

    def is_open(self) -> bool:
        return self._look() is not None

    async def say(self, decision: dict[str, Any]) -> None:
        if decision.get("message", DEFAULT_DENIAL) != DEFAULT_DENIAL:
            raise PromptRefused("this client takes no words with its answer; nothing was sent")
        key = "y" if decision["behavior"] == "allow" else "n"
        shown = self._look()
        if shown is None or shown.typed:
            raise PromptRefused("the line is not the last thing in the pane; nothing was sent")
        self._press(shown, key, sent=[])
        if await self._wait(lambda now: now.typed == key):
            shown = self._look()
            if shown is None or shown.typed != key:
                raise PromptRefused("the pane changed; one key was sent", keys=[key])
            self._press(shown, "Enter", sent=[key])
            if await self._wait(lambda _: False):
                raise PromptRefused("the client did not take the answer", keys=[key, "Enter"])

    def close(self) -> None:
        """Nothing is held."""

    async def _wait(self, reached: Callable[[Shown], bool]) -> bool:
        """Until the pane shows it, True, or the line is answered, False. Raises when neither comes."""
        deadline = asyncio.get_running_loop().time() + TAKEN_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            shown = self._look()
            if shown is None:
                return False
            if reached(shown):
                return True
            await asyncio.sleep(LOOK_AGAIN_SECONDS)
        raise PromptRefused("the client did not take the key; no more is sent")

    def _press(self, shown: Shown, key: str, *, sent: list[str]) -> None:
        try:
            press(self.tmux(self.pane), shown.state, key, showing=shown.rows)
        except ChorusError as error:
            raise PromptRefused(f"{error}; {len(sent)} keys were sent", keys=sent) from error

    def _look(self) -> Shown | None:
        """The line, if it is the last thing shown, and what was typed behind it."""
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
            if before and _is_line(before[-1], self.text) and "".join(typed) in {"", "y", "n"}:
                return Shown(state, "".join(typed), rows)
        return None


def _is_line(line: str, text: str) -> bool:
    try:
        event = json.loads(line)
    except ValueError:
        return False
    return (
        isinstance(event, dict) and event.get("type") == "permission_request" and event.get("prompt") == text
    )
