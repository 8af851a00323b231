"""Turn a permission request from a hook or the control protocol into a pending prompt with a reply channel.

A call that the policy decides is answered at once, through the hook or the protocol and never by a key; any
other waits for the user.
"""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import Spool
from chorus.agents.interface import Prompts
from chorus.config.policy_file import path_resolver, read_policy, work_tree_of
from chorus.errors import ChorusError
from chorus.model.answer import Allow, Answer, Deny
from chorus.model.ids import PaneId
from chorus.model.outcomes import Outcome, PromptOpened
from chorus.model.session import SessionTable
from chorus.policy.rate_limit import ApprovalRateLimit
from chorus.policy.verdict import judge_call
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.headless_runs import HeadlessRuns
from chorus.watcher.panes.watched_panes import WatchedPane
from chorus.watcher.prompts.pending_prompts import PendingPrompts
from chorus.watcher.prompts.reply_channels import ControlChannel, HookChannel, LineChannel
from chorus.watcher.prompts.requested_prompts import ControlRequests, ReplyChannel, pending_control_requests
from chorus.watcher.tasks import Start

log = logging.getLogger("chorus.watcher")


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    answer: Answer
    reason: str


class PolicyDecisions:
    """Applies the policy. Reads it from disk each time, so that an edit takes effect at once.

    A policy that cannot be read allows nothing. Beyond its limit of approvals per minute the user decides.
    """

    def __init__(self) -> None:
        self._rate_limit = ApprovalRateLimit()

    def decide(self, request: PromptOpened, cwd: str | None) -> PolicyDecision | None:
        """Return the answer the policy gives, or None if the user decides."""
        if request.tool is None or cwd is None:
            return None
        try:
            root = work_tree_of(Path(cwd))
            policy = read_policy(root)
        except ChorusError as error:
            log.warning("policy not applied: %s", error)
            return None
        verdict = judge_call(
            request.tool, request.input, policy, root=str(root), resolve=path_resolver(Path(cwd))
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

    def feed_hook(self, event: HookEvent, outcomes: Iterable[Outcome]) -> None:
        """Hold the hook of a permission request, if the answer may be sent through it."""
        request = next((o for o in outcomes if isinstance(o, PromptOpened) and o.request is None), None)
        if request is None or request.tool is None or not self.spool.is_hook_waiting(event):
            return
        cwd = event.value.get("cwd")
        decision = self.policy.decide(request, cwd if isinstance(cwd, str) else None)
        # A headless session that Chorus started asks over the control protocol as well.
        headless = event.pane is not None and self.runs.in_pane(event.pane) is not None
        if decision is None and (headless or not self.prompts.holds_hooks):
            return
        channel = HookChannel(self.agent_prompts, event, self.spool.hold(event))
        self._add(request, event.pane, channel, decision)

    def feed_stream(self, pane: WatchedPane, outcomes: Sequence[Outcome]) -> None:
        """Take requests printed in a pane: over the control protocol, or as a line that is answered by
        typing.
        """
        last = outcomes[-1] if outcomes else None
        if isinstance(last, PromptOpened) and last.tool is None and last.text is not None:
            channel: ReplyChannel = LineChannel(self.agent_prompts, pane, last.text, self.tmux)
            self._add(last, pane.id, channel, None)
        for request in pending_control_requests(outcomes) if self.runs.in_pane(pane.id) is not None else []:
            if self.control_requests.add(request, pane.id):
                self._add_control_request(pane.id, request)

    def restore(self, pane: PaneId) -> None:
        """Add the control requests that were pending in this pane when an earlier watcher was killed."""
        for request in self.control_requests.in_pane(pane):
            self._add_control_request(pane, request)

    def _add_control_request(self, pane: PaneId, request: PromptOpened) -> None:
        run = self.runs.in_pane(pane)
        assert run is not None
        assert request.request is not None
        session = self.roster.sessions.get(request.session) if request.session else None
        decision = self.policy.decide(request, session.cwd if session else None)
        channel = ControlChannel(self.agent_prompts, self.runs, run, request.request, self.control_requests)
        self._add(request, pane, channel, decision)

    def _add(
        self,
        request: PromptOpened,
        pane: PaneId | None,
        channel: ReplyChannel,
        decision: PolicyDecision | None,
    ) -> None:
        """Add the prompt at once, so that later events find it, and start the policy's answer if there is
        one.
        """
        prompt = self.prompts.add(request, pane, channel, policy_pending=decision is not None)
        if decision is not None:
            self.start(self.prompts.answer_by_policy(prompt, decision.answer, decision.reason))
