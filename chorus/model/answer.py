"""What somebody decided about a prompt.

A decision names the prompt it is about by everything that tells it from another: the pane, the process
in it, the prompt's fingerprint, and which appearance of it (see `desk`). It never names a key: keys are
read off the screen at the moment one is due.
"""

from dataclasses import dataclass
from typing import assert_never

from chorus.model.ids import PaneId
from chorus.model.prompt import Prompt


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


def render_answer(answer: Answer) -> str:
    """In a few words, for a record of what was decided."""
    match answer:
        case Allow(text):
            return "allow" + _with(text)
        case AllowAlways():
            return "allow always"
        case Deny(text):
            return "deny" + _with(text)
        case Choose(key, text):
            return f"option {key}" + _with(text)
        case Replies(replies):
            return "; ".join(f"{reply.question} {_reply(reply)}" for reply in replies)
        case _:
            assert_never(answer)


def _with(text: str | None) -> str:
    return "" if text is None else f": {text}"


def _reply(reply: Reply) -> str:
    return ", ".join(reply.labels) if reply.text is None else reply.text
