"""The `chorus` command lines that do the same as the panel's keys, quoted for a shell."""

import shlex
from collections.abc import Iterable

from chorus.model.api.requests import QuestionArgument
from chorus.model.lane_name import short_lane_name
from chorus.model.review_state import shorten_turn


def keep(numbers: Iterable[int]) -> str:
    return _quote("keep", *numbers)


def keep_turn(turn: str) -> str:
    return _quote("keep", "--turn", shorten_turn(turn))


def revert(numbers: Iterable[int]) -> str:
    return _quote("revert", *numbers)


def revert_turn(turn: str) -> str:
    return _quote("revert", "--turn", shorten_turn(turn))


def with_dependents(revert: str) -> str:
    return f"{revert} --with-dependents"


def with_hunks(revert: str, hunks: Iterable[int]) -> str:
    return " ".join([revert, *(f"--hunk {n}" for n in hunks)])


def note(place: str, text: str) -> str:
    """Write a note. `place`: ACTION, ACTION:LINE or ACTION:PATH:LINE."""
    return _quote("note", place, text)


def drop_notes(numbers: Iterable[int]) -> str:
    return _quote("notes", "drop", *numbers)


def send_notes(*, here: bool = False) -> str:
    return _quote("notes", "send", *(["--here"] if here else []))


def redo(numbers: Iterable[int]) -> str:
    return _quote("redo", *numbers)


def land(lane: str, by: str, *, onto: str | None = None, message: str | None = None) -> str:
    onto_words = ["--onto", onto] if onto else []
    return _quote(
        "land", short_lane_name(lane), "--by", by, *onto_words, *(["-m", message] if message else [])
    )


def show(action: str) -> str:
    return _quote("show", action)


def answer(prompt: str, decision: str, *, option: str | None = None, message: str | None = None) -> str:
    match decision:
        case "allow":
            return _quote("approve", prompt)
        case "allow-always":
            return _quote("approve", prompt, "--always")
        case "deny":
            return _quote("deny", prompt, *(["--message", message] if message else []))
        case _:
            return _quote("approve", prompt, "--option", option)


def answer_text(prompt: str, kind: str, text: str) -> str:
    """Answer a question with the user's own text, or deny another prompt with the text as the message."""
    if kind == "question":
        return _quote("answer", prompt, "--text", text)
    return answer(prompt, "deny", message=text)


def answer_all(prompt: str, answers: Iterable[QuestionArgument]) -> str:
    words: list[object] = []
    for one in answers:
        text, labels = one.get("text"), one.get("labels") or []
        words += ["--say", one["question"], text] if text is not None else ["--to", one["question"], *labels]
    return _quote("answer", prompt, *words)


def _quote(*arguments: object) -> str:
    return "chorus " + " ".join(shlex.quote(str(argument)) for argument in arguments)
