"""Send a key to a pane, but only if the pane still runs the same program and shows the same text.

The check and the key are one command inside tmux, so nothing can change between them. A key is a single
character or one of `NAMED_KEYS`. Enter is sent only if the caller passes it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chorus.errors import UsageError
from chorus.text.width import first_cells
from chorus.tmux.errors import PaneChanged, ScreenChanged
from chorus.tmux.panes import PaneState, pane_state_command, parse_pane
from chorus.tmux.quoting import render_line
from chorus.tmux.tmux_server import Tmux

NAMED_KEYS = frozenset({"Enter", "Escape", "Tab", "BTab", "Up", "Down", "Left", "Right", "Space", "BSpace"})
_SENT = "chorus-sent"
_SAFE_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NOT_LITERAL = re.compile(r"[^A-Za-z0-9_./ -]")
# tmux takes commands of up to 16 KiB.
_MAX_CONDITION_LENGTH = 12_000


@dataclass(frozen=True, slots=True)
class ShownRows:
    """Rows of a screen, top to bottom. If `columns` is set, only that many cells of each row are compared.

    A program may draw other things to the right of its dialog.
    """

    rows: tuple[str, ...]
    columns: int | None = None

    def patterns(self) -> list[str]:
        """Regular expressions for these rows, from the last row upward.

        Rows without letters and digits are left out. Upper rows are left out if the patterns get too long for
        tmux.
        """
        patterns: list[str] = []
        length = 0
        for row in reversed(self.rows):
            shown, end = (row, "$") if self.columns is None else (first_cells(row, self.columns), "")
            pattern = f"^{_NOT_LITERAL.sub('.', shown)}{end}"
            length += len(pattern)
            if length > _MAX_CONDITION_LENGTH:
                break
            if any(map(str.isalnum, shown)):
                patterns.append(pattern)
        return patterns


NO_ROWS = ShownRows(())


def press(
    tmux: Tmux, pane: PaneState, key: str, *, showing: Sequence[str] = (), rows: ShownRows = NO_ROWS
) -> None:
    """Press one key if the pane still matches `pane` and shows all texts and rows.

    Otherwise raise PaneChanged. Each text in `showing` must be within one row.
    """
    if key in NAMED_KEYS:
        command = ["send-keys", "-t", pane.id, key]
    elif len(key) == 1 and key.isprintable():
        command = ["send-keys", "-t", pane.id, "-l", "--", key]
    else:
        raise UsageError(f"not the name of a key or a single character: {key!r}")
    _send(tmux, pane, command, showing, rows)


def type_text(
    tmux: Tmux, pane: PaneState, text: str, *, showing: Sequence[str] = (), rows: ShownRows = NO_ROWS
) -> None:
    """Type text literally, without Enter, after the same check as `press`."""
    if not text or not text.isprintable():
        raise UsageError(f"not a line of text: {text!r}")
    _send(tmux, pane, ["send-keys", "-t", pane.id, "-l", "--", text], showing, rows)


def _send(tmux: Tmux, pane: PaneState, command: list[str], showing: Sequence[str], rows: ShownRows) -> None:
    sent = render_line([command, ["display-message", "-p", _SENT]])
    lines = tmux.run(
        [
            "if-shell",
            "-F",
            "-t",
            pane.id,
            _condition(pane, showing, rows),
            sent,
            render_line([pane_state_command(pane.id)]),
        ]
    )
    if lines != [_SENT]:
        raise _difference(pane, parse_pane(lines[0]))


def _condition(pane: PaneState, showing: Sequence[str], rows: ShownRows) -> str:
    """The tmux format that is true if the keys may be sent."""
    identity = pane.identity
    equal = {
        "pid": str(identity.server_pid),
        "start_time": str(identity.server_started),
        "pane_pid": str(identity.pane_pid),
        # A program draws itself again in another size, perhaps with other options.
        "pane_width": str(pane.width),
        "pane_height": str(pane.height),
        "pane_dead": "0",
        "pane_in_mode": "0",
        # tmux sends the keys of a synchronized pane to every other pane of its window as well.
        "pane_synchronized": "0",
    }
    # A name with special characters of tmux's formats cannot be compared.
    if _SAFE_NAME.fullmatch(pane.command):
        equal["pane_current_command"] = pane.command
    tests = [f"#{{==:#{{{name}}},{value}}}" for name, value in equal.items()]
    # In texts, characters that tmux's formats interpret are replaced by a wildcard for one character.
    tests += [f"#{{C:{_NOT_LITERAL.sub('?', text.strip())}}}" for text in showing]
    tests += [f"#{{C/r:{pattern}}}" for pattern in rows.patterns()]
    return _all_of(tests)


def _all_of(tests: list[str]) -> str:
    """Join all tests into one format, as a tree, because tmux limits the depth of a format to 100."""
    if len(tests) == 1:
        return tests[0]
    half = len(tests) // 2
    return f"#{{&&:{_all_of(tests[:half])},{_all_of(tests[half:])}}}"


def _difference(was: PaneState, now: PaneState) -> PaneChanged:
    if was.identity.server_pid != now.identity.server_pid:
        return PaneChanged(f"pane {was.id} belongs to another tmux server now")
    if now.dead:
        return PaneChanged(f"the program in pane {was.id} has ended")
    if was.identity != now.identity:
        return PaneChanged(f"pane {was.id} runs another program now (process {now.identity.pane_pid})")
    if now.in_mode:
        return PaneChanged(f"pane {was.id} is in copy mode, which would take the keys")
    if now.synchronized:
        return PaneChanged(f"pane {was.id} is synchronized with other panes, which would get the key too")
    if was.command != now.command:
        return PaneChanged(f"pane {was.id} runs {now.command} now, not {was.command}")
    if (was.width, was.height) != (now.width, now.height):
        return ScreenChanged(f"pane {was.id} has another size now: {now.width}x{now.height}")
    return ScreenChanged(f"pane {was.id} shows something else now")
