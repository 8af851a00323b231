"""What the user's git settings say about output: pager, colours, diffs.

Asks git, so that its own rules hold: environment, configuration, includes. Who set up `git diff` sees
`chorus diff` the same way.
"""

import os
import subprocess
import sys
from functools import cache

# What git uses where the user says nothing.
DEFAULTS = {"context": "normal", "meta": "bold", "frag": "cyan", "old": "red", "new": "green"}
RESET = "\x1b[m"


def read_pager(command: str) -> str | None:
    """The pager git would use for the output of this command; None for none."""
    own = _ask("config", "--get", f"pager.{command}")
    if own.lower() in {"false", "no", "off", "0"}:
        return None
    if own and own.lower() not in {"true", "yes", "on", "1"}:
        return own
    found = _ask("var", "GIT_PAGER")
    return None if found in {"", "cat"} else found


@cache
def wants_colour(name: str = "ui") -> bool:
    """Whether output of this kind (`color.diff`, …) is coloured: only on a terminal, and only if git's is."""
    if not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return False
    return _ask("config", "--get-colorbool", f"color.{name}", "true") != "false"


@cache
def diff_colours() -> dict[str, str]:
    """The escape sequence of each kind of line in a diff, by git's names for them."""
    own = _ask("config", "--name-only", "--get-regexp", r"^color\.diff\.").splitlines()
    slots = {name.lower().removeprefix("color.diff.") for name in own}
    # Older names of the same things.
    alias = {"plain": "context", "fragment": "frag"}
    chosen = {alias.get(slot, slot): f"color.diff.{slot}" for slot in slots}
    return {
        slot: _ask("config", "--get-color", chosen.get(slot, f"color.diff.{slot}"), default)
        for slot, default in DEFAULTS.items()
    }


def read_diff(before: str, after: str) -> str:
    """The patch between two commits, by the user's diff settings: context, algorithm, prefixes, renames."""
    plain = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-color-moved", "--no-relative")
    done = subprocess.run(["git", "diff", *plain, before, after], capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def _ask(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], capture_output=True)
    except FileNotFoundError:
        return ""
    return done.stdout.decode("utf-8", "surrogateescape").strip("\n") if done.returncode == 0 else ""
