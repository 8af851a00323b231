"""The `chorus` command line that does the same as a key of the panel.

The panel shows it, so that users of the keys learn the commands. Quoted for a shell.
"""

import shlex
from collections.abc import Iterable


def keep(numbers: Iterable[int]) -> str:
    return _quote("keep", *numbers)


def keep_turn(turn: str) -> str:
    return _quote("keep", "--turn", turn)


def revert(numbers: Iterable[int]) -> str:
    return _quote("revert", *numbers)


def revert_turn(turn: str) -> str:
    return _quote("revert", "--turn", turn)


def with_dependents(revert: str) -> str:
    """Extend a revert by the later actions that changed the same lines."""
    return f"{revert} --with-dependents"


def redo(numbers: Iterable[int]) -> str:
    return _quote("redo", *numbers)


def land(lane: str, by: str, *, onto: str | None = None, message: str | None = None) -> str:
    onto_words = ["--onto", onto] if onto else []
    return _quote("land", lane, "--by", by, *onto_words, *(["-m", message] if message else []))


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
    """Answer with the user's own text; to a plan it says what to change."""
    if kind == "question":
        return _quote("answer", prompt, "--text", text)
    return answer(prompt, "deny", message=text)


def _quote(*arguments: object) -> str:
    return "chorus " + " ".join(shlex.quote(str(argument)) for argument in arguments)
