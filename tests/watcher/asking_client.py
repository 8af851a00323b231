"""A client that shows prompts in a real pane and records every key it gets."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.claude_code.events.parser import parse_event
from chorus.agents.claude_code.pairing.pairing import Pairing
from chorus.agents.interface import RunningClient, Source
from chorus.config.user_config import Preferences
from chorus.model.answer import Allow, Answer
from chorus.model.api.json_api import AnswerJson, EventJson, PromptJson
from chorus.model.ids import PaneId, SessionId
from chorus.system.processes.processes import Process
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.watched_panes import Stream, WatchedPane, WatchedPanes
from chorus.watcher.prompts.answer_keys import PromptRefused
from chorus.watcher.prompts.audit_log import AuditLog
from chorus.watcher.prompts.pane_prompts import PanePrompts
from chorus.watcher.prompts.pending_prompts import NoSuchPrompt, PendingPrompts
from tests.client_double.conftest import ClientDouble
from tests.lab.client import say
from tests.lab.terminal import Pane, Terminal, wait_until

# Means nothing in any dialog. When it has arrived, so has every key that was sent before it.
SENTINEL = "x"


@dataclass(slots=True)
class FakePaneEvents:
    """Takes what watched panes find; every pane has the same stream."""

    on_poll: Callable[[WatchedPane], None] = lambda _: None
    stream: Stream | None = None

    def watch_begins(self, pane: WatchedPane) -> None: ...

    def client_found(self, pane: WatchedPane, client: RunningClient) -> None: ...

    async def session_lost(self, session: SessionId, client: Process) -> None: ...

    def open_stream(self, pane: WatchedPane) -> Stream | None:
        return self.stream

    def needs_poll(self, pane: WatchedPane) -> bool:
        return True

    def is_end_reported(self, pane: WatchedPane) -> bool:
        return False

    def polled(self, pane: WatchedPane) -> None:
        self.on_poll(pane)

    def polled_all(self) -> None: ...


@dataclass(slots=True)
class Asking:
    client_double: ClientDouble
    terminal: Terminal
    pane: Pane
    audit: AuditLog
    events: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    keys_before: int = 0
    notified: list[tuple[int, int]] = field(default_factory=list)
    preferences: Preferences = field(default_factory=Preferences)
    prompts: PendingPrompts = field(init=False)
    panes: WatchedPanes = field(init=False)
    watched: WatchedPane = field(init=False)

    def __post_init__(self) -> None:
        self.restart_watcher()

    def restart_watcher(self) -> None:
        """Everything a watcher remembers of prompts is gone."""
        screens = PanePrompts(AGENT.prompts, AGENT.prompts.screen_reader(), self._tmux)
        self.prompts = PendingPrompts(
            AGENT.prompts,
            screens,
            self.audit,
            self._publish,
            lambda: self.preferences,
            sources_of=lambda _: (),
            notify=self._notify,
        )
        self.panes = WatchedPanes(FakePaneEvents(self._polled), AGENT.clients)

    def _publish(self, event: EventJson) -> None:
        fields: dict[str, Any] = {**event}
        self.events.append((fields.pop("event"), fields))

    def _notify(self, new: list[PromptJson], pending: list[PromptJson]) -> None:
        self.notified.append((len(new), len(pending)))

    def _tmux(self, pane: WatchedPane) -> TmuxServer:
        return TmuxServer(pane.address)

    def _polled(self, pane: WatchedPane) -> None:
        if pane.key in self.panes.all:
            self.prompts.look(pane)
        else:
            self.prompts.forget(pane)

    async def watch(self) -> None:
        address = Address(self.terminal.socket())
        self.watched = await self.panes.watch(address, PaneId(self.pane.id))
        assert self.watched.client is not None

    async def ask(self, message: str, shows: str = r"Esc to cancel") -> PromptJson:
        """Have the client ask; the prompt as it is listed."""
        await self.watch()
        say(self.pane, message)
        self.pane.wait_settled(shows)
        self.keys_before = len(self.pressed())
        return self.listed()[0]

    def listed(self) -> list[PromptJson]:
        self.prompts.look(self.watched)
        return self.prompts.all()

    async def answer(self, prompt: PromptJson, answer: Answer | None = None) -> AnswerJson:
        return await self.prompts.answer(prompt["id"], prompt["fingerprint"], answer or Allow(), by="test")

    async def refused(self, prompt: PromptJson, why: str, answer: Answer | None = None) -> str | None:
        """Answer, and return the hint of the refusal."""
        with pytest.raises((PromptRefused, NoSuchPrompt), match=why) as caught:
            await self.answer(prompt, answer)
        assert caught.value.exit_code in (3, 6)
        return caught.value.hint

    def hear_transcript(self) -> None:
        """What the session has written of itself by now."""
        pairing = Pairing()
        for line in self.client_double.transcript():
            self.prompts.feed(pairing.feed(parse_event(line, source=Source.TRANSCRIPT)))

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
