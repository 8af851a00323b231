"""The steps of a scripted model's reply, for the stand-in and for the model server."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


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
    id: str | None = None  # generated if not given
    answer: str | None = None  # the result of a tool that a double of the client does not know


@dataclass(frozen=True, slots=True)
class Pause:
    """The model says nothing for a while."""

    seconds: float
