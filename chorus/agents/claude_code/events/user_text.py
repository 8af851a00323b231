"""Find out who wrote the text of a `user` event: the user, or the client in the user's name."""

import re
from dataclasses import dataclass

from chorus.agents.claude_code.events.messages import Content, Other, Text, User


@dataclass(frozen=True, slots=True)
class Message:
    """Text that the user wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command of the user, which may be local to the client."""

    text: str


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """A text with which the client tells the model that a background task has ended."""

    task: str | None
    call: str | None


@dataclass(frozen=True, slots=True)
class ClientText:
    """Any other text written by the client."""

    interrupts: bool = False  # the turn is over: the user interrupted it, or denied a call


UserText = Message | Command | TaskEnd | ClientText

_CLIENT_TEXT = re.compile(
    r"<(local-command-|bash-(input|stdout|stderr)|system-reminder|user-memory-input|teammate-message|tick)"
    r"|This session is being continued from a previous conversation"
)
_INTERRUPTED = "[Request interrupted by user"
_COMMAND = re.compile(r"<command-(name|message)>")
_NAME = re.compile(r"<command-name>\s*(.*?)\s*</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>\s*(.*?)\s*</command-args>", re.DOTALL)
_TASK = re.compile(r"<task-id>\s*(.*?)\s*</task-id>", re.DOTALL)
_CALL = re.compile(r"<tool-use-id>\s*(.*?)\s*</tool-use-id>", re.DOTALL)


def read_user(event: User) -> UserText:
    if event.parent or event.agent or event.sidechain or event.synthetic or event.summary:
        return ClientText()
    text = plain_text(event.content)
    if text is None:
        return ClientText()
    found = parse_user_text(text)
    if event.origin not in (None, "human") and not isinstance(found, TaskEnd):
        return ClientText()
    return found


def parse_user_text(text: str) -> UserText:
    start = text.lstrip()
    if start.startswith("<task-notification>"):
        return TaskEnd(_first(_TASK, text), _first(_CALL, text))
    if _CLIENT_TEXT.match(start):
        return ClientText()
    if start.startswith(_INTERRUPTED):
        return ClientText(interrupts=True)
    if _COMMAND.match(start) and (name := _first(_NAME, text)):
        return Command(" ".join(filter(None, [name, _first(_ARGUMENTS, text)])))
    return Message(text)


def plain_text(content: Content) -> str | None:
    """Return the text of a message, without tool results; None if the user cannot have sent the message."""
    if isinstance(content, str):
        return content
    texts = [block.text for block in content if type(block) is Text]
    if not texts and not any(type(block) is Other for block in content):
        return None
    return "\n".join(texts)


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return found.group(1) if found else None
