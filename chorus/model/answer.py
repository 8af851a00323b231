"""Answers to a prompt.

An answer does not say which keys to press: each key is looked up on the screen just before it is pressed.
"""

from dataclasses import dataclass
from typing import assert_never

from chorus.model.ids import PaneId
from chorus.model.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Allow:
    """Allow once; `text` is a remark for the agent."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class AllowAlways:
    """Allow with the option that also changes which later calls need permission."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Deny; `text` tells the agent what to do instead."""

    text: str | None = None


@dataclass(frozen=True, slots=True)
class ChooseOption:
    """Choose the option with this `Option.key`."""

    key: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """The answer to one question of the agent: labels of options, or the user's own text."""

    question: str
    labels: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True, slots=True)
class QuestionAnswers:
    """Answers to all questions of one prompt, in the order of the questions."""

    answers: tuple[QuestionAnswer, ...]


Answer = Allow | AllowAlways | Deny | ChooseOption | QuestionAnswers


@dataclass(frozen=True, slots=True)
class PromptAnswer:
    prompt: Prompt
    pane: PaneId
    # The process in the pane, by pid and start time, because the system may give the pid to another process.
    process: str
    answer: Answer


def describe_answer(answer: Answer) -> str:
    match answer:
        case Allow(text):
            return "allow" + _suffix(text)
        case AllowAlways():
            return "allow always"
        case Deny(text):
            return "deny" + _suffix(text)
        case ChooseOption(key, text):
            return f"option {key}" + _suffix(text)
        case QuestionAnswers(answers):
            return "; ".join(f"{one.question} {_answer_text(one)}" for one in answers)
        case _:
            assert_never(answer)


def _suffix(text: str | None) -> str:
    return "" if text is None else f": {text}"


def _answer_text(answer: QuestionAnswer) -> str:
    return ", ".join(answer.labels) if answer.text is None else answer.text
