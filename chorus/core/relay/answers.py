"""What somebody decided about a prompt.

A decision names the prompt it is about by everything that tells it from another: the pane, the process
in it, the prompt's fingerprint, and which appearance of it (see `desk`). It never names a key: keys are
read off the screen at the moment one is due.
"""

from dataclasses import dataclass

from chorus.core.ids import PaneId
from chorus.core.prompts.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Allow:
    """Say yes once; with `text`, add a remark for the model."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class AllowAlways:
    """Say yes, and take the one choice that changes what is asked from now on."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Say no; with `text`, tell the model what to do instead."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class Choose:
    """Take the option that was listed under this key."""

    key: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer to one question: labels of choices, or words of one's own."""

    question: str
    labels: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Replies:
    """Answers to all the questions asked together, in their order."""

    replies: tuple[Reply, ...]


Answer = Allow | AllowAlways | Deny | Choose | Replies


@dataclass(frozen=True, slots=True)
class Decision:
    prompt: Prompt
    pane: PaneId
    # Which process the pane ran: its id and start time, so that a reused id is another process.
    process: str
    answer: Answer
