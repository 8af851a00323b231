"""The prompts that wait, wherever they are known from, and the one answer each is given.

Brings together what stands on screens (`desks`) and what clients tell in words (`told`). Tells every
subscriber of each prompt that appears, changes and goes. Every answer, given or refused, goes into the audit.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from chorus.agents.interface import PromptAppearance
from chorus.config.user_config import Preferences
from chorus.errors import ChorusError, NotFound
from chorus.model.answer import Answer, describe_answer
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import Outcome, PromptOpened
from chorus.model.prompt import Prompt
from chorus.watcher.panes.panes import WatchedPane
from chorus.watcher.prompts.audit_log import Audit
from chorus.watcher.prompts.listed import Json, screen_json, strange_json, told_json
from chorus.watcher.prompts.open_calls import OpenCalls
from chorus.watcher.prompts.pane_prompts import Desks, Watched
from chorus.watcher.prompts.policy_rulings import Ruling, Rulings
from chorus.watcher.prompts.pressing import PromptRefused
from chorus.watcher.prompts.told import Channel, Told, ToldPrompt

log = logging.getLogger("chorus.watcher")

# A hook tells of a dialog within 50 ms of its drawing; a busy machine takes longer. Until then the
# dialog is not listed, so that one prompt does not go by two names.
HOOK_SECONDS = 1.0


class NoSuchPrompt(NotFound):
    hint = "`chorus prompts` lists what waits now."


class Prompts:
    def __init__(
        self,
        desks: Desks,
        audit: Audit,
        publish: Callable[..., None],
        preferences: Callable[[], Preferences],
        *,
        has_hooks: Callable[[SessionId], bool],
        ring: Callable[[list[Json], int], None],
    ) -> None:
        self._desks = desks
        self._audit = audit
        self._publish = publish
        self._preferences = preferences
        self._has_hooks = has_hooks
        self._ring = ring
        self._told = Told()
        self._rulings = Rulings()
        self._calls = OpenCalls()
        self._known: dict[str, Json] = {}  # what subscribers were told of

    def waiting(self) -> list[Json]:
        self._told.prune()
        return [*self._list_told(), *self._list_screens(), *map(strange_json, self._desks.strange())]

    def look(self, pane: WatchedPane) -> None:
        """Read the pane's screen, and tell what has changed."""
        self._desks.look(pane)
        self.announce()

    def forget(self, pane: WatchedPane) -> None:
        self._desks.forget(pane)
        self.announce()

    def hear(self, outcomes: Iterable[Outcome]) -> None:
        """What the sessions tell may end a prompt."""
        outcomes = list(outcomes)
        self._told.hear(outcomes)
        for outcome in outcomes:
            for watched, appearance in list(self._desks.waiting()):
                if self._calls.is_asked_anew(outcome, appearance.prompt, watched.pane.session, watched.since):
                    watched.desk.begin_new_appearance()
            self._calls.hear(outcome)
        self.announce()

    def rule(self, asked: PromptOpened, cwd: str | None) -> Ruling | None:
        """What the policy says; None: a person decides."""
        return self._rulings.rule(asked, cwd)

    @property
    def holds_hooks(self) -> bool:
        return self._relay() != "keys"

    def _relay(self) -> str:
        """What the config says now; with one that cannot be read no hook is held back."""
        try:
            return self._preferences().relay
        except ChorusError as error:
            log.warning("no hook is held: %s", error)
            return "keys"

    def tell(self, asked: PromptOpened, pane: PaneId | None, channel: Channel, *, ruled: bool) -> ToldPrompt:
        """A client asks in words. It waits for a person, unless a rule is about to answer."""
        told = self._told.add(asked, pane, channel, ruled=ruled)
        self.announce()
        return told

    async def answer_by_rule(self, told: ToldPrompt, ruling: Ruling) -> None:
        """A person is asked only if the client does not take the rule's answer."""
        try:
            await self._answer_told(told, ruling.answer, by=f"policy: {ruling.because}")
        except ChorusError as error:
            log.info("a rule's answer was not taken: %s", error)
            told.ruled = False
        self.announce()

    async def answer(self, name: str, fingerprint: str, answer: Answer, *, by: str) -> Json:
        """Answer one prompt, and no other."""
        try:
            if told := self._told.all.get(name):
                _check(told.prompt, fingerprint)
                return await self._answer_told(told, answer, by=by)
            watched, appearance = self._find(name)
            _check(appearance.prompt, fingerprint)
            # With a config that cannot be read nobody knows which way is wanted: no key is sent.
            if self._preferences().relay == "hook":
                raise PromptRefused("answers go through the permission hook only; nothing was sent")
        finally:
            self.announce()
        return await self._press(watched, appearance, answer, by=by)

    def announce(self) -> None:
        """Tell subscribers what differs from what they were told."""
        present = {prompt["id"]: prompt for prompt in self.waiting()}
        before, self._known = self._known, present
        for name in before.keys() - present.keys():
            self._publish("prompt-gone", id=name, why="answered or withdrawn")
        for name, prompt in present.items():
            if before.get(name) != prompt:
                self._publish("prompt", prompt=prompt)
        if before.keys() != present.keys():
            self._ring([present[name] for name in present.keys() - before.keys()], len(present))

    async def _answer_told(self, told: ToldPrompt, answer: Answer, *, by: str) -> Json:
        shown, said, how = told_json(told), describe_answer(answer), told.channel.how
        try:
            await told.say(answer)
        except PromptRefused as error:
            self._audit.write(shown, said, by=by, how=how, keys=[], refused=str(error))
            raise
        self._told.remove(told)
        if told.pane is not None and not any(other.pane == told.pane for other in self._told.all.values()):
            self._desks.settle(told.pane, told.asked.session)
        self._audit.write(shown, said, by=by, how=how, keys=[])
        return {"key": None, "how": how, "verified": True}

    async def _press(
        self, watched: Watched, appearance: PromptAppearance, answer: Answer, *, by: str
    ) -> Json:
        shown, said = self._screen_json(watched, appearance), describe_answer(answer)
        screen = "\n".join(watched.rows).rstrip()
        record = partial(self._audit.write, shown, said, by=by, how="keys", screen=screen)
        try:
            keys = await self._desks.press(watched, appearance, answer)
        except PromptRefused as error:
            record(keys=error.keys, refused=str(error))
            raise
        record(keys=keys)
        self.look(watched.pane)
        return {"key": keys[-1] if keys else None, "how": "keys", "verified": True}

    def _find(self, name: str) -> tuple[Watched, PromptAppearance]:
        if found := self._desks.find(name):
            return found
        if any(name == watched.strange_name() for watched in self._desks.strange()):
            raise PromptRefused("no rule fits this dialog, so it is not answered from here; nothing was sent")
        raise NoSuchPrompt(f"no prompt {name} waits: it was answered or withdrawn")

    def _list_told(self) -> Iterator[Json]:
        return (told_json(told) for told in self._told.all.values() if not (told.claimed or told.ruled))

    def _list_screens(self) -> Iterator[Json]:
        """Nothing is listed twice: not what a client tells in words, nor what now cannot be read."""
        covered = {(told.pane, told.asked.session) for told in self._told.all.values()}
        for watched, appearance in self._desks.waiting():
            session = watched.pane.session
            young = watched.age() < HOOK_SECONDS and session is not None and self._has_hooks(session)
            doubled = (watched.pane.id, session) in covered or watched.is_strange()
            if not doubled and not (young and self.holds_hooks):
                yield self._screen_json(watched, appearance)

    def _screen_json(self, watched: Watched, appearance: PromptAppearance) -> Json:
        return screen_json(
            watched, appearance, self._calls.questions_of(appearance.prompt, watched.pane.session)
        )


def _check(prompt: Prompt, fingerprint: str) -> None:
    if prompt.fingerprint != fingerprint:
        raise PromptRefused("the prompt is not the one that was decided on; nothing was sent")
