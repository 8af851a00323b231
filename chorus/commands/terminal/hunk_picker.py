"""Pick the hunks to revert one by one, with the keys of `git checkout -p`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from chorus.commands.terminal.patch import render_patch
from chorus.errors import UsageError
from chorus.output import ask_user, print_out

if TYPE_CHECKING:
    from chorus.model.api.json_api import HunkJson

KEYS = "y,n,q,a,d,?"
HELP = (
    "y - revert this hunk",
    "n - do not revert this hunk",
    "q - quit; do not revert this hunk or any of the remaining ones",
    "a - revert this hunk and all later hunks in the file",
    "d - do not revert this hunk or any of the later hunks in the file",
    "? - print help",
)


def pick_hunks(hunks: Sequence[HunkJson]) -> list[int]:
    """Ask on the terminal; return the numbers of the hunks to revert."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        stream = "stdin" if sys.stdout.isatty() else "stdout"
        raise UsageError(f"{stream} is not a terminal", hint="Choose hunks with --hunk N instead of -p.")
    return choose_hunks(hunks, lambda question: ask_user(question) or "q", _print_patch)


def choose_hunks(
    hunks: Sequence[HunkJson], ask: Callable[[str], str], show: Callable[[str], None]
) -> list[int]:
    chosen: list[int] = []
    decided: dict[str, bool] = {}  # files whose remaining hunks are decided
    for number, hunk in enumerate(hunks, 1):
        path = hunk["path"]
        if path in decided:
            wanted = decided[path]
        else:
            show(hunk["patch"])
            key = _ask_key(f"({number}/{len(hunks)}) Revert this hunk [{KEYS}]? ", ask, show)
            if key == "q":
                break
            if key in "ad":
                decided[path] = key == "a"
            wanted = key in "ya"
        if wanted:
            chosen.append(hunk["n"])
    return chosen


def _ask_key(question: str, ask: Callable[[str], str], show: Callable[[str], None]) -> str:
    while True:
        key = ask(question).strip().lower()[:1]
        if key and key in "ynqad":
            return key
        show("\n".join(HELP))


def _print_patch(text: str) -> None:
    for line in render_patch(text):
        print_out(line)
