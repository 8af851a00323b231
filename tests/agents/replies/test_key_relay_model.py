"""Prompts come, change and go while answers are on their way: no key ever reaches another prompt.

A small model of the client stands in for the pane. Random events happen between any two looks: somebody
answers in the pane, a prompt is replaced, the same one is asked again, copy mode comes and goes, the
process is another one, the screen lags behind the last key. Several answers are under way at once.
"""

import random
from dataclasses import dataclass, field, replace

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.agents.claude_code.replies.appearances import PromptAppearances
from chorus.agents.claude_code.replies.key_relay import KeyRelay
from chorus.agents.interface import PaneView, PressKey, PromptAppearance
from chorus.model.answer import Allow, AllowAlways, Answer, ChooseOption, Deny, PromptAnswer
from chorus.model.ids import PaneId
from chorus.model.prompt import NoPrompt, Prompt, TextField, UnknownPrompt
from tests.screens import screen_text, shipped_rules

RUNS = 10_000
PANE = PaneId("%1")
NAMES = (
    "edit",
    "pair",
    "editlong",
    "bash",
    "bashrm",
    "bashexp",
    "fetch",
    "mcp",
    "plan",
    "ask",
    "trust",
    "apikey",
)
AMEND_OFFERED = "Esc to cancel · Tab to amend"


def _read(name: str) -> Prompt:
    found = read_screen(screen_text(f"screens/2.1.325/{name}_80.txt"), shipped_rules()).found
    assert isinstance(found, Prompt)
    return found


POOL = [_read(name) for name in NAMES]
ANSWERS: list[Answer] = [
    Allow(),
    Allow("go on"),
    AllowAlways(),
    Deny(),
    Deny("not so"),
    *map(ChooseOption, "123"),
]


@dataclass
class Client:
    """The real dialog in the pane, and what its screen shows, which may lag behind."""

    chance: random.Random
    instance: int = 0
    dialog: Prompt | None = None
    process: str = "1@1"
    in_mode: bool = False
    unreadable: bool = False
    lag: int = 0
    stale: Prompt | None = None
    # For every key received: the instance, and the label it chose or None.
    keys: list[tuple[int, str | None]] = field(default_factory=list)

    def ask(self, dialog: Prompt | None) -> None:
        self.instance += 1
        self.dialog = dialog
        self.lag = 0

    def look(self) -> PaneView:
        shown: Prompt | UnknownPrompt | NoPrompt = self.dialog or NoPrompt("the input box")
        if self.lag:
            self.lag -= 1
            shown = self.stale or NoPrompt("the input box")
        if self.unreadable:
            shown = UnknownPrompt("half drawn")
        return PaneView(PANE, self.process, shown, in_mode=self.in_mode)

    def press(self, key: str, literal: bool) -> None:
        assert not self.in_mode, "a key went to copy mode"
        assert self.dialog is not None, f"{key!r} went to the input box"
        before = self.dialog
        taken = self._take(key, literal)
        self.keys.append((self.instance, taken))
        self.stale, self.lag = before, self.chance.randrange(3)
        if taken is not None:
            instance = self.instance
            self.ask(self.chance.choice([None, None, before, *POOL[:3]]))
            self.stale, self.lag = before, self.chance.randrange(3)
            assert self.instance == instance + 1

    def _take(self, key: str, literal: bool) -> str | None:
        """Apply this key to the dialog; return the label it chooses, or None if it chooses none."""
        dialog = self.dialog
        assert dialog is not None
        if dialog.text_field is not None:
            return self._write(dialog, dialog.text_field, key, literal)
        assert not literal, "text went to a dialog without an open field"
        keys = [option.key for option in dialog.options]
        if key in keys and dialog.options[0].press is None:
            option = dialog.options[keys.index(key)]
            if option.text_input == "replace":
                self.dialog = replace(dialog, selected=key, text_field=TextField(key, "", True))
                return None
            return option.label
        if key in {"Down", "Up"}:
            self._move(dialog, 1 if key == "Down" else -1)
            return None
        if key == "Tab":
            assert "Tab to amend" in dialog.footer
            assert dialog.selected is not None
            self.dialog = replace(
                dialog, text_field=TextField(dialog.selected, "", True), footer="Esc to cancel"
            )
            return None
        if key == "Enter":
            assert dialog.selected is not None
            return dialog.options[keys.index(dialog.selected)].label
        assert key == "Escape"
        return "Escape"

    def _write(self, dialog: Prompt, text_field: TextField, key: str, literal: bool) -> str | None:
        if literal:
            self.dialog = replace(dialog, text_field=replace(text_field, text=text_field.text + key))
            return None
        assert key == "Enter", f"{key!r} became part of somebody's text"
        option = dialog.option(text_field.key)
        assert option is not None
        return option.label

    def _move(self, dialog: Prompt, by: int) -> None:
        assert dialog.selected is not None
        if dialog.options[0].press is not None:
            keys = [option.key for option in dialog.options]
            at = min(max(keys.index(dialog.selected) + by, 0), len(keys) - 1)
            walked = tuple(
                replace(
                    option,
                    press=" ".join(["Down" if index > at else "Up"] * abs(index - at) + ["Enter"]),
                )
                for index, option in enumerate(dialog.options)
            )
            self.dialog = replace(dialog, options=walked, selected=keys[at])
            return
        keys = [option.key for option in dialog.options]
        at = min(max(keys.index(dialog.selected) + by, 0), len(keys) - 1)
        footer = AMEND_OFFERED if dialog.options[at].text_input == "append" else "Esc to cancel"
        self.dialog = replace(dialog, selected=keys[at], footer=footer)


@dataclass
class Run:
    relay: KeyRelay
    prompt_answer: PromptAnswer


def play(seed: int) -> tuple[int, int]:
    chance = random.Random(seed)
    client, appearances = Client(chance), PromptAppearances()
    client.ask(chance.choice(POOL))
    listed: list[PromptAppearance] = []
    runs: list[Run] = []
    for _ in range(chance.randrange(6, 30)):
        match chance.choices(range(7), weights=(6, 3, 1, 3, 20, 20, 60))[0]:
            case 0:
                client.ask(chance.choice([None, *POOL, *([client.dialog] if client.dialog else [])]))
            case 1:
                client.in_mode = not client.in_mode
            case 2:
                client.process = f"{chance.randrange(3)}@1"
            case 3:
                client.unreadable = not client.unreadable
            case 4:
                waiting = appearances.observe(client.look())
                listed += [waiting] if waiting is not None else []
            case 5 if listed:
                # Mostly the prompt shown now; sometimes one listed long ago.
                appearance = listed[-1] if chance.random() < 0.7 else chance.choice(listed)
                prompt_answer = PromptAnswer(
                    appearance.prompt, PANE, appearance.process, chance.choice(ANSWERS)
                )
                relay = appearances.claim(prompt_answer, appearance.serial)
                runs += [Run(relay, prompt_answer)] if isinstance(relay, KeyRelay) else []
            case 6 if runs:
                step(client, chance.choice(runs))
    finals = [instance for instance, taken in client.keys if taken is not None]
    assert len(finals) == len(set(finals)), "one prompt was answered twice"
    return len(client.keys), len(finals)


def step(client: Client, run: Run) -> None:
    look = client.look()
    # A screen may still show the last prompt while the next one is already open: the client lags after a
    # key, and no key may be given for that screen.
    lagging = client.dialog is None or look.found != client.dialog
    instance, dialog = client.instance, client.dialog
    effect = run.relay.observe(look)
    if not isinstance(effect, PressKey):
        return
    assert not lagging, "a key was given for a screen of the past"
    assert client.process == run.prompt_answer.process, "a key was given to another process"
    assert dialog is not None
    assert dialog.fingerprint == run.prompt_answer.prompt.fingerprint, "a key was given for another prompt"
    client.press(effect.key, effect.literal)
    if client.keys[-1][1] is not None:
        assert client.keys[-1] == (instance, expected_label(run.prompt_answer))


def expected_label(prompt_answer: PromptAnswer) -> str:
    prompt = prompt_answer.prompt
    match prompt_answer.answer:
        case ChooseOption(key):
            wanted = [option.label for option in prompt.options if option.key == key]
        case Deny() if prompt.kind == "question":
            wanted = ["Escape"]
        case Deny() if prompt.kind == "plan":
            wanted = ["Tell Claude what to change"]
        case answer:
            meaning = {Allow: "allow", AllowAlways: "allow-always", Deny: "deny"}[type(answer)]
            wanted = [option.label for option in prompt.options if option.meaning == meaning]
    return wanted[0]


def test_no_interleaving_sends_a_key_to_another_prompt() -> None:
    keys = answers = 0
    for seed in range(RUNS):
        sent, tool_input = play(seed)
        keys, answers = keys + sent, answers + tool_input
    # The runs do something: thousands of keys were sent, and thousands of answers given.
    assert keys > RUNS / 4
    assert answers > RUNS / 10
