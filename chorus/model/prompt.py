"""A prompt: a question the client waits on. Its fingerprint ties an answer to exactly one prompt."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from chorus.model.api.json_api import OptionMeaning, PromptJson, UnreadableScreenJson

# "append": `Tab` opens a text field behind the label. "replace": choosing the option opens a text field in
# place of the label.
TextInput = Literal["append", "replace"]
# The names of options in Chorus's own messages, by meaning.
OPTION_NAMES = {
    "allow": '"approve"',
    "allow-always": '"don\'t ask again"',
    "deny": '"deny"',
    "other": '"other"',
}
NOT_RECOGNISED = "Chorus does not recognise this prompt; answer it in its pane"

# Raised whenever the parts of a fingerprint change, so that no old fingerprint equals a new one.
_FINGERPRINT_VERSION = 1
_FINGERPRINT_LENGTH = 32  # hexadecimal digits: 128 bits
_ID_LENGTH = 8

# A row that is only a line. The client draws a command or a change between two of these rows.
_RULE_LINE = re.compile(r"\s*[╌─]+\s*")


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a prompt.

    `key` identifies the option: it is the option's number, its position in a list without numbers, or the key
    that chooses it.
    """

    key: str
    label: str
    meaning: OptionMeaning
    text_input: TextInput | None = None
    # In a list without numbers: the keys that lead from the cursor to the option and choose it, as tmux names
    # them.
    press: str | None = None


@dataclass(frozen=True, slots=True)
class TextField:
    """The text field of an option. While it is active, digits pressed become part of its text."""

    key: str
    text: str
    active: bool


@dataclass(frozen=True, slots=True)
class QuestionTab:
    """One of several questions asked together."""

    name: str
    answered: bool


@dataclass(frozen=True, slots=True)
class ScreenArea:
    """The part of the screen in which a dialog is drawn."""

    top: int = 0  # its first row
    columns: int | None = None  # how many, from the left edge; None: all


@dataclass(frozen=True, slots=True)
class Prompt:
    kind: str
    tool: str | None
    title: str
    question: str
    options: tuple[Option, ...]
    fingerprint: str
    rule: str
    body: tuple[str, ...] = ()  # the rows that show the command, the change or the like, as drawn
    # The fields below may change while the prompt stays the same, so they are not in the fingerprint.
    selected: str | None = None
    text_field: TextField | None = None
    checked: frozenset[str] | None = None  # keys of checked boxes; None: no check boxes
    tabs: tuple[QuestionTab, ...] = field(default=())
    footer: str = ""
    cut: bool = False  # a part of the dialog is not on the screen, and is missing from the body
    area: ScreenArea = ScreenArea()

    @property
    def id(self) -> str:
        return self.fingerprint[:_ID_LENGTH]

    def keys_with_meaning(self, meaning: OptionMeaning) -> tuple[str, ...]:
        return tuple(option.key for option in self.options if option.meaning == meaning)

    def option(self, key: str) -> Option | None:
        return next((option for option in self.options if option.key == key), None)


@dataclass(frozen=True, slots=True)
class UnknownPrompt:
    """A dialog that no rule matches: shown as it is, never answered."""

    reason: str
    rows: tuple[str, ...] = ()  # the dialog as drawn, as far as it can be separated from what is above it


@dataclass(frozen=True, slots=True)
class NoPrompt:
    """The screen shows no dialog."""

    reason: str


def fingerprint(tool: str | None, title: str, question: str, labels: list[str], body: tuple[str, ...]) -> str:
    """Hash what the user decides on: tool, title, question, options and body.

    The body is hashed as drawn, because a blank can change what a command does.
    """
    parts = [_FINGERPRINT_VERSION, tool, title, question, labels, body]
    data = json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:_FINGERPRINT_LENGTH]


def prompt_json(
    prompt: Prompt, *, session: str | None = None, pane: str | None = None, since: str | None = None
) -> PromptJson:
    return {
        "id": prompt.id,
        "session": session,
        "pane": pane,
        "kind": prompt.kind,
        "tool": prompt.tool,
        "title": prompt.title,
        "question": prompt.question,
        "options": [
            {"key": option.key, "label": option.label, "meaning": option.meaning} for option in prompt.options
        ],
        "fingerprint": prompt.fingerprint,
        "since": since,
    }


def screen_reading_json(found: Prompt | UnknownPrompt | NoPrompt) -> PromptJson | UnreadableScreenJson:
    """Return what `prompts --screen --json` prints about one screen."""
    match found:
        case UnknownPrompt():
            return {"kind": "unknown"}
        case NoPrompt():
            return {"kind": "none"}
    return prompt_json(found)


def split_body(rows: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split rows into those between the first and the last horizontal rule, and all others.

    The two rules themselves are left out. With fewer than two rules, the first list has all rows.
    """
    rules = [index for index, row in enumerate(rows) if _RULE_LINE.fullmatch(row)]
    if len(rules) < 2:
        return list(rows), []
    first, last = rules[0], rules[-1]
    return list(rows[first + 1 : last]), [*rows[:first], *rows[last + 1 :]]


def without_root(row: str, root: str) -> str:
    """If the row is a path below `root`, make it relative, as the client does; otherwise return the row."""
    path = row.strip()
    return path[len(root) + 1 :] if root and path.startswith(f"{root}/") else row


def summarize_prompt(prompt: PromptJson, root: str = "") -> str:
    """Return a prompt's command or file, else the first row of its body, else its question.

    A file below `root`, the work tree, is named relative to `root`.
    """
    tool_input = prompt.get("input") or {}
    for name in ("command", "file_path"):
        if isinstance(text := tool_input.get(name), str) and text.strip():
            return without_root(text, root) if name == "file_path" else text
    framed, _ = split_body((prompt.get("body") or "").splitlines())
    return next((row.strip() for row in framed if row.strip()), prompt["question"])
