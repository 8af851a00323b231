"""The ways to send an answer to a client: a held hook, the mod, the control protocol, or a typed key."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import HeldHook
from chorus.agents.interface import CannotAnswer, PromptAppearance, Prompts
from chorus.errors import ChorusError
from chorus.model.answer import ChooseOption
from chorus.model.ids import PaneId
from chorus.model.outcomes import PromptOpened
from chorus.system.processes.processes import is_in_foreground, read_process
from chorus.tmux.keys import press
from chorus.tmux.panes import PaneState, pane_state_command, parse_pane
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.headless_runs import HeadlessRun, HeadlessRuns
from chorus.watcher.panes.watched_panes import WatchedPane
from chorus.watcher.prompts.answer_keys import PromptRefused
from chorus.watcher.prompts.pane_prompts import PanePrompts, WatchedScreen
from chorus.watcher.prompts.requested_prompts import ControlRequests

# A client takes its answer at once; a busy machine takes longer.
ANSWER_TIMEOUT_SECONDS = 5.0
HOOK_POLL_SECONDS = 0.01
SCREEN_POLL_SECONDS = 0.02
# How long one poll of the mod is kept waiting. The client ends a request of its mod after 30 seconds, and a
# client that exits waits for the open request.
MOD_POLL_SECONDS = 10.0
# The mod polls again at once; a busy machine takes longer.
MOD_SILENCE_SECONDS = 5.0
# The dialog of a form is drawn once its hook has ended; a busy machine takes longer.
FORM_SECONDS = 3.0
CANCEL_FORM_KEY = "Escape"
# This many rows at the end of the screen must be unchanged when a key is sent.
ROWS_CHECKED = 6
NOT_ACCEPTED_HINT = "Answer again, or answer in the client's own dialog."


@dataclass(slots=True)
class HookChannel:
    """A hook that waits for the answer. The channel is open while the hook's process runs."""

    prompts: Prompts
    event: HookEvent
    held: HeldHook
    how: str = "hook"

    @property
    def _process(self) -> int:
        return int(self.event.name.partition(".")[0])

    def is_open(self) -> bool:
        return read_process(self._process) is not None

    async def send(self, decision: dict[str, Any]) -> Sequence[str]:
        self.held.answer(self.prompts.hook_reply(decision))
        deadline = asyncio.get_running_loop().time() + ANSWER_TIMEOUT_SECONDS
        while self.is_open():
            if asyncio.get_running_loop().time() > deadline:
                raise PromptRefused("the hook did not accept the answer", hint=NOT_ACCEPTED_HINT)
            await asyncio.sleep(HOOK_POLL_SECONDS)
        return ()

    def close(self) -> None:
        self.held.close()


class PollReply(TypedDict):
    """The reply to a poll of the mod: the decision for the client, or whether to poll again."""

    decision: NotRequired[dict[str, Any]]
    again: NotRequired[bool]


class ModChannel:
    """A permission request that the mod holds inside the client. The mod polls for the answer.

    The client's own dialog stays usable meanwhile, and the first answer counts.
    """

    how = "mod"

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._decision: dict[str, Any] | None = None
        self._changed = asyncio.Event()
        self._closed = False
        self._given = asyncio.Event()  # the decision has reached the mod
        self._polls = 0
        self._last_poll = asyncio.get_running_loop().time()

    def is_open(self) -> bool:
        silent = asyncio.get_running_loop().time() - self._last_poll
        return not self._closed and (self._polls > 0 or silent < MOD_SILENCE_SECONDS)

    async def send(self, decision: dict[str, Any]) -> Sequence[str]:
        self._decision = self._prompts.mod_reply(decision)
        self._changed.set()
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                await self._given.wait()
        except TimeoutError:
            self._decision = None
            raise PromptRefused("the client did not accept the answer", hint=NOT_ACCEPTED_HINT) from None
        return ()

    def close(self) -> None:
        self._closed = True
        self._changed.set()

    async def poll(self) -> PollReply:
        """Wait for the answer during one poll. Without an answer, return whether the mod is to poll again."""
        self._polls += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(MOD_POLL_SECONDS):
                    await self._changed.wait()
        finally:
            self._polls -= 1
            self._last_poll = asyncio.get_running_loop().time()
        if self._decision is not None and not self._given.is_set():
            self._given.set()
            return {"decision": self._decision}
        return {"again": not self._closed}


@dataclass(slots=True)
class FormChannel:
    """A form of an MCP server, answered through the hook that reports the end of the form.

    To answer, Chorus first presses the key that cancels the client's dialog, but only while that dialog is on
    the screen. A hook then reports the cancellation. The reply to this hook contains the answer, which the
    client sends to the server instead of the cancellation.
    """

    prompts: Prompts
    screens: PanePrompts
    request: PromptOpened
    pane: PaneId
    how: str = "form"
    _decision: dict[str, Any] | None = None
    _given: asyncio.Event = field(default_factory=asyncio.Event)
    _opened: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    def is_open(self) -> bool:
        is_new = asyncio.get_running_loop().time() - self._opened < FORM_SECONDS
        return is_new or self._decision is not None or self._find() is not None

    async def send(self, decision: dict[str, Any]) -> Sequence[str]:
        found = self._find()
        if found is None:
            raise PromptRefused("the form is not on the pane's screen; nothing was sent")
        self._decision = decision
        keys: list[str] = []
        try:
            keys = await self.screens.answer(*found, ChooseOption(CANCEL_FORM_KEY))
            async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
                await self._given.wait()
        except TimeoutError:
            raise PromptRefused(
                "the form was cancelled: the client did not accept the answer",
                keys=keys,
                hint="Ask the agent to call the tool again, and answer the new form.",
            ) from None
        finally:
            self._decision = None
        return keys

    def close(self) -> None:
        """Do nothing: no resource is held."""

    def take_reply(self) -> dict[str, Any] | None:
        """Return the reply to the hook that reports a cancelled form; None if the user cancelled it."""
        if self._decision is None or self._given.is_set():
            return None
        self._given.set()
        return self.prompts.form_reply(self._decision)

    def _find(self) -> tuple[WatchedScreen, PromptAppearance] | None:
        server = self.request.input.get("server")
        for screen, appearance in self.screens.pending():
            prompt = appearance.prompt
            if screen.pane.id == self.pane and prompt.kind == "form" and f"“{server}”" in prompt.title:
                return screen, appearance
        return None


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

    async def send(self, decision: dict[str, Any]) -> Sequence[str]:
        await self.runs.write(self.run, self.prompts.control_reply(self.request_id, decision))
        self.requests.mark_answered(self.request_id)
        return ()

    def close(self) -> None:
        """Do nothing: no resource is held."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """The end of a pane's screen: a `permission_request` line, and perhaps a key `typed` after it."""

    state: PaneState
    typed: str
    rows: tuple[str, ...]


@dataclass(slots=True)
class LineChannel:
    """A client that prints a `permission_request` line in its pane and reads the answer there.

    A key is sent only if the client is in the foreground and the line is the last thing in its pane. The key
    is `y` or `n`. Enter follows once the pane shows that key, and nothing else, after the line.
    """

    prompts: Prompts
    pane: WatchedPane
    text: str
    tmux: Callable[[WatchedPane], Tmux]
    how: str = "line"

    def is_open(self) -> bool:
        return self._look() is not None

    async def send(self, decision: dict[str, Any]) -> Sequence[str]:
        try:
            key = self.prompts.line_reply(decision)
        except CannotAnswer as error:
            raise PromptRefused(
                f"{error}; nothing was sent",
                hint="Answer with `chorus approve ID`, or `chorus deny ID` without a message.",
            ) from None
        shown = self._look()
        if shown is None or shown.typed:
            raise PromptRefused("the question is no longer the last line in the pane; nothing was sent")
        self._press(shown, key, sent=[])
        if not await self._wait(lambda now: now.typed == key, sent=[key]):
            return [key]
        shown = self._look()
        if shown is None or shown.typed != key:
            raise PromptRefused("the pane changed; one key was sent", keys=[key])
        self._press(shown, "Enter", sent=[key])
        await self._wait(lambda _: False, sent=[key, "Enter"])
        return [key, "Enter"]

    def close(self) -> None:
        """Do nothing: no resource is held."""

    async def _wait(self, reached: Callable[[ShownLine], bool], *, sent: list[str]) -> bool:
        """Wait until `reached` returns True. Return False if the pane no longer ends with the line.

        Raises PromptRefused after `ANSWER_TIMEOUT_SECONDS`.
        """
        deadline = asyncio.get_running_loop().time() + ANSWER_TIMEOUT_SECONDS
        while asyncio.get_running_loop().time() < deadline:
            shown = self._look()
            if shown is None:
                return False
            if reached(shown):
                return True
            await asyncio.sleep(SCREEN_POLL_SECONDS)
        raise PromptRefused(f"the client did not accept {' and '.join(sent)}", keys=sent)

    def _press(self, shown: ShownLine, key: str, *, sent: list[str]) -> None:
        try:
            press(self.tmux(self.pane), shown.state, key, showing=shown.rows)
        except ChorusError as error:
            raise PromptRefused(
                f"{error}; {'one key was sent' if sent else 'nothing was sent'}", keys=sent
            ) from error

    def _look(self) -> ShownLine | None:
        """Return the line if it is the last thing in the pane, apart from a typed key; otherwise None."""
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


@dataclass(slots=True)
class CaptureChannel:
    """A client that is followed through a capture file. Its prompts can be answered only where it runs."""

    path: Path
    how: str = "none"
    closed: bool = False

    def is_open(self) -> bool:
        return not self.closed

    async def send(self, decision: dict[str, Any]) -> Sequence[str]:
        raise PromptRefused(
            f"Chorus can only read this client's output, from {self.path}; nothing was sent",
            hint="Answer the prompt in the client's own terminal.",
        )

    @property
    def advice(self) -> str:
        return f"answer in the client's own terminal: Chorus can only read its output, from {self.path}"

    def close(self) -> None:
        self.closed = True
