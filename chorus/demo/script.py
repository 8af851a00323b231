"""What a scripted model says, as data.

Receives JSON text. Gives scripts: for each key a list of replies, one per request the client makes
after a message that contains the key; a reply is a list of steps, played in order. When a script
runs out the model says "Done." and stops. `{cwd}` in any string stands for the project's directory.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chorus.errors import UsageError

# The client the stand-in was measured against.
CLIENT_VERSION = "2.1.325"


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    name: str
    input: Mapping[str, Any]
    id: str | None = None  # made up, and unique, unless given
    answer: str | None = None  # what a tool the stand-in does not know says when it is run


@dataclass(frozen=True, slots=True)
class Pause:
    """The model says nothing for a while."""

    seconds: float


@dataclass(frozen=True, slots=True)
class WaitForFile:
    """The model says nothing until this file exists: a gate that another process opens."""

    path: str


@dataclass(frozen=True, slots=True)
class Show:
    """A dialog no tool asks for: what a newer client may put on the screen.

    Its lines are drawn as they are; the keys are answered as in any dialog.
    """

    lines: tuple[str, ...]
    options: tuple[str, ...]
    numbered: bool = True


@dataclass(frozen=True, slots=True)
class Emit:
    """An event printed as it is: what a newer client may put into the stream."""

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
    # How long the model takes for each block, and the client to begin a call: a test needs none of it.
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


def _fill(value: Any, cwd: str) -> Any:  # noqa: ANN401  any JSON value
    match value:
        case str():
            return value.replace("{cwd}", cwd)
        case list():
            return [_fill(item, cwd) for item in value]
        case dict():
            return {key: _fill(item, cwd) for key, item in value.items()}
    return value


def render_script(replies: Mapping[str, Sequence[Reply]], *, pace_seconds: float = 0.0) -> str:
    """Scripts of plain speech and calls as the JSON `parse_script` reads."""
    scripts = {
        key: [[_render_step(step) for step in reply] for reply in script] for key, script in replies.items()
    }
    return json.dumps({"scripts": scripts, "pace_seconds": pace_seconds})


def _render_step(step: Step) -> dict[str, Any]:
    match step:
        case Text(text):
            return {"say": text}
        case ToolUse(name, arguments, identifier):
            return {"tool": name, "input": dict(arguments), "id": identifier}
    raise ValueError(f"not for a stand-in: {step}")
