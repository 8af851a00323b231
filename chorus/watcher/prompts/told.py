"""Prompts the client tells of in words, and the answers it is given the same way.

A permission hook that is held, or a request of the control protocol: each names the very call it is about,
so its answer cannot reach another. The person at the terminal may still answer first; then it is gone.
"""

import asyncio
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from chorus.agents.claude_code.dialogs.permission_requests import prompt_for_call, prompt_for_text
from chorus.agents.claude_code.hooks.event_file import HookEvent
from chorus.agents.claude_code.hooks.spool import HeldHook
from chorus.agents.claude_code.replies.permission_replies import plan_permission_reply
from chorus.agents.interface import CannotAnswer
from chorus.model.answer import Answer
from chorus.model.ids import PaneId
from chorus.model.outcomes import Outcome, PromptOpened
from chorus.model.prompt import Prompt
from chorus.system.processes import read_process
from chorus.watcher.panes.headless_runs import Run, Runs
from chorus.watcher.prompts.control_requests import Asked, ends
from chorus.watcher.prompts.pressing import PromptRefused
from chorus.watcher.sources.intake import now

# A hook reads its answer at once; a busy machine takes longer.
TAKEN_SECONDS = 5.0
LOOK_AGAIN_SECONDS = 0.01


class Channel(Protocol):
    """The way back to the client."""

    how: str

    def is_open(self) -> bool: ...

    async def say(self, decision: dict[str, Any]) -> None: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class HookChannel:
    """A hook that waits. It has ended when somebody else answered and the client went on, or in time."""

    event: HookEvent
    held: HeldHook
    how: str = "hook"

    @property
    def _process(self) -> int:
        return int(self.event.name.partition(".")[0])

    def is_open(self) -> bool:
        return read_process(self._process) is not None

    async def say(self, decision: dict[str, Any]) -> None:
        said = {"hookEventName": "PermissionRequest", "decision": decision}
        self.held.answer({"hookSpecificOutput": said})
        deadline = asyncio.get_running_loop().time() + TAKEN_SECONDS
        while self.is_open():
            if asyncio.get_running_loop().time() > deadline:
                raise PromptRefused("the hook did not take the answer")
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    def close(self) -> None:
        self.held.close()


@dataclass(slots=True)
class ControlChannel:
    """A headless session of ours: its answers go through the pipe it reads."""

    runs: Runs
    run: Run
    request: str
    asked: Asked
    how: str = "control"

    def is_open(self) -> bool:
        return self.run.pipe.exists()

    async def say(self, decision: dict[str, Any]) -> None:
        response = {"subtype": "success", "request_id": self.request, "response": decision}
        await self.runs.write(self.run, {"type": "control_response", "response": response})
        self.asked.answer(self.request)

    def close(self) -> None:
        """Nothing is held."""


@dataclass(slots=True)
class ToldPrompt:
    name: str
    prompt: Prompt
    asked: PromptOpened
    pane: PaneId | None
    channel: Channel
    ruled: bool = False  # a rule is about to answer
    since: str = field(default_factory=now)
    claimed: bool = False

    async def say(self, answer: Answer) -> None:
        """Say it to the client, once."""
        asked = self.asked
        if self.claimed:
            raise PromptRefused("this prompt is already answered; nothing was sent")
        try:
            decision = plan_permission_reply(answer, self.prompt, asked.input, asked.suggestions)
        except CannotAnswer as stop:
            raise PromptRefused(f"{stop}; nothing was sent") from None
        if not self.channel.is_open():
            raise PromptRefused("the client waits for this answer no more; nothing was sent")
        self.claimed = True
        try:
            await self.channel.say(decision)
        except PromptRefused as error:
            # What sent nothing leaves the prompt to be answered again, if it still waits.
            self.claimed = bool(error.keys)
            raise


class Told:
    def __init__(self) -> None:
        self.all: dict[str, ToldPrompt] = {}
        self._salt = secrets.token_hex(3)
        self._count = 0

    def add(self, asked: PromptOpened, pane: PaneId | None, channel: Channel, *, ruled: bool) -> ToldPrompt:
        self._count += 1
        name = f"t{self._count}.{self._salt}"
        if asked.tool is None:
            prompt = prompt_for_text(asked.text or "")
        else:
            prompt = prompt_for_call(asked.tool, asked.input, asked.suggestions)
        self.all[name] = told = ToldPrompt(name, prompt, asked, pane, channel, ruled)
        return told

    def hear(self, outcomes: Iterable[Outcome]) -> None:
        """Drop what was answered or withdrawn, by what the session told since."""
        for outcome in outcomes:
            for told in list(self.all.values()):
                if ends(outcome, told.asked):
                    self.remove(told)

    def prune(self) -> None:
        """Drop those nobody waits for any more."""
        for told in list(self.all.values()):
            if not told.claimed and not told.channel.is_open():
                self.remove(told)

    def remove(self, told: ToldPrompt) -> None:
        if self.all.pop(told.name, None) is not None:
            told.channel.close()
