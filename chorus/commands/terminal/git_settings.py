"""The user's git settings for output: pager, colours, diffs.

The settings are read by running git, so that git's rules for environment, configuration and includes apply.
"""

from __future__ import annotations

import os
import sys
from functools import cache

# git's own defaults.
DEFAULT_COLOURS = {"context": "normal", "meta": "bold", "frag": "cyan", "old": "red", "new": "green"}
RESET = "\x1b[m"


def read_pager(command: str) -> str | None:
    """Return the pager git would use for this command; None for no pager."""
    own = _run_git("config", "--get", f"pager.{command}")
    if own.lower() in {"false", "no", "off", "0"}:
        return None
    if own and own.lower() not in {"true", "yes", "on", "1"}:
        return own
    found = _run_git("var", "GIT_PAGER")
    return None if found in {"", "cat"} else found


@cache
def wants_colour(name: str = "ui") -> bool:
    """Return True if git's `color.<name>` asks for colour, stdout is a terminal and NO_COLOR is not set."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return False
    return _run_git("config", "--get-colorbool", f"color.{name}", "true") != "false"


@cache
def diff_colours() -> dict[str, str]:
    """Return the escape sequence for each kind of line in a diff, by git's names."""
    own = _run_git("config", "--name-only", "--get-regexp", r"^color\.diff\.").splitlines()
    slots = {name.lower().removeprefix("color.diff.") for name in own}
    # Older names of the same kinds.
    alias = {"plain": "context", "fragment": "frag"}
    chosen = {alias.get(slot, slot): f"color.diff.{slot}" for slot in slots}
    return {
        slot: _run_git("config", "--get-color", chosen.get(slot, f"color.diff.{slot}"), default)
        for slot, default in DEFAULT_COLOURS.items()
    }


def _run_git(*arguments: str) -> str:
    import subprocess  # noqa: PLC0415  not where output goes to a file

    try:
        done = subprocess.run(["git", *arguments], capture_output=True)
    except FileNotFoundError:
        return ""
    return done.stdout.decode("utf-8", "surrogateescape").strip("\n") if done.returncode == 0 else ""
