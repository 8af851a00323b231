"""What a key of the panel is on the command line.

Receives what the panel is about to do; gives the `chorus` command that does the same, quoted for a
shell. The panel shows it, so that whoever uses the keys learns the commands.
"""

import shlex
from collections.abc import Iterable


def command(*words: object) -> str:
    return "chorus " + " ".join(shlex.quote(str(word)) for word in words)


def show(n: int) -> str:
    return command("show", n)


def keep(numbers: Iterable[int]) -> str:
    return command("keep", *numbers)


def keep_turn(turn: str) -> str:
    return command("keep", "--turn", turn)


def revert(numbers: Iterable[int], *, with_dependents: bool = False) -> str:
    return command("revert", *numbers, *(["--with-dependents"] if with_dependents else []))


def revert_turn(turn: str, *, with_dependents: bool = False) -> str:
    return command("revert", "--turn", turn, *(["--with-dependents"] if with_dependents else []))


def redo(numbers: Iterable[int]) -> str:
    return command("redo", *numbers)


def answer(prompt: str, decision: str, *, option: str | None = None, message: str | None = None) -> str:
    match decision:
        case "allow":
            return command("approve", prompt)
        case "allow-always":
            return command("approve", prompt, "--always")
        case "deny":
            return command("deny", prompt, *(["--message", message] if message else []))
        case _:
            return command("approve", prompt, "--option", option)


def words(prompt: str, kind: str, text: str) -> str:
    """An answer in words of one's own: to a plan they say what to change."""
    return (
        command("answer", prompt, "--text", text)
        if kind == "question"
        else answer(prompt, "deny", message=text)
    )


def land(lane: str, by: str, *, onto: str | None = None, message: str | None = None) -> str:
    onto_words = ["--onto", onto] if onto else []
    return command("land", lane, "--by", by, *onto_words, *(["-m", message] if message else []))
