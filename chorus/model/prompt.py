"""A prompt: a question the client waits on, as typed data.

Receives what the rules made of a dialog. Gives the values the panel shows, the policy judges and the
relay answers, and the fingerprint that ties an answer to exactly this prompt.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, Literal

Meaning = Literal["allow", "allow-always", "deny", "other"]
# Raised when the parts below change, so that no old fingerprint equals a new one.
_FINGERPRINT_VERSION = 1
# Hexadecimal digits kept: 128 bits, far beyond any accident.
_FINGERPRINT_LENGTH = 32
_ID_LENGTH = 8


@dataclass(frozen=True, slots=True)
class Option:
    """A choice and the key, or keys, that take it, as tmux names them."""

    key: str
    label: str
    meaning: Meaning
    # How it takes words: "behind" the label after Tab, "instead" of it once chosen, or not at all.
    text: Literal["behind", "instead"] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """Text being typed into an option. Digits pressed now would become part of it."""

    key: str
    text: str
    active: bool


@dataclass(frozen=True, slots=True)
class Tab:
    """One of several questions asked together."""

    name: str
    answered: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    kind: str
    tool: str | None
    title: str
    question: str
    options: tuple[Option, ...]
    fingerprint: str
    rule: str
    body: tuple[str, ...] = ()  # the rows it is about, as drawn
    # What moves while the prompt stays the same one; none of it is in the fingerprint.
    selected: str | None = None
    entry: Entry | None = None
    ticked: frozenset[str] | None = None  # None: not a list to tick
    tabs: tuple[Tab, ...] = field(default=())
    footer: str = ""

    @property
    def id(self) -> str:
        return self.fingerprint[:_ID_LENGTH]

    def keys_meaning(self, meaning: Meaning) -> tuple[str, ...]:
        return tuple(option.key for option in self.options if option.meaning == meaning)

    def option(self, key: str) -> Option | None:
        return next((option for option in self.options if option.key == key), None)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something is asked that no rule fits: shown as it is, never answered."""

    reason: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing is asked."""

    reason: str


def fingerprint(tool: str | None, title: str, question: str, labels: list[str], body: tuple[str, ...]) -> str:
    """Hash what a person decides on: who asks, what, with which choices, about what.

    The body counts row by row as drawn, because a blank can change what a command does. So the same
    dialog drawn at another width is another fingerprint: whoever decided is asked again.
    """
    parts = [_FINGERPRINT_VERSION, tool, title, question, labels, body]
    data = json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:_FINGERPRINT_LENGTH]


def prompt_json(
    reading: Prompt | Unknown | Nothing,
    *,
    session: str | None = None,
    pane: str | None = None,
    since: str | None = None,
) -> dict[str, Any]:
    """The public form: one object per prompt; its keys are API."""
    match reading:
        case Unknown():
            return {"kind": "unknown"}
        case Nothing():
            return {"kind": "none"}
    return {
        "id": reading.id,
        "session": session,
        "pane": pane,
        "kind": reading.kind,
        "tool": reading.tool,
        "title": reading.title,
        "question": reading.question,
        "options": [
            {"key": option.key, "label": option.label, "meaning": option.meaning}
            for option in reading.options
        ],
        "fingerprint": reading.fingerprint,
        "since": since,
    }
