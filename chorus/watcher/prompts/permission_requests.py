"""Turn the permission requests of clients into pending prompts with a reply channel.

A request that the policy decides is answered at once, by a reply and never by a key. Any other request waits
for the user.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import Spool
from chorus.agents.interface import Prompts
from chorus.config.policy_file import find_git_root, policy_root, read_policy
from chorus.config.user_config import user_config_path
from chorus.errors import ChorusError
from chorus.model.answer import Allow, Answer, Deny
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import Outcome, PromptClosed, PromptOpened
from chorus.model.session import SessionTable
from chorus.model.tools import ELICITATION, find_tool
from chorus.policy.rate_limit import ApprovalRateLimit
from chorus.policy.verdict import judge_call
from chorus.system.files.path_resolver import PathResolver
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.headless_runs import HeadlessRun, HeadlessRuns
from chorus.watcher.panes.watched_panes import WatchedPane
from chorus.watcher.prompts.pending_prompts import PendingPrompts
from chorus.watcher.prompts.reply_channels import (
    CaptureChannel,
    ControlChannel,
    FormChannel,
    HookChannel,
    LineChannel,
    ModChannel,
)
from chorus.watcher.prompts.requested_prompts import ControlRequests, ReplyChannel, pending_control_requests
from chorus.watcher.tasks import Start

log = logging.getLogger("chorus.watcher")


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    answer: Answer
    reason: str


class PolicyDecisions:
    """Applies the policy, which is read from disk each time, so that an edit takes effect at once.

    A policy that cannot be read allows nothing. Beyond the limit of approvals per minute, the user decides.
    """

    def __init__(self) -> None:
        self._rate_limit = ApprovalRateLimit()

    def decide(self, request: PromptOpened, cwd: str | None) -> PolicyDecision | None:
        """Return the policy's answer, or None if the user decides."""
        if request.tool is None or cwd is None:
            return None
        try:
            root = policy_root(Path(cwd))
            policy = read_policy(root)
        except ChorusError as error:
            log.warning("policy not applied: %s", error)
            return None
        verdict = judge_call(
            request.tool,
            request.input,
            policy,
            root=str(root),
            resolve=PathResolver(cwd, str(root)).resolve,
            find_git_root=find_git_root,
            policy_file=os.path.realpath(user_config_path()),
            is_directory=os.path.isdir,
        )
        reason = "; ".join(
            dict.fromkeys(f.because for f in verdict.findings if f.decision == verdict.decision)
        )
        if verdict.decision == "deny":
            return PolicyDecision(Deny(f"Denied by a rule of Chorus's policy: {reason}"), reason)
        if verdict.decision == "ask":
            return None
        if not self._rate_limit.try_acquire(time.monotonic(), policy.per_minute):
            log.warning("more than %d approvals a minute: asking the user", policy.per_minute)
            return None
        return PolicyDecision(Allow(), reason)


@dataclass(frozen=True, slots=True)
class PermissionRequests:
    agent_prompts: Prompts
    spool: Spool
    runs: HeadlessRuns
    roster: SessionTable
    prompts: PendingPrompts
    control_requests: ControlRequests
    start: Start
    tmux: Callable[[WatchedPane], Tmux]
    policy: PolicyDecisions = field(default_factory=PolicyDecisions)
    _forms: dict[SessionId, FormChannel] = field(default_factory=dict)  # the newest form of each session

    def feed_hook(self, event: HookEvent, outcomes: Iterable[Outcome]) -> None:
        """Hold the hook of a permission request, if the answer may be sent through it."""
        outcomes = list(outcomes)
        self._reply_to_closed_form(event, outcomes)
        request = _find_request(outcomes)
        if request is not None and request.tool == ELICITATION:
            self._add_form(event, request)
            return
        if request is None or not self.spool.is_hook_waiting(event):
            return
        decision = self._decide(request, event.value)
        # A headless session that Chorus started asks over the control protocol as well.
        headless = self._find_run(event) is not None
        holds = self.prompts.holds_hooks or not self._is_in_pane(event.pane, request)
        if decision is None and (headless or not holds):
            return
        channel = HookChannel(self.agent_prompts, event, self.spool.hold(event))
        self._add(request, event.pane, channel, decision)

    def _add_form(self, event: HookEvent, request: PromptOpened) -> None:
        """Add a form that has fields. A form without fields is answered with the keys of its buttons."""
        pane = event.pane
        if pane is None or request.session is None or not request.input.get("questions"):
            return
        if self._find_run(event) is not None or (channel := self.prompts.open_form(request, pane)) is None:
            return
        self._forms[request.session] = channel
        self._add(request, pane, channel, None)

    def _reply_to_closed_form(self, event: HookEvent, outcomes: Iterable[Outcome]) -> None:
        """If this hook reports a form that Chorus cancelled, reply to the hook with the user's answer.

        Chorus answers a form in this way: see `FormChannel`.
        """
        for outcome in outcomes:
            if (
                not isinstance(outcome, PromptClosed)
                or outcome.session is None
                or outcome.request is not None
            ):
                continue
            channel = self._forms.pop(outcome.session, None)
            reply = channel.take_reply() if channel is not None and outcome.decision == "cancelled" else None
            if reply is not None:
                self.spool.release(event, reply)

    def feed_mod(
        self, value: Mapping[str, Any], pane: PaneId | None, outcomes: Iterable[Outcome]
    ) -> ModChannel | None:
        """Hold a permission request that the mod reports. Return its channel, or None if it is not held."""
        request = _find_request(outcomes)
        # A plan is approved in its dialog alone: the client ignores any other answer to it.
        if request is None or request.tool is None or find_tool(request.tool).prompt_kind == "plan":
            return None
        decision = self._decide(request, value)
        if decision is None and not self.prompts.holds_mod and self._is_in_pane(pane, request):
            return None
        channel = ModChannel(self.agent_prompts)
        self._add(request, pane, channel, decision)
        return channel

    def feed_stream(self, pane: WatchedPane, outcomes: Sequence[Outcome]) -> None:
        """Add prompts for the requests printed in a pane: control requests, and one request in plain text."""
        if (line := _last_line_request(outcomes)) is not None and line.text is not None:
            self._add(line, pane.id, LineChannel(self.agent_prompts, pane, line.text, self.tmux), None)
        run = self.runs.in_pane(pane.address, pane.id)
        if run is None:
            return
        for request in pending_control_requests(outcomes):
            if self.control_requests.add(request, run.name):
                self._add_control_request(run, request)

    def feed_capture(self, path: Path, outcomes: Sequence[Outcome]) -> CaptureChannel | None:
        """Show the requests in a capture file, which Chorus cannot answer.

        If the last outcome is a request in plain text, return its channel. The caller must close the channel
        at the client's next event.
        """
        for request in pending_control_requests(outcomes):
            self._add(request, None, CaptureChannel(path), None)
        if (line := _last_line_request(outcomes)) is None:
            return None
        channel = CaptureChannel(path)
        self._add(line, None, channel, None)
        return channel

    def restore(self, run: HeadlessRun) -> None:
        """Add the control requests that were pending in this run when an earlier watcher was killed."""
        for request in self.control_requests.of_run(run.name):
            self._add_control_request(run, request)

    def _is_in_pane(self, pane: PaneId | None, request: PromptOpened) -> bool:
        session = self.roster.sessions.get(request.session) if request.session else None
        return pane is not None or (session is not None and session.pane is not None)

    def _decide(self, request: PromptOpened, event: Mapping[str, Any]) -> PolicyDecision | None:
        cwd = event.get("cwd")
        return self.policy.decide(request, cwd if isinstance(cwd, str) else None)

    def _find_run(self, event: HookEvent) -> HeadlessRun | None:
        if event.pane is None or event.tmux_socket is None:
            return None
        return self.runs.in_pane(Address(Path(event.tmux_socket)), event.pane)

    def _add_control_request(self, run: HeadlessRun, request: PromptOpened) -> None:
        assert request.request is not None
        session = self.roster.sessions.get(request.session) if request.session else None
        decision = self.policy.decide(request, session.cwd if session else None)
        channel = ControlChannel(self.agent_prompts, self.runs, run, request.request, self.control_requests)
        self._add(request, run.pane, channel, decision)

    def _add(
        self,
        request: PromptOpened,
        pane: PaneId | None,
        channel: ReplyChannel,
        decision: PolicyDecision | None,
    ) -> None:
        """Add the prompt at once, so that later events find it. If the policy decided, start to answer."""
        prompt = self.prompts.add(request, pane, channel, policy_pending=decision is not None)
        if decision is not None:
            self.start(self.prompts.answer_by_policy(prompt, decision.answer, decision.reason))


def _last_line_request(outcomes: Sequence[Outcome]) -> PromptOpened | None:
    """Return the last outcome if it is a request in plain text. Such a request ends with the next event."""
    last = outcomes[-1] if outcomes else None
    return last if isinstance(last, PromptOpened) and last.tool is None and last.text is not None else None


def _find_request(outcomes: Iterable[Outcome]) -> PromptOpened | None:
    """Return the first permission request of a hook or the mod that is about a call, or None."""
    opened = (o for o in outcomes if isinstance(o, PromptOpened))
    return next((o for o in opened if o.request is None and o.tool is not None), None)
