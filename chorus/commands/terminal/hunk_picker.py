"""Hunks picked one by one on a terminal, with the keys of `git checkout -p`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chorus.commands.diff import coloured_patch
from chorus.errors import UsageError
from chorus.output import ask_user, print_out

KEYS = "y,n,q,a,d,?"
HELP = (
    "y - take this hunk back",
    "n - leave this hunk",
    "q - leave this hunk and all that follow",
    "a - take this hunk and all later ones of this file back",
    "d - leave this hunk and all later ones of this file",
    "? - print this help",
)


def pick_hunks(hunks: Sequence[Mapping[str, Any]]) -> list[int]:
    """The numbers of those the person wants taken back."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("hunks are picked on a terminal", hint="Elsewhere name them with --hunk N.")
    return choose_hunks(hunks, _ask, _show)


def choose_hunks(
    hunks: Sequence[Mapping[str, Any]], ask_for: Callable[[str], str], show: Callable[[str], None]
) -> list[int]:
    chosen: list[int] = []
    settled: dict[str, bool] = {}  # paths whose remaining hunks are decided
    for place, hunk in enumerate(hunks, 1):
        path = str(hunk["path"])
        if path not in settled:
            show(hunk["patch"])
            key = _key(f"({place}/{len(hunks)}) Take this hunk back [{KEYS}]? ", ask_for, show)
            if key == "q":
                break
            if key in "ad":
                settled[path] = key == "a"
            wanted = key in "ya"
        else:
            wanted = settled[path]
        if wanted:
            chosen.append(int(hunk["n"]))
    return chosen


def _key(question: str, ask_for: Callable[[str], str], show: Callable[[str], None]) -> str:
    while True:
        key = ask_for(question).strip().lower()[:1]
        if key and key in "ynqad":
            return key
        show("\n".join(HELP))


def _show(text: str) -> None:
    for line in coloured_patch(text):
        print_out(line)


def _ask(question: str) -> str:
    """What the person types; the end of input means that they have had enough."""
    return ask_user(question) or "q"
