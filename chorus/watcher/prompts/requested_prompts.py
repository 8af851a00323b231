"""Prompts known from the client's own permission requests.

A permission hook or a control request names its call, so the answer cannot reach another call.
"""

import json
import secrets
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from chorus.agents.interface import CannotAnswer, Prompts
from chorus.errors import ChorusError
from chorus.model.answer import Answer
from chorus.model.ids import PaneId
from chorus.model.outcomes import ActionClosed, Outcome, PromptClosed, PromptOpened, SessionEnded, TurnEnded
from chorus.model.prompt import Prompt
from chorus.model.tools import ELICITATION
from chorus.watcher.prompts.answer_keys import PromptRefused
from chorus.watcher.sources.pipeline import now
from chorus.watcher.state.files import save_json

# More requests than a session makes while its first one is still visible in the pane.
MAX_ANSWERED = 1000


class ReplyChannel(Protocol):
    """Delivers the answer to the client that made the request."""

    how: str

    def is_open(self) -> bool: ...

    async def send(self, decision: dict[str, Any]) -> Sequence[str]:
        """Deliver the decision; return the keys that were pressed."""
        ...

    def close(self) -> None: ...


@dataclass(slots=True)
class RequestedPrompt:
    name: str
    prompt: Prompt
    request: PromptOpened
    pane: PaneId | None
    channel: ReplyChannel
    policy_pending: bool = False  # the policy is about to answer it
    since: str = field(default_factory=now)
    claimed: bool = False

    async def answer(self, answer: Answer, prompts: Prompts) -> Sequence[str]:
        """Send the answer to the client; return the keys that were pressed.

        Raises PromptRefused if the prompt is already answered, or if the answer cannot be given.
        """
        if self.claimed:
            raise PromptRefused(
                "this prompt is already answered; nothing was sent",
                hint="Run `chorus prompts` to list the pending prompts.",
            )
        try:
            decision = prompts.permission_reply(answer, self.prompt, self.request)
        except CannotAnswer as error:
            raise PromptRefused(
                f"{error}; nothing was sent",
                hint="Run `chorus prompts` to see its questions and options, then answer again.",
            ) from None
        if not self.channel.is_open():
            raise PromptRefused(
                "the client is no longer waiting for this answer; nothing was sent",
                hint="Run `chorus prompts` to list the pending prompts.",
            )
        self.claimed = True
        try:
            return await self.channel.send(decision)
        except PromptRefused as error:
            # If nothing was sent and the client still waits, the prompt can be answered again.
            self.claimed = bool(error.keys)
            raise
        except ChorusError as error:
            self.claimed = False
            raise PromptRefused(f"{error}; nothing was sent", hint=error.hint) from error


class RequestedPrompts:
    """All requested prompts, by name."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self.all: dict[str, RequestedPrompt] = {}
        self._salt = secrets.token_hex(3)
        self._count = 0

    def add(
        self, request: PromptOpened, pane: PaneId | None, channel: ReplyChannel, *, policy_pending: bool
    ) -> RequestedPrompt:
        self._count += 1
        name = f"t{self._count}.{self._salt}"
        prompt = self._prompts.prompt_for(request)
        self.all[name] = added = RequestedPrompt(name, prompt, request, pane, channel, policy_pending)
        return added

    def feed(self, outcomes: Iterable[Outcome]) -> None:
        """Remove prompts that these outcomes show to be answered or withdrawn."""
        for outcome in outcomes:
            for prompt in list(self.all.values()):
                if ends_request(outcome, prompt.request):
                    self.remove(prompt)

    def prune(self) -> None:
        """Remove prompts whose client no longer waits."""
        for prompt in list(self.all.values()):
            if not prompt.claimed and not prompt.channel.is_open():
                self.remove(prompt)

    def remove(self, prompt: RequestedPrompt) -> None:
        if self.all.pop(prompt.name, None) is not None:
            prompt.channel.close()


@dataclass(slots=True)
class ControlRequests:
    """The control requests of headless sessions, pending and answered, saved on disk.

    A restarted watcher needs the file: the pane may no longer show a request, and never shows an answer.
    """

    path: Path
    # The run's name and its request, by the id of the request.
    pending: dict[str, tuple[str, PromptOpened]] = field(default_factory=dict)
    _answered: dict[str, None] = field(default_factory=dict)

    def load(self) -> None:
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            saved = json.loads(self.path.read_bytes())
            self._answered = dict.fromkeys(map(str, saved["answered"]))
            for request_id, (run, request) in saved["waiting"].items():
                suggestions = tuple(request.pop("suggestions"))
                self.pending[request_id] = str(run), PromptOpened(**request, suggestions=suggestions)

    def of_run(self, run: str) -> list[PromptOpened]:
        return [request for its_run, request in self.pending.values() if its_run == run]

    def add(self, request: PromptOpened, run: str) -> bool:
        """Add a pending request. Return False if it is already pending or answered."""
        assert request.request is not None
        if request.request in self.pending or request.request in self._answered:
            return False
        self.pending[request.request] = run, request
        self._save()
        return True

    def mark_answered(self, request_id: str) -> None:
        self._answered[request_id] = None
        self.pending.pop(request_id, None)
        self._save()

    def feed(self, outcomes: Iterable[Outcome]) -> None:
        """Remove requests that these outcomes show to be answered elsewhere or withdrawn."""
        over = [
            request_id
            for outcome in outcomes
            for request_id, (_, request) in self.pending.items()
            if ends_request(outcome, request)
        ]
        for request_id in over:
            self.pending.pop(request_id, None)
        if over:
            self._save()

    def retain_runs(self, runs: Iterable[str]) -> None:
        present = set(runs)
        self.pending = {request_id: one for request_id, one in self.pending.items() if one[0] in present}

    def _save(self) -> None:
        pending = {request_id: (run, asdict(request)) for request_id, (run, request) in self.pending.items()}
        save_json(self.path, {"waiting": pending, "answered": [*self._answered][-MAX_ANSWERED:]})


def ends_request(outcome: Outcome, request: PromptOpened) -> bool:
    """True if the outcome shows that the request is answered or withdrawn."""
    match outcome:
        case ActionClosed(action):
            return action.id == request.id
        case PromptClosed(request=request_id) if request_id is not None:
            return request_id == request.request
        case PromptClosed(session, None):
            # A form that a hook reports has no id, but a session shows only one form at a time.
            return session == request.session and request.tool == ELICITATION and request.request is None
        case SessionEnded(session) | TurnEnded(session):
            # A sub-agent's call outlives the turn it was started in.
            return session == request.session and (isinstance(outcome, SessionEnded) or request.agent is None)
        case _:
            return False


def pending_control_requests(outcomes: Iterable[Outcome]) -> list[PromptOpened]:
    """Return the control requests among these outcomes that no later outcome ends."""
    pending: list[PromptOpened] = []
    for outcome in outcomes:
        pending = [request for request in pending if not ends_request(outcome, request)]
        if isinstance(outcome, PromptOpened) and outcome.request is not None and outcome.tool is not None:
            pending.append(outcome)
    return pending
