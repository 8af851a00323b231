"""The one owner of stdout and stderr.

stdout carries the answer, stderr everything about it. Nothing else in Chorus prints.
"""

import sys


def answer(text: str) -> None:
    """Write one line (or block) of the answer."""
    sys.stdout.write(text + "\n")


def answer_json(value: object) -> None:
    """Write the answer as JSON. ASCII, so that a name that is not UTF-8 survives as an escape."""
    import json  # noqa: PLC0415  not everything that prints, prints JSON

    sys.stdout.write(json.dumps(value, indent=2 if sys.stdout.isatty() else None) + "\n")


def note(text: str) -> None:
    """Say something about the answer. It may quote a file's name, and a name may hold anything."""
    sys.stderr.write(inert(text, keep="\n\t") + "\n")


def inert(text: str, keep: str = "") -> str:
    """Text from files and models, harmless in a terminal."""
    return "".join(char if char.isprintable() or char in keep else "\ufffd" for char in text)


def ask(question: str) -> str | None:
    """Ask the person at the terminal. None: there is nobody any more."""
    sys.stdout.flush()
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    return line if line else None
