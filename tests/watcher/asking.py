"""A client that asks in a real pane and keeps every key it gets, watched as the agent watches it."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.events.parser import parse_event
from chorus.agents.claude_code.pairing.pairing import Pairing
from chorus.agents.interface import Source
from chorus.config.user_config import Preferences
from chorus.model.answer import Allow, Answer
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.panes import Panes, WatchedPane
from chorus.watcher.prompts.audit_log import Audit
from chorus.watcher.prompts.pane_prompts import Desks
from chorus.watcher.prompts.pressing import PromptRefused
from chorus.watcher.prompts.prompts import NoSuchPrompt, Prompts
from tests.client_double.conftest import ClientDouble
from tests.lab.client import say
from tests.lab.terminal import Pane, Terminal, wait_until
from tests.screens import shipped_rules

# Means nothing in any dialog. When it has arrived, so has every key that was sent before it.
SENTINEL = "x"


async def nobody(*_: object) -> None:
    """Called when a client is gone."""


@dataclass(slots=True)
class Asking:
    client_double: ClientDouble
    terminal: Terminal
    pane: Pane
    audit: Audit
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    keys_before: int = 0
    rung: list[tuple[int, int]] = field(default_factory=list)
    preferences: Preferences = field(default_factory=Preferences)
    prompts: Prompts = field(init=False)
    panes: Panes = field(init=False)
    watched: WatchedPane = field(init=False)

    def __post_init__(self) -> None:
        self.restart_agent()

    def restart_agent(self) -> None:
        """Everything an agent remembers of prompts is gone."""
        desks = Desks(shipped_rules(), self._tmux)
        publish = lambda event, **more: self.events.append((event, more))  # noqa: E731
        self.prompts = Prompts(
            desks, self.audit, publish, lambda: self.preferences, has_hooks=lambda _: False, ring=self._rung
        )
        self.panes = Panes(lambda *_: None, nobody, lambda _: None, self._looked)

    def _rung(self, fresh: list[dict[str, Any]], waiting: int) -> None:
        self.rung.append((len(fresh), waiting))

    def _tmux(self, pane: WatchedPane) -> TmuxServer:
        return TmuxServer(pane.address)

    def _looked(self, pane: WatchedPane) -> None:
        if pane.key in self.panes.all:
            self.prompts.look(pane)
        else:
            self.prompts.forget(pane)

    async def watch(self) -> None:
        address = Address(self.terminal.socket())
        self.watched = await self.panes.watch(address, PaneId(self.pane.id))
        assert self.watched.client is not None

    async def ask(self, message: str, shows: str = r"Esc to cancel") -> dict[str, Any]:
        """Have the client ask; the prompt as it is listed."""
        await self.watch()
        say(self.pane, message)
        self.pane.wait_settled(shows)
        self.keys_before = len(self.pressed())
        return self.listed()[0]

    def listed(self) -> list[dict[str, Any]]:
        self.prompts.look(self.watched)
        return self.prompts.waiting()

    async def answer(self, prompt: dict[str, Any], answer: Answer | None = None) -> dict[str, Any]:
        return await self.prompts.answer(prompt["id"], prompt["fingerprint"], answer or Allow(), by="test")

    async def refused(self, prompt: dict[str, Any], why: str, answer: Answer | None = None) -> None:
        with pytest.raises((PromptRefused, NoSuchPrompt), match=why) as caught:
            await self.answer(prompt, answer)
        assert caught.value.exit_code in (3, 6)

    def hear_transcript(self) -> None:
        """What the session has written of itself by now."""
        pairing = Pairing()
        for line in self.client_double.transcript():
            self.prompts.hear(pairing.feed(parse_event(line, source=Source.TRANSCRIPT)))

    def pressed(self) -> list[str]:
        """Every key that reached the client since it asked."""
        return [key for read in self.client_double.pressed() for key in read["keys"]][self.keys_before :]

    def expect_keys(self, *keys: str) -> None:
        """Exactly these reached the client, the test's own among them."""
        self.pane.press(SENTINEL)
        wait_until(lambda: SENTINEL in self.pressed(), what="the sentinel arrives")
        assert self.pressed() == [*keys, SENTINEL]


def write(name: str, text: str = "text\n") -> dict[str, Any]:
    return {"tool": "Write", "input": {"file_path": f"{{cwd}}/{name}", "content": text}}


def end(text: str = "All done.") -> Sequence[dict[str, Any]]:
    return [{"say": text}]


Open = Callable[..., Awaitable[Asking]]


def stand_in_pane(client_double: ClientDouble, terminal: Terminal, *arguments: str) -> Pane:
    return client_double.interactive(terminal, "--permission-mode", "default", *arguments)


def recorded(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
