"""Who really speaks in a `user` event.

The client puts many words into the user's mouth: tool results, notices, summaries, command output. Only
what a person wrote is a message, and only a message starts a turn.
"""

import re
from dataclasses import dataclass

from chorus.agents.claude_code.events.blocks import Content, Other, Text
from chorus.agents.claude_code.events.messages import User


@dataclass(frozen=True, slots=True)
class Message:
    """What a person wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command a person gave. It may be local to the client, and then starts nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class TaskNotice:
    """The client tells the model that a background task is over."""

    task: str | None
    call: str | None


@dataclass(frozen=True, slots=True)
class Aside:
    """Anything else: for the model's ears, or for the screen."""

    breaks_off: bool = False  # the turn is over: a person stopped it, or said no to a call


Speech = Message | Command | TaskNotice | Aside

_ASIDE = re.compile(
    r"<(local-command-|bash-(input|stdout|stderr)|system-reminder|user-memory-input|teammate-message|tick)"
    r"|This session is being continued from a previous conversation"
)
_BREAK = "[Request interrupted by user"
_COMMAND = re.compile(r"<command-(name|message)>")
_NAME = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_TASK = re.compile(r"<task-id>\s*(.*?)\s*</task-id>", re.DOTALL)
_CALL = re.compile(r"<tool-use-id>\s*(.*?)\s*</tool-use-id>", re.DOTALL)


def read_user(event: User) -> Speech:
    if event.parent or event.agent or event.sidechain or event.synthetic or event.summary:
        return Aside()
    text = spoken_text(event.content)
    if text is None:
        return Aside()
    speech = read_text(text)
    if event.origin not in (None, "human") and not isinstance(speech, TaskNotice):
        return Aside()
    return speech


def read_text(text: str) -> Speech:
    start = text.lstrip()
    if start.startswith("<task-notification>"):
        return TaskNotice(_first(_TASK, text), _first(_CALL, text))
    if _ASIDE.match(start):
        return Aside()
    if start.startswith(_BREAK):
        return Aside(breaks_off=True)
    if _COMMAND.match(start) and (name := _first(_NAME, text)):
        return Command(" ".join(filter(None, [name, _first(_ARGUMENTS, text)])))
    return Message(text)


def spoken_text(content: Content) -> str | None:
    """The text of a message without tool results; None if a person could not have sent it."""
    if isinstance(content, str):
        return content
    texts = [block.text for block in content if type(block) is Text]
    if not texts and not any(type(block) is Other for block in content):
        return None
    return "\n".join(texts)


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found.group(1) if found else None
