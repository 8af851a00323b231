"""The pending prompts, from screens and from permission requests. Each is answered at most once."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Protocol

from chorus.agents.interface import PromptAppearance, Prompts
from chorus.config.user_config import Preferences
from chorus.errors import ChorusError, NotFound
from chorus.model.action import Call
from chorus.model.answer import Answer, describe_answer
from chorus.model.api.json_api import (
    AnswerJson,
    EventJson,
    OptionJson,
    PromptEvent,
    PromptGoneEvent,
    PromptJson,
)
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import Outcome, PromptOpened
from chorus.model.prompt import Prompt
from chorus.model.tools import COMMAND_KEY
from chorus.watcher.panes.watched_panes import WatchedPane
from chorus.watcher.prompts.answer_keys import PromptRefused
from chorus.watcher.prompts.audit_log import AuditLog
from chorus.watcher.prompts.open_calls import OpenCalls
from chorus.watcher.prompts.pane_prompts import PanePrompts, WatchedScreen
from chorus.watcher.prompts.reply_channels import CaptureChannel, FormChannel
from chorus.watcher.prompts.requested_prompts import ReplyChannel, RequestedPrompt, RequestedPrompts

log = logging.getLogger("chorus.watcher")

# How long a new dialog is not listed if a hook or the mod is about to report it: one prompt must not get two
# names. A hook reports a dialog within 50 ms after it is drawn; a busy machine takes longer.
HOOK_SECONDS = 1.0


class NoSuchPrompt(NotFound):
    hint = "Run `chorus prompts` to list the pending prompts."


class NotifyUser(Protocol):
    def __call__(self, new: list[PromptJson], pending: list[PromptJson]) -> None:
        """Notify the user of new prompts. `pending`: all prompts that are pending now."""


class PendingPrompts:
    def __init__(
        self,
        agent_prompts: Prompts,
        screens: PanePrompts,
        audit: AuditLog,
        publish: Callable[[EventJson], None],
        preferences: Callable[[], Preferences],
        *,
        sources_of: Callable[[SessionId], Collection[str]],
        notify: NotifyUser,
    ) -> None:
        self._agent_prompts = agent_prompts
        self._screens = screens
        self._audit = audit
        self._publish = publish
        self._preferences = preferences
        self._sources_of = sources_of
        self._notify = notify
        self._requested = RequestedPrompts(agent_prompts)
        self._calls = OpenCalls(agent_prompts)
        self._published: dict[str, PromptJson] = {}

    def all(self) -> list[PromptJson]:
        self._requested.prune()
        return [
            *self._list_requested(),
            *self._list_screens(),
            *map(unknown_dialog_json, self._unknown_dialogs()),
        ]

    def look(self, pane: WatchedPane) -> None:
        self._screens.look(pane)
        self.publish_changes()

    def is_asking(self, pane: WatchedPane) -> bool:
        return self._screens.is_asking(pane)

    def is_surely_asked(self, call: Call) -> bool:
        """True if the user is certainly asked about this call at this moment; False if in doubt."""
        requested = [one for one in self._requested.all.values() if one.request.id == call.id]
        if any(one.channel.how == "control" for one in requested):
            return True
        if COMMAND_KEY not in call.input:
            return False  # a dialog does not say which of several calls it is about
        panes = {one.pane for one in requested}
        for screen, appearance in list(self._screens.pending()):
            is_its_pane = screen.pane.session == call.session or screen.pane.id in panes
            if is_its_pane and self._agent_prompts.may_be_about(appearance.prompt, call.tool, call.input):
                self._screens.look(screen.pane)
                return (screen, appearance) in self._screens.pending()
        return False

    def forget(self, pane: WatchedPane) -> None:
        self._screens.forget(pane)
        self.publish_changes()

    def feed(self, outcomes: Iterable[Outcome]) -> None:
        outcomes = list(outcomes)
        self._requested.feed(outcomes)
        for outcome in outcomes:
            for screen, appearance in list(self._screens.pending()):
                if self._calls.is_asked_again(outcome, appearance.prompt, screen.pane.session, screen.since):
                    screen.tracker.begin_new_appearance()
            self._calls.feed(outcome)
        self.publish_changes()

    @property
    def holds_hooks(self) -> bool:
        """True if permission hooks are held until the user answers. False if the config cannot be read."""
        try:
            return self._preferences().relay in ("hook", "auto")
        except ChorusError as error:
            log.warning("prompts are not answered through permission hooks: %s", error)
            return False

    @property
    def holds_mod(self) -> bool:
        """True if the mod holds permission requests inside the client. False if the config cannot be read."""
        try:
            return self._preferences().relay != "keys"
        except ChorusError as error:
            log.warning("prompts are not answered inside the client: %s", error)
            return False

    def open_form(self, request: PromptOpened, pane: PaneId) -> FormChannel | None:
        """Return a channel for the answer to a form in a pane; None if no key may be pressed there."""
        try:
            if self._preferences().relay == "hook":
                return None
        except ChorusError as error:
            log.warning("a form can be answered in its pane only: %s", error)
            return None
        return FormChannel(self._agent_prompts, self._screens, request, pane)

    def add(
        self, request: PromptOpened, pane: PaneId | None, channel: ReplyChannel, *, policy_pending: bool
    ) -> RequestedPrompt:
        """Add a requested prompt. It waits for the user unless the policy is about to answer it."""
        added = self._requested.add(request, pane, channel, policy_pending=policy_pending)
        self.publish_changes()
        return added

    async def answer_by_policy(self, requested: RequestedPrompt, answer: Answer, reason: str) -> None:
        """Send the policy's answer; if the client does not accept it, the prompt waits for the user."""
        try:
            await self._answer_requested(requested, answer, by=f"policy: {reason}")
        except ChorusError as error:
            log.info("the policy's answer was not accepted: %s", error)
            requested.policy_pending = False
        self.publish_changes()

    async def answer(self, name: str, fingerprint: str, answer: Answer, *, by: str) -> AnswerJson:
        """Answer the prompt with this name.

        Raises PromptRefused if the answer was not given, for example because the prompt has changed and its
        fingerprint is no longer `fingerprint`.
        """
        try:
            if requested := self._requested.all.get(name):
                _check_fingerprint(requested.prompt, fingerprint)
                return await self._answer_requested(requested, answer, by=by)
            screen, appearance = self._find(name)
            _check_fingerprint(appearance.prompt, fingerprint)
            # If the config cannot be read, this raises: the user may not want keys, so none is sent.
            if self._preferences().relay == "hook":
                raise PromptRefused(
                    "your config allows answers only through the permission hook; nothing was sent",
                    hint="Answer the prompt in its pane.",
                )
        finally:
            self.publish_changes()
        return await self._answer_by_keys(screen, appearance, answer, by=by)

    def publish_changes(self) -> None:
        """Publish the prompts that have appeared, changed or gone since the last call."""
        present = {prompt["id"]: prompt for prompt in self.all()}
        before, self._published = self._published, present
        if not (before or present):
            return
        for name in before.keys() - present.keys():
            self._publish(PromptGoneEvent(event="prompt-gone", id=name, why="answered or withdrawn"))
        for name, prompt in present.items():
            if before.get(name) != prompt:
                self._publish(PromptEvent(event="prompt", prompt=prompt))
        if before.keys() != present.keys():
            new = [present[name] for name in present.keys() - before.keys()]
            self._notify(new, list(present.values()))

    async def _answer_requested(self, requested: RequestedPrompt, answer: Answer, *, by: str) -> AnswerJson:
        shown, text, how = requested_prompt_json(requested), describe_answer(answer), requested.channel.how
        try:
            keys = list(await requested.answer(answer, self._agent_prompts))
        except PromptRefused as error:
            self._audit.write(shown, text, by=by, how=how, keys=error.keys, refused=str(error))
            raise
        self._requested.remove(requested)
        pane = requested.pane
        # A dialog that was closed with a key is already gone: the pane may show the next one.
        if (
            pane is not None
            and not keys
            and not any(other.pane == pane for other in self._requested.all.values())
        ):
            self._screens.mark_answered(pane, requested.request.session)
        self._audit.write(shown, text, by=by, how=how, keys=keys)
        return {"key": keys[0] if keys else None, "how": how, "verified": True}

    async def _answer_by_keys(
        self, screen: WatchedScreen, appearance: PromptAppearance, answer: Answer, *, by: str
    ) -> AnswerJson:
        shown, text = self._screen_prompt_json(screen, appearance), describe_answer(answer)
        rows = "\n".join(screen.rows).rstrip()
        record = partial(self._audit.write, shown, text, by=by, how="keys", screen=rows)
        try:
            keys = await self._screens.answer(screen, appearance, answer)
        except PromptRefused as error:
            record(keys=error.keys, refused=str(error))
            raise
        record(keys=keys)
        self.look(screen.pane)
        return {"key": keys[-1] if keys else None, "how": "keys", "verified": True}

    def _find(self, name: str) -> tuple[WatchedScreen, PromptAppearance]:
        if found := self._screens.find(name):
            return found
        if any(name == screen.unknown_dialog_name() for screen in self._unknown_dialogs()):
            raise PromptRefused(
                "Chorus does not recognise this prompt; nothing was sent",
                hint="Answer it in its pane. Run `chorus prompts` to see its text.",
            )
        raise NoSuchPrompt(f"no prompt {name} is pending: it was answered or withdrawn, or the id is wrong")

    def _list_requested(self) -> Iterator[PromptJson]:
        requested = self._requested.all.values()
        answerable = {one.request.id for one in requested if not isinstance(one.channel, CaptureChannel)}
        for one in requested:
            is_repeated = isinstance(one.channel, CaptureChannel) and one.request.id in answerable - {None}
            if not (one.claimed or one.policy_pending or is_repeated):
                yield requested_prompt_json(one)

    def _list_screens(self) -> Iterator[PromptJson]:
        """List the prompts on screens. Unknown dialogs and requested prompts are listed elsewhere.

        A new prompt is left out for a moment if a hook or the mod may still report it as a requested prompt.
        """
        for screen, appearance in self._screens.pending():
            session = screen.pane.session
            is_new = screen.age_seconds() < HOOK_SECONDS and self._is_reported_and_held(session)
            is_listed = self._is_requested(screen) or screen.shows_unknown_dialog()
            if not is_listed and not is_new:
                yield self._screen_prompt_json(screen, appearance)

    def _unknown_dialogs(self) -> Iterator[WatchedScreen]:
        """Return the screens with a dialog that no rule fits.

        Dialogs of requested prompts are left out. In a pane that is too small for them, no rule fits them.
        """
        return (screen for screen in self._screens.unknown_dialogs() if not self._is_requested(screen))

    def _is_requested(self, screen: WatchedScreen) -> bool:
        """True if the dialog on the screen belongs to a requested prompt."""
        pane = screen.pane
        return any(
            (one.pane, one.request.session) == (pane.id, pane.session) for one in self._requested.all.values()
        )

    def _is_reported_and_held(self, session: SessionId | None) -> bool:
        """True if a hook or the mod also reports this session's dialogs and waits for the answer."""
        sources = self._sources_of(session) if session is not None else ()
        return ("mod" in sources and self.holds_mod) or ("hook" in sources and self.holds_hooks)

    def _screen_prompt_json(self, screen: WatchedScreen, appearance: PromptAppearance) -> PromptJson:
        questions = self._calls.questions_of(appearance.prompt, screen.pane.session)
        return screen_prompt_json(screen, appearance, questions)


def requested_prompt_json(requested: RequestedPrompt) -> PromptJson:
    request = requested.request
    shown = _prompt_json(requested.name, requested.prompt, requested.since, request.input)
    shown = {**shown, "session": request.session, "pane": requested.pane}
    if isinstance(requested.channel, CaptureChannel):
        advice = requested.channel.advice
        question = " ".join([shown["question"], advice[:1].upper() + advice[1:] + "."]).strip()
        shown = {**shown, "question": question, "options": [], "words": None}
    return shown


def screen_prompt_json(
    screen: WatchedScreen, appearance: PromptAppearance, questions: Mapping[str, Any] | None
) -> PromptJson:
    """Return a prompt on a screen as JSON.

    `questions`: the input of the call, with all questions. The screen shows only one at a time.
    """
    shown = _prompt_json(screen.prompt_name(appearance), appearance.prompt, screen.since, questions)
    return {**shown, "session": screen.pane.session, "pane": screen.pane.id}


def unknown_dialog_json(screen: WatchedScreen) -> PromptJson:
    name = screen.unknown_dialog_name()
    return {
        "id": name, "session": screen.pane.session, "pane": screen.pane.id, "kind": "unknown",
        "tool": None, "title": "A dialog that Chorus does not recognise", "question": "Look at the pane.",
        "options": [], "fingerprint": name, "since": screen.unknown_since,
        "body": "\n".join(screen.unknown_rows).strip("\n"), "input": None,
    }  # fmt: skip


def _prompt_json(
    name: str,
    prompt: Prompt,
    since: str,
    tool_input: Mapping[str, Any] | None,
) -> PromptJson:
    return {
        "id": name,
        "session": None,
        "pane": None,
        "kind": prompt.kind,
        "tool": prompt.tool,
        "title": prompt.title,
        "question": prompt.question,
        "options": [
            OptionJson(key=option.key, label=option.label, meaning=option.meaning)
            for option in prompt.options
        ],
        "fingerprint": prompt.fingerprint,
        "since": since,
        "body": "\n".join(prompt.body),
        "input": None if tool_input is None else dict(tool_input),
        "words": _text_option(prompt),
        "cut": prompt.cut,
    }


def _text_option(prompt: Prompt) -> str | None:
    """Return the key of the option for the user's own text.

    None if there is no such option, or if the prompt has check boxes.
    """
    fields = [option.key for option in prompt.options if option.text_input == "replace"]
    return fields[0] if fields and prompt.checked is None else None


def _check_fingerprint(prompt: Prompt, fingerprint: str) -> None:
    if prompt.fingerprint != fingerprint:
        raise PromptRefused(
            "the prompt has changed since this answer was given; nothing was sent",
            hint="Run `chorus prompts` to see it as it is now, then answer again.",
        )
