"""What the policy says about a call the client asks about.

Reads the policy from disk each time, so that an edit of it holds at once. A policy that cannot be read
allows nothing. Approvals are counted: beyond so many a minute a person is asked.
"""

import logging
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chorus.config.policy_file import path_resolver, read_policy, work_tree_of
from chorus.errors import ChorusError
from chorus.model.answer import Allow, Answer, Deny
from chorus.model.outcomes import PromptOpened
from chorus.policy.rate_limit import ApprovalRateLimit
from chorus.policy.verdict import judge_call

log = logging.getLogger("chorus.watcher")


@dataclass(frozen=True, slots=True)
class Ruling:
    answer: Answer
    decision: Literal["allow", "deny"]
    because: str


class Rulings:
    def __init__(self) -> None:
        self._throttle = ApprovalRateLimit()

    def rule(self, asked: PromptOpened, cwd: str | None) -> Ruling | None:
        """The answer a rule gives; None: ask a person."""
        if asked.tool is None or cwd is None:
            return None
        try:
            root = work_tree_of(Path(cwd))
            policy = read_policy(root)
        except ChorusError as error:
            log.warning("no rule is applied: %s", error)
            return None
        verdict = judge_call(
            asked.tool, asked.input, policy, root=str(root), resolve=path_resolver(Path(cwd))
        )
        because = "; ".join(
            dict.fromkeys(f.because for f in verdict.findings if f.decision == verdict.decision)
        )
        if verdict.decision == "deny":
            return Ruling(Deny(f"Denied by a rule of Chorus's policy: {because}"), "deny", because)
        if verdict.decision == "ask":
            return None
        if not self._throttle.try_acquire(time.monotonic(), policy.per_minute):
            log.warning("more than %d approvals a minute: a person is asked", policy.per_minute)
            return None
        return Ruling(Allow(), "allow", because)
