"""Send a key to a pane, only if the pane is still the one that was read and still shows the same.

The check and the key are one command inside tmux, so nothing can change between them. A key is a single
character or one of the named ones; never a name that tmux would expand, and never an Enter that the caller
did not pass.
"""

import re
from collections.abc import Sequence

from chorus.errors import UsageError
from chorus.tmux.errors import PaneChanged, ScreenChanged
from chorus.tmux.panes import PaneState, pane_state_command, parse_pane
from chorus.tmux.quoting import render_line
from chorus.tmux.tmux_server import Tmux

NAMED_KEYS = frozenset({"Enter", "Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "Space", "BSpace"})
_SENT = "chorus-sent"
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NOT_LITERAL = re.compile(r"[^A-Za-z0-9_./ -]")


def press(tmux: Tmux, pane: PaneState, key: str, *, showing: Sequence[str] = ()) -> None:
    """Press one key. Raises PaneChanged, and sends nothing, if the pane differs from `pane`.

    `showing`: texts, each within one row, that must all be on the screen when the key is sent.
    """
    if key in NAMED_KEYS:
        command = ["send-keys", "-t", pane.id, key]
    elif len(key) == 1 and key.isprintable():
        command = ["send-keys", "-t", pane.id, "-l", "--", key]
    else:
        raise UsageError(f"not one key: {key!r}")
    _send(tmux, pane, command, showing)


def type_text(tmux: Tmux, pane: PaneState, text: str, *, showing: Sequence[str] = ()) -> None:
    """Type text literally, without Enter, under the same check."""
    if not text or not text.isprintable():
        raise UsageError(f"not a line of text: {text!r}")
    _send(tmux, pane, ["send-keys", "-t", pane.id, "-l", "--", text], showing)


def _send(tmux: Tmux, pane: PaneState, command: list[str], showing: Sequence[str]) -> None:
    sent = render_line([command, ["display-message", "-p", _SENT]])
    lines = tmux.run(
        [
            "if-shell",
            "-F",
            "-t",
            pane.id,
            _condition(pane, showing),
            sent,
            render_line([pane_state_command(pane.id)]),
        ]
    )
    if lines != [_SENT]:
        raise _difference(pane, parse_pane(lines[0]))


def _condition(pane: PaneState, showing: Sequence[str]) -> str:
    """A tmux format: same server, program and foreground command, alive, not in copy mode, these texts."""
    identity = pane.identity
    equal = {
        "pid": str(identity.server_pid),
        "start_time": str(identity.server_started),
        "pane_pid": str(identity.pane_pid),
        "pane_dead": "0",
        "pane_in_mode": "0",
        # tmux sends the keys of a synchronized pane to every other pane of its window as well.
        "pane_synchronized": "0",
    }
    # A name with special characters of tmux's formats cannot be compared.
    if _SAFE_NAME.fullmatch(pane.command):
        equal["pane_current_command"] = pane.command
    tests = [f"#{{==:#{{{name}}},{value}}}" for name, value in equal.items()]
    # In texts, such characters are replaced by a wildcard for one character.
    tests += [f"#{{C:{_NOT_LITERAL.sub('?', text.strip())}}}" for text in showing]
    condition = "1"
    for test in tests:
        condition = f"#{{&&:{test},{condition}}}"
    return condition


def _difference(was: PaneState, now: PaneState) -> PaneChanged:
    if was.identity.server_pid != now.identity.server_pid:
        return PaneChanged(f"{was.id} belongs to another tmux server now")
    if now.dead:
        return PaneChanged(f"the program in {was.id} has ended")
    if was.identity != now.identity:
        return PaneChanged(f"{was.id} runs another program now (process {now.identity.pane_pid})")
    if now.in_mode:
        return PaneChanged(f"{was.id} is in copy mode: keys would go there")
    if now.synchronized:
        return PaneChanged(f"{was.id} is synchronized with others: they would get the key too")
    if was.command != now.command:
        return PaneChanged(f"{was.id} runs {now.command} now, not {was.command}")
    return ScreenChanged(f"{was.id} shows something else now")
