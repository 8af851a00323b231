"""The screen of the stand-in, drawn as the client's: conversation, input box and permission dialog."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from chorus.demo.stand_in.session import CLIENT_VERSION
from chorus.text.width import cut, wrap

# Colours of the 256-colour table, as the client picks them.
DIM, RULE, DASHES, ACCENT = "38;5;246", "38;5;244", "38;5;239", "38;5;153"
DIFF_COLOURS = {"+": "38;5;77;48;5;22", "-": "38;5;167;48;5;52"}
TYPED, BOLD, REVERSE = "48;5;237", "1", "7"
INPUT_MARK = "❯\u00a0"
SPINNER = "·✢✳✶✻✽"
FOOTERS = {"acceptEdits": "⏵⏵ accept edits on", "auto": "⏵⏵ auto mode on"}
MAX_BLOCK_ROWS = 16

AUTO_MODE = "Yes, and switch to auto mode · auto mode handles these prompts for you"
TIP = 'Tip: auto mode handles these prompts for you — choose "switch to auto mode" below'


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the conversation: `text` after a mark such as ●, and rows `below`."""

    text: str
    mark: str = "●"
    colour: str = ""
    below: tuple[str, ...] = ()
    is_patch: bool = False

    def render(self, columns: int) -> list[str]:
        texts = [
            f"{'  ' if number else f'{self.mark} '}{row}"
            for number, row in _number_rows(self.text, columns - 3)
        ]
        rows = [paint(text.ljust(columns) if self.colour == TYPED else text, self.colour) for text in texts]
        for number, line in enumerate(self.below[:MAX_BLOCK_ROWS]):
            lead = "     " if number else "  ⎿  "
            colour = DIFF_COLOURS.get(line[:1], "") if self.is_patch else ""
            rows.append(lead + paint(cut(line, columns - 6), colour))
        return rows


@dataclass(slots=True)
class Dialog:
    """The dialog that asks whether a command may run. `answer` is called with the chosen option's index."""

    command: str
    description: str
    program: str
    answer: Callable[[int], None]
    marked: int = 0

    @property
    def options(self) -> tuple[str, ...]:
        return ("Yes", f"Yes, and don’t ask again for: {self.program} *", AUTO_MODE, "No")

    def press(self, key: str) -> None:
        count = len(self.options)
        if key.isdigit() and 1 <= int(key) <= count:
            self.answer(int(key) - 1)
        elif key == "enter":
            self.answer(self.marked)
        elif key == "escape":
            self.answer(count - 1)
        elif key in ("up", "down"):
            self.marked = (self.marked + (1 if key == "down" else -1)) % count

    def render(self, columns: int) -> list[str]:
        dashes = paint("╌" * columns, DASHES)
        rows = ["", paint("─" * columns, ACCENT), " " + paint("Bash command", BOLD, ACCENT)]
        rows += [" " + paint(row, DIM) for line in (TIP, self.description) for row in wrap(line, columns - 2)]
        rows += [dashes, *(f" {row}".rstrip() for row in wrap(self.command, columns - 4)), dashes]
        rows += [" This command requires approval", "", " Do you want to proceed?"]
        for index, label in enumerate(self.options):
            mark, colour = ("❯", ACCENT) if index == self.marked else (" ", "")
            for number, row in _number_rows(label, columns - 7):
                rows.append(
                    (" " * 6 if number else f" {paint(mark, colour)} {index + 1}. ") + paint(row, colour)
                )
        return [*rows, "", " " + paint("Esc to cancel", DIM)]


@dataclass(slots=True)
class State:
    """The contents of the screen."""

    cwd: str
    mode: str
    blocks: list[Block] = field(default_factory=list)
    typed: str = ""
    working_since: float | None = None
    dialog: Dialog | None = None
    leaving: bool = False

    def render(self, columns: int, rows: int) -> list[str]:
        header = [f"Claude Code v{CLIENT_VERSION}", "a stand-in: no account, no network", self.cwd]
        content = ["", *(f"           {line}" for line in header), ""]
        for block in self.blocks:
            content += ["", *block.render(columns)]
        if self.dialog is not None:
            return [*content, *self.dialog.render(columns)][-rows:]
        bottom = self._render_bottom(columns)
        room = max(rows - len(bottom), 0)
        content = content[-room:] if room else []
        return [*content, *[""] * (room - len(content)), *bottom][-rows:]

    def _render_bottom(self, columns: int) -> list[str]:
        rows = []
        footer = FOOTERS.get(self.mode, self.mode)
        if self.working_since is not None:
            seconds = time.monotonic() - self.working_since
            mark = SPINNER[int(seconds * 10) % len(SPINNER)]
            rows.append(f"{mark} Pondering… {paint(f'({int(seconds)}s)', DIM)}")
            footer += " · esc to interrupt"
        if self.leaving:
            footer = "Press Ctrl-C again to exit"
        rule = paint("─" * columns, RULE)
        box = [
            f"{'  ' if number else INPUT_MARK}{row}" for number, row in _number_rows(self.typed, columns - 3)
        ]
        box[-1] += paint(" ", REVERSE)
        return [*rows, rule, *box, rule, "  " + paint(cut(footer, columns - 2), DIM)]


def paint(text: str, *colours: str) -> str:
    codes = ";".join(filter(None, colours))
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def _number_rows(text: str, columns: int) -> list[tuple[int, str]]:
    return list(enumerate(row for line in text.split("\n") for row in wrap(line, columns)))
