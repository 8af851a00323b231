"""Scripts for the client double: what the model says and does, as JSON.

For each key a script has a list of replies, one per request the client makes after a message that contains
the key; a reply is a list of steps, played in order. When a script runs out, the model says "Done." and
stops. `{cwd}` in any string is replaced by the project's directory.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chorus.demo.script import Pause, Text, Thinking, ToolUse
from chorus.errors import UsageError

# The client that the double was measured against.
CLIENT_VERSION = "2.1.325"


@dataclass(frozen=True, slots=True)
class WaitForFile:
    """The model waits until this file exists, which another process creates."""

    path: str


@dataclass(frozen=True, slots=True)
class Show:
    """A dialog of no known tool, as a newer client may show one. Its lines are drawn as they are."""

    lines: tuple[str, ...]
    options: tuple[str, ...]
    numbered: bool = True


@dataclass(frozen=True, slots=True)
class Emit:
    """An event printed as it is, as a newer client may print one."""

    event: Mapping[str, Any]


Step = Text | Thinking | ToolUse | Pause | WaitForFile | Show | Emit
Reply = Sequence[Step]

THE_END: Reply = (Text("Done."),)


class BadScript(UsageError):
    """A script cannot be read."""


@dataclass(frozen=True, slots=True)
class Script:
    replies: Mapping[str, Sequence[Reply]] = field(default_factory=dict)
    version: str = CLIENT_VERSION
    # Tool name -> option labels in another order, or others: a newer client's dialogs.
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # How long the model takes for each block, and the client to begin a call.
    pace_seconds: float = 0.0

    def replies_to(self, message: str) -> Sequence[Reply]:
        return next((replies for key, replies in self.replies.items() if key in message), ())


def parse_script(text: str, *, cwd: str) -> Script:
    try:
        value = json.loads(text)
        replies = {
            key: tuple(tuple(_parse_step(step, cwd) for step in reply) for reply in script)
            for key, script in value.get("scripts", {}).items()
        }
        return Script(
            replies,
            value.get("version", CLIENT_VERSION),
            value.get("options", {}),
            float(value.get("pace_seconds", 0)),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadScript(f"the script cannot be read: {error!r}") from error


def _parse_step(step: Mapping[str, Any], cwd: str) -> Step:
    step = _fill(step, cwd)
    match step:
        case {"say": str(text)}:
            return Text(text)
        case {"think": str(text)}:
            return Thinking(text)
        case {"tool": str(name), "input": dict(arguments)}:
            return ToolUse(name, arguments, step.get("id"), step.get("answer"))
        case {"pause": int() | float() as seconds}:
            return Pause(seconds)
        case {"wait": str(path)}:
            return WaitForFile(path)
        case {"show": list(lines), "options": list(options)}:
            return Show(tuple(lines), tuple(options), step.get("numbered", True))
        case {"emit": dict(event)}:
            return Emit(event)
    raise ValueError(f"no such step: {step}")


def _fill(value: Any, cwd: str) -> Any:
    match value:
        case str():
            return value.replace("{cwd}", cwd)
        case list():
            return [_fill(item, cwd) for item in value]
        case dict():
            return {key: _fill(item, cwd) for key, item in value.items()}
    return value
