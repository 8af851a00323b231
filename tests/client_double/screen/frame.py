"""The whole screen: the conversation, then the input box at the bottom, or a dialog instead.

Pure. At a dialog there is no input box. What does not fit is cut off at the top.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tests.client_double.output import Answer
from tests.client_double.screen.blocks import Block
from tests.client_double.screen.text import DIM, REVERSE, RULE, clip, paint, wrap

FOOTERS = {
    "default": "⏸ manual mode on",
    "acceptEdits": "⏵⏵ accept edits on",
    "auto": "⏵⏵ auto mode on",
    "plan": "⏸ plan mode on",
    "bypassPermissions": "⏵⏵ bypass permissions on",
}
SPINNER = "·✢✳✶✻✽"
EXIT_HINT = "Press Ctrl-C again to exit"


class Overlay(Protocol):
    """An open dialog."""

    complete: bool

    def press(self, key: str) -> Answer | None: ...

    def render(self, columns: int) -> list[str]: ...


@dataclass(slots=True)
class State:
    version: str
    cwd: str
    mode: str
    blocks: list[Block] = field(default_factory=list)
    typed: str = ""
    queued: list[str] = field(default_factory=list)
    working_since: float | None = None
    doing: str = ""
    waiting: bool = False  # a dialog waits until the user stops typing
    overlay: Overlay | None = None
    at_the_bottom: bool = False
    leaving: bool = False
    beat: int = 0


def render(state: State, columns: int, rows: int, now: float) -> list[str]:
    content = _header(state)
    for block in state.blocks:
        drawn = block.render(columns)
        content += ["", *drawn] if drawn else []
    if state.overlay is not None:
        dialog = state.overlay.render(columns)
        gap = max(rows - 1 - len(content) - len(dialog), 0) if state.at_the_bottom else 0
        return ["", *content, *[""] * gap, *dialog][-rows:]
    bottom = _bottom(state, columns, now)
    room = max(rows - len(bottom) - 1, 0)
    content = content[-room:] if room else []
    return ["", *content, *[""] * (room - len(content)), *bottom][-rows:]


def _header(state: State) -> list[str]:
    lines = [f"Claude Code v{state.version}", "a test double: no account, no network", state.cwd]
    return [f"           {line}" for line in lines] + [""]


def _bottom(state: State, columns: int, now: float) -> list[str]:
    rows: list[str] = []
    for text in state.queued:
        rows += [f"❯ {text}", "  ctrl+x ctrl+s to send now", ""]
    effort = paint("◐ medium · /effort".rjust(columns - 2), DIM)
    if state.waiting:
        rows += [effort, "", paint("  Waiting for permission…", DIM)]
    elif state.working_since is not None:
        mark = SPINNER[state.beat % len(SPINNER)]
        seconds = int(now - state.working_since)
        rows += [f"{mark} {state.doing}… {paint(f'({seconds}s · ↓ 5 tokens)', DIM)}", effort]
    else:
        rows.append(effort)
    rule = paint("─" * columns, RULE)
    return [*rows, rule, *_box(state, columns), rule, "  " + paint(clip(_footer(state), columns - 2), DIM)]


def _box(state: State, columns: int) -> list[str]:
    if not state.typed and state.queued:
        return ["❯\u00a0Press up to edit queued messages"]
    first, *rest = wrap(state.typed, columns - 3)
    rows = [f"❯\u00a0{first}", *(f"  {row}" for row in rest)]
    return [*rows[:-1], rows[-1] + paint(" ", REVERSE)]


def _footer(state: State) -> str:
    if state.leaving:
        return EXIT_HINT
    mode = FOOTERS.get(state.mode, state.mode)
    parts = [mode]
    if state.mode not in ("default", "plan") and state.working_since is None:
        parts = [f"{mode} (shift+tab to cycle)"]
    if state.typed:
        return mode
    if state.working_since is not None:
        parts.append("esc to interrupt")
    elif state.mode == "default":
        parts.append("? for shortcuts")
    return " · ".join([*parts, "← for agents"])


def footer_modes() -> Sequence[str]:
    """The modes shift+Tab goes through, in order."""
    return ("default", "acceptEdits", "plan", "auto")
