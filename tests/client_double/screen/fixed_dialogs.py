"""Dialogs with their own layout: leaving plan mode, and the `show` step of a script."""

from dataclasses import dataclass

from tests.client_double.output import Answer
from tests.client_double.screen.text import ACCENT, paint, wrap
from tests.client_double.script import Show

LEAVE_PLAN = Show(
    ("Exit plan mode?", "", " Claude wants to exit plan mode", ""),
    ("Yes, and switch to default (ask each time) for this session", "No"),
)


@dataclass(slots=True)
class FixedDialog:
    show: Show
    answers: tuple[Answer, ...]
    marked: int = 0
    at_the_bottom: bool = False
    complete: bool = True

    def press(self, key: str) -> Answer | None:
        if self.show.numbered and key.isdigit() and 1 <= int(key) <= len(self.answers):
            return self.answers[int(key) - 1]
        match key:
            case "enter":
                return self.answers[self.marked]
            case "escape":
                return Answer(False)
            case "up" | "down":
                self.marked = (self.marked + (1 if key == "down" else -1)) % len(self.answers)
        return None

    def render(self, columns: int) -> list[str]:
        if self.at_the_bottom:
            rows = [paint("▔" * columns, ACCENT), "", "  " + paint("─" * (columns - 4), ACCENT)]
            rows += [("   " + line).rstrip() for line in self.show.lines]
            return rows + self._options("    ", columns)
        rows = ["", paint("─" * columns, ACCENT)]
        rows += [(" " + row).rstrip() for line in self.show.lines for row in wrap(line, columns - 2)]
        return rows + self._options(" ", columns)

    def _options(self, indent: str, columns: int) -> list[str]:
        rows = []
        for place, label in enumerate(self.show.options):
            mark = "❯" if place == self.marked else " "
            lead = f"{indent}{mark} {f'{place + 1}. ' if self.show.numbered else ''}"
            first, *rest = wrap(label, columns - len(lead) - 1)
            rows += [lead + first, *(" " * len(lead) + row for row in rest)]
        return rows
