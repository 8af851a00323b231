"""Further steps of a script: the model waits, fails, stops early or drops the connection.

A script has one reply for each request after the user's message. After the last reply, the model says only
"Done."
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chorus.demo.script import Pause, Text, Thinking, ToolUse


@dataclass(frozen=True, slots=True)
class WaitFor:
    """The stream waits here until the gate is set."""

    gate: threading.Event


@dataclass(frozen=True, slots=True)
class Refuse:
    """An HTTP error instead of a response, `times` times per session. Must be the first step of a reply."""

    status: int
    times: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamError:
    """An error event inside the stream, which then ends."""

    kind: str = "overloaded_error"
    times: int = 1


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection drops here."""

    times: int = 1


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop reason such as `max_tokens`, instead of the usual one."""

    reason: str


Step = Text | Thinking | ToolUse | WaitFor | Pause | Refuse | StreamError | Cut | Stop
Reply = Sequence[Step]
Script = Sequence[Reply]

THE_END: Reply = (Text("Done."),)
