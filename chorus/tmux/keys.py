"""One key into one pane, if that pane is still the one that was looked at.

The check and the key are one step inside tmux: nothing can change between them. A key is a single
character or one of the named ones; never a name tmux would expand, never an Enter nobody asked for.
"""

import re

from chorus.errors import UsageError
from chorus.tmux.errors import PaneChanged
from chorus.tmux.language import render_line
from chorus.tmux.oneshot import Tmux
from chorus.tmux.panes import PaneState, one_pane, parse_pane

NAMED_KEYS = frozenset({"Enter", "Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "Space", "BSpace"})
_SENT = "chorus-sent"
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def press(tmux: Tmux, pane: PaneState, key: str) -> None:
    """Press one key. Raises PaneChanged, and presses nothing, if the pane is not as `pane` says."""
    if key in NAMED_KEYS:
        words = ["send-keys", "-t", pane.id, key]
    elif len(key) == 1 and key.isprintable():
        words = ["send-keys", "-t", pane.id, "-l", "--", key]
    else:
        raise UsageError(f"not one key: {key!r}")
    _send(tmux, pane, words)


def type_text(tmux: Tmux, pane: PaneState, text: str) -> None:
    """Type text, character by character as it stands, with no Enter. Under the same check as a key."""
    if not text or not text.isprintable():
        raise UsageError(f"not a line of text: {text!r}")
    _send(tmux, pane, ["send-keys", "-t", pane.id, "-l", "--", text])


def _send(tmux: Tmux, pane: PaneState, words: list[str]) -> None:
    sent = render_line([words, ["display-message", "-p", _SENT]])
    lines = tmux.run(["if-shell", "-F", "-t", pane.id, _same(pane), sent, render_line([one_pane(pane.id)])])
    if lines != [_SENT]:
        raise PaneChanged(_difference(pane, parse_pane(lines[0])))


def _same(pane: PaneState) -> str:
    """A tmux condition: the same server, program and foreground command, alive, not in copy mode."""
    identity = pane.identity
    conditions = {
        "pid": str(identity.server_pid),
        "start_time": str(identity.server_started),
        "pane_pid": str(identity.pane_pid),
        "pane_dead": "0",
        "pane_in_mode": "0",
    }
    # A name with signs of tmux's own language in it cannot be compared there.
    if _SAFE_NAME.fullmatch(pane.command):
        conditions["pane_current_command"] = pane.command
    condition = "1"
    for name, value in conditions.items():
        condition = f"#{{&&:#{{==:#{{{name}}},{value}}},{condition}}}"
    return condition


def _difference(was: PaneState, now: PaneState) -> str:
    if was.identity.server_pid != now.identity.server_pid:
        return f"{was.id} belongs to another tmux server now"
    if now.dead:
        return f"the program in {was.id} has ended"
    if was.identity != now.identity:
        return f"{was.id} was given another program (process {now.identity.pane_pid})"
    if now.in_mode:
        return f"{was.id} is in copy mode: keys would go there"
    return f"{was.id} runs {now.command} now, not {was.command}"
