"""The steps of scripts, imported from one place. See `chorus.demo.model_server.steps`."""

from chorus.demo.model_server.steps import (
    THE_END,
    Cut,
    Refuse,
    Reply,
    Script,
    Step,
    Stop,
    StreamError,
    WaitFor,
)
from chorus.demo.script import Pause, Text, Thinking, ToolUse

__all__ = [
    "THE_END",
    "Cut",
    "Pause",
    "Refuse",
    "Reply",
    "Script",
    "Step",
    "Stop",
    "StreamError",
    "Text",
    "Thinking",
    "ToolUse",
    "WaitFor",
]
