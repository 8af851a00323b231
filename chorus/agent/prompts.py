"""The prompts that wait in the watched panes, and the one answer each is given.

Looks at a pane when tmux says that it printed. Tells of every prompt that appears, changes and goes.
Answers one only while its own dialog is on that screen: the decision names the prompt it is about.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chorus.agent.audit import Audit
from chorus.agent.intake import now
from chorus.agent.panes import WatchedPane
from chorus.agent.pressing import Eye, PromptRefused, carry_out
from chorus.core.prompts.prompt import prompt_json
from chorus.core.prompts.rules import PromptRules
from chorus.core.relay.answers import Answer, Decision
from chorus.core.relay.desk import Appearance, Desk
from chorus.core.relay.machine import Observation, Refuse
from chorus.errors import NothingThere
from chorus.tmux.oneshot import Tmux

# The client swallows keys in the first 150 ms of a dialog.
YOUNGEST_SECONDS = 0.25


class NoSuchPrompt(NothingThere):
    hint = "`chorus prompts` lists what waits now."


@dataclass(slots=True)
class Watched:
    """One pane's prompts. `since` and `seen_at` are of the present appearance."""

    eye: Eye
    desk: Desk = field(default_factory=Desk)
    # Names of another agent's time, or of a pane of the same number, are never names of this one's.
    salt: str = field(default_factory=lambda: secrets.token_hex(8))
    serial: int | None = None
    since: str = ""
    seen_at: float = 0.0

    def name(self, appearance: Appearance) -> str:
        """Short enough to type, and never the name of another appearance."""
        told = hashlib.sha256(f"{self.salt} {appearance.prompt.fingerprint}".encode()).hexdigest()
        return f"{self.eye.pane.id.lstrip('%')}.{appearance.serial}.{told[:6]}"


class Prompts:
    def __init__(
        self,
        rules: PromptRules,
        audit: Audit,
        publish: Callable[..., None],
        tmux: Callable[[WatchedPane], Tmux],
    ) -> None:
        self._rules = rules
        self._tmux = tmux
        self._audit = audit
        self._publish = publish
        self._panes: dict[str, Watched] = {}

    def waiting(self) -> list[dict[str, Any]]:
        found = []
        for watched in self._panes.values():
            if watched.desk.current is not None:
                found.append(self._json(watched, watched.desk.current))
        return found

    def look(self, pane: WatchedPane) -> None:
        """Read the pane's screen, and tell what has changed."""
        key = f"{pane.address.socket} {pane.id}"
        watched = self._panes.get(key)
        if watched is None:
            watched = self._panes[key] = Watched(Eye(pane, self._rules, self._tmux))
        screen = watched.eye.screen() if pane.client is not None else None
        if screen is not None:
            self._see(watched, watched.eye.observe(screen))
        elif pane.client is None:
            self._gone(watched, "the client left")

    def forget(self, pane: WatchedPane) -> None:
        watched = self._panes.pop(f"{pane.address.socket} {pane.id}", None)
        if watched is not None:
            self._gone(watched, "the pane is gone")

    async def answer(self, name: str, fingerprint: str, answer: Answer, *, by: str) -> dict[str, Any]:
        """Answer one appearance of a prompt with the one key its label calls for."""
        watched, appearance = self._find(name)
        if appearance.prompt.fingerprint != fingerprint:
            raise PromptRefused("the prompt is not the one that was decided on; nothing was sent")
        decision = Decision(appearance.prompt, watched.eye.pane.id, appearance.process, answer)
        relay = watched.desk.accept(decision, appearance.serial)
        if isinstance(relay, Refuse):
            raise PromptRefused(f"{relay.reason}; nothing was sent")
        entry = {"prompt": self._json(watched, appearance), "answer": repr(answer), "by": by}
        try:
            keys = await carry_out(watched.eye, relay, not_before=watched.seen_at + YOUNGEST_SECONDS)
        except PromptRefused as error:
            self._audit.write({**entry, "keys": relay.sent, "refused": str(error)})
            raise
        finally:
            watched.desk.release(relay, appearance.serial)
        self._audit.write({**entry, "keys": keys, "screen": list(appearance.prompt.body)})
        self.look(watched.eye.pane)
        return {"key": keys[-1] if keys else None, "verified": True}

    def _see(self, watched: Watched, seen: Observation) -> None:
        if not seen.process and not seen.dead:
            self._gone(watched, "the client is not in front")
            return
        before = watched.desk.current
        current = watched.desk.see(seen)
        if before is not None and (current is None or current.serial != before.serial):
            self._publish("prompt-gone", id=watched.name(before), why="answered")
        if current is not None and current.serial != watched.serial:
            watched.serial, watched.since = current.serial, now()
            watched.seen_at = asyncio.get_running_loop().time()
        if current is not None and (before is None or before.prompt != current.prompt):
            self._publish("prompt", prompt=self._json(watched, current))

    def _gone(self, watched: Watched, why: str) -> None:
        if watched.desk.current is not None:
            self._publish("prompt-gone", id=watched.name(watched.desk.current), why=why)
            watched.desk.current = None

    def _find(self, name: str) -> tuple[Watched, Appearance]:
        for watched in self._panes.values():
            current = watched.desk.current
            if current is not None and name == watched.name(current):
                return watched, current
        raise NoSuchPrompt(f"no prompt {name} waits: it was answered or withdrawn")

    def _json(self, watched: Watched, appearance: Appearance) -> dict[str, Any]:
        prompt, pane = appearance.prompt, watched.eye.pane
        shown = prompt_json(prompt, session=pane.session, pane=pane.id, since=watched.since)
        return {**shown, "id": watched.name(appearance), "body": "\n".join(prompt.body)}
