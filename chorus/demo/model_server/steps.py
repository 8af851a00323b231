"""Further steps of a script: the model waits, fails, stops early or drops the connection.

The other steps are in `chorus.demo.script`. A script is a list of replies, one for each request that the
client makes after the user's message. A reply is a list of steps, played in order. After the last reply of a
script, the model says "Done." and stops.
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
    """The message ends with this reason (`max_tokens`, `refusal`) instead of the one its blocks imply."""

    reason: str


Step = Text | Thinking | ToolUse | WaitFor | Pause | Refuse | StreamError | Cut | Stop
Reply = Sequence[Step]
Script = Sequence[Reply]

THE_END: Reply = (Text("Done."),)
