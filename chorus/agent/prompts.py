"""The prompts that wait in the watched panes, and the one key that answers each.

Looks at a pane when tmux says that it printed. Tells of every prompt that appears, changes and goes.
Answers one only while its own dialog is on that screen: the decision names the prompt it is about, the
screen is read again before each key, and tmux itself checks pane, process and text in the same step as
the key. Anything else sends nothing and says why.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chorus.agent.audit import Audit
from chorus.agent.intake import now
from chorus.agent.panes import WatchedPane
from chorus.core.prompts.prompt import prompt_json
from chorus.core.prompts.reading import read_screen as read_prompt
from chorus.core.prompts.rules import PromptRules
from chorus.core.relay.answers import Answer, Decision
from chorus.core.relay.desk import Appearance, Desk
from chorus.core.relay.machine import Observation, Press, Refuse, Relay, StillThere, Verified, Wait
from chorus.errors import ChorusError, ExitCode, NothingThere
from chorus.tmux.errors import PaneChanged
from chorus.tmux.keys import press, type_text
from chorus.tmux.oneshot import Tmux
from chorus.tmux.screen import Screen, read_screen

log = logging.getLogger("chorus.agent")

# The client swallows keys in the first 150 ms of a dialog.
YOUNGEST_SECONDS = 0.25
# A dialog goes within 150 ms of its key; a busy machine takes longer.
VERIFY_SECONDS = 5.0
LOOK_AGAIN_SECONDS = 0.02
# How many rows at the end of the screen must still be there when the key is sent.
ROWS_CHECKED = 12


class PromptRefused(ChorusError):
    """No key was sent, or no further one."""

    exit_code = ExitCode.REFUSED
    hint = "Look at the pane, then answer again from `chorus prompts`."


class NoSuchPrompt(NothingThere):
    hint = "`chorus prompts` lists what waits now."


@dataclass(slots=True)
class Watched:
    """One pane's prompts. `since` and `seen_at` are of the present appearance."""

    pane: WatchedPane
    desk: Desk = field(default_factory=Desk)
    serial: int | None = None
    since: str = ""
    seen_at: float = 0.0


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
        watched = self._panes.setdefault(f"{pane.address.socket} {pane.id}", Watched(pane))
        if pane.client is None:
            self._gone(watched, "the client left")
            watched.desk.current = None
            return
        screen = self._screen(watched)
        if screen is not None:
            self._see(watched, self._observe(watched, screen))

    def forget(self, pane: WatchedPane) -> None:
        watched = self._panes.pop(f"{pane.address.socket} {pane.id}", None)
        if watched is not None:
            self._gone(watched, "the pane is gone")

    async def answer(self, name: str, fingerprint: str, answer: Answer, *, by: str) -> dict[str, Any]:
        """Answer one appearance of a prompt with the one key its label calls for."""
        watched, appearance = self._find(name)
        if appearance.prompt.fingerprint != fingerprint:
            raise PromptRefused("the prompt is not the one that was decided on; nothing was sent")
        decision = Decision(appearance.prompt, watched.pane.id, appearance.process, answer)
        relay = watched.desk.accept(decision, appearance.serial)
        if isinstance(relay, Refuse):
            raise PromptRefused(f"{relay.reason}; nothing was sent")
        entry = {"prompt": self._json(watched, appearance), "answer": repr(answer), "by": by}
        try:
            keys = await self._relay(watched, relay)
        except PromptRefused as error:
            self._audit.write({**entry, "keys": relay.sent, "refused": str(error)})
            raise
        finally:
            watched.desk.release(relay, appearance.serial)
        self._audit.write({**entry, "keys": keys, "screen": list(appearance.prompt.body)})
        self.look(watched.pane)
        return {"key": keys[-1] if keys else None, "verified": True}

    async def _relay(self, watched: Watched, relay: Relay) -> list[str]:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, watched.seen_at + YOUNGEST_SECONDS - loop.time()))
        deadline = loop.time() + VERIFY_SECONDS
        keys: list[str] = []
        while loop.time() < deadline:
            screen = self._screen(watched)
            if screen is None:
                raise PromptRefused(f"the pane is gone; {len(keys)} keys were sent")
            match relay.observe(self._observe(watched, screen)):
                case Press(key, literal):
                    self._press(watched, screen, key, literal=literal)
                    keys.append(key)
                case Verified():
                    return keys
                case Refuse(reason, sent):
                    raise PromptRefused(f"{reason}; {_keys(sent)}")
                case Wait():
                    await asyncio.sleep(LOOK_AGAIN_SECONDS)
        match relay.expire():
            case Verified():
                return keys
            case StillThere():
                raise PromptRefused(f"the dialog is still there; {_keys(len(keys))}, and no more will be")
            case Refuse(reason, sent):
                raise PromptRefused(f"{reason}; {_keys(sent)}")

    def _press(self, watched: Watched, screen: Screen, key: str, *, literal: bool) -> None:
        tmux = self._tmux(watched.pane)
        showing = [row for row in screen.rows if any(c.isalnum() for c in row)][-ROWS_CHECKED:]
        try:
            if literal:
                type_text(tmux, screen.pane, key, showing=showing)
            else:
                press(tmux, screen.pane, key, showing=showing)
        except PaneChanged as error:
            raise PromptRefused(f"{error}; nothing was sent") from error

    def _screen(self, watched: Watched) -> Screen | None:
        try:
            return read_screen(self._tmux(watched.pane), watched.pane.id)
        except ChorusError as error:
            log.info("%s cannot be read: %s", watched.pane.id, error)
            return None

    def _observe(self, watched: Watched, screen: Screen) -> Observation:
        client, state = watched.pane.client, screen.pane
        return Observation(
            pane=watched.pane.id,
            process=f"{client.pid} {client.started}" if client else "",
            found=read_prompt(screen.text, self._rules, width=state.width).found,
            dead=state.dead,
            in_mode=state.in_mode,
            scrolled=bool(state.scrolled),
        )

    def _see(self, watched: Watched, seen: Observation) -> None:
        before = watched.desk.current
        current = watched.desk.see(seen)
        if before is not None and (current is None or current.serial != before.serial):
            self._publish("prompt-gone", id=_name(watched, before), why="answered")
        if current is not None and current.serial != watched.serial:
            watched.serial, watched.since = current.serial, now()
            watched.seen_at = asyncio.get_running_loop().time()
        if current is not None and (before is None or before.prompt != current.prompt):
            self._publish("prompt", prompt=self._json(watched, current))

    def _gone(self, watched: Watched, why: str) -> None:
        if watched.desk.current is not None:
            self._publish("prompt-gone", id=_name(watched, watched.desk.current), why=why)

    def _find(self, name: str) -> tuple[Watched, Appearance]:
        for watched in self._panes.values():
            current = watched.desk.current
            if current is not None and name == _name(watched, current):
                return watched, current
        raise NoSuchPrompt(f"no prompt {name} waits: it was answered or withdrawn")

    def _json(self, watched: Watched, appearance: Appearance) -> dict[str, Any]:
        prompt = appearance.prompt
        shown = prompt_json(prompt, session=watched.pane.session, pane=watched.pane.id, since=watched.since)
        return {**shown, "id": _name(watched, appearance), "body": "\n".join(prompt.body)}


def _name(watched: Watched, appearance: Appearance) -> str:
    """Short enough to type, and never the name of another appearance in this agent's time."""
    return f"{watched.pane.id.lstrip('%')}.{appearance.serial}.{appearance.prompt.fingerprint[:4]}"


def _keys(count: int) -> str:
    return (
        "nothing was sent" if count == 0 else "one key was sent" if count == 1 else f"{count} keys were sent"
    )
