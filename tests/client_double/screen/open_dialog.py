"""An open dialog: the marked option, the text typed into it, and the effect of keys.

A digit acts at once; Enter takes the marked option; Escape refuses; Tab opens the marked option for
words; shift+Tab takes the option that names it. Every other key does nothing.
"""

from dataclasses import dataclass, replace

from tests.client_double.output import Answer
from tests.client_double.patch import Hunk
from tests.client_double.screen.dialogs import Dialog
from tests.client_double.screen.diffs import render_hunks, render_lines
from tests.client_double.screen.text import ACCENT, BOLD, DASHES, DIM, paint, width, wrap

# Edit is drawn one column further left than Write.
INDENTS = {"Edit": 1}


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file dialog: a diff, or the text of a new file."""

    tool: str
    hunks: tuple[Hunk, ...] = ()
    text: str | None = None


@dataclass(slots=True)
class OpenDialog:
    dialog: Dialog
    content: Content | None = None
    marked: int = 0
    words: str | None = None  # text typed into the marked option
    complete: bool = False  # first drawn with "…" in place of the change

    def press(self, key: str) -> Answer | None:
        """Take a key; return the answer if it gives one."""
        options = self.dialog.options
        if self.words is not None:
            return self._type(key)
        if key.isdigit() and 1 <= int(key) <= len(options):
            return options[int(key) - 1].answer
        match key:
            case "enter":
                return options[self.marked].answer
            case "escape":
                return Answer(False)
            case "btab":
                return next((option.answer for option in options if "(shift+tab)" in option.label), None)
            case "up" | "down":
                self.marked = (self.marked + (1 if key == "down" else -1)) % len(options)
            case "tab" if options[self.marked].amended:
                self.words = ""
        return None

    def render(self, columns: int) -> list[str]:
        dialog = self.dialog
        rows = ["", paint("─" * columns, ACCENT), *self._head(columns)]
        body = self._body(columns)
        if body:
            dashes = paint("╌" * columns, DASHES)
            rows += [dashes, *body, dashes]
        if dialog.note:
            rows += [f" {row}" for row in wrap(dialog.note, columns - 2)] + [""]
        rows += [f" {row}" for row in wrap(dialog.question, columns - 2)]
        for place, option in enumerate(dialog.options):
            rows += self._option(place, option.label, columns)
        return rows + self._footer(columns)

    def _type(self, key: str) -> Answer | None:
        assert self.words is not None
        match key:
            case "enter":
                answer = self.dialog.options[self.marked].answer
                return replace(answer, feedback=self.words or None)
            case "escape":
                return Answer(False)
            case "backspace":
                self.words = self.words[:-1]
            case _ if len(key) == 1:
                self.words += key
        return None

    def _head(self, columns: int) -> list[str]:
        title, *rest = self.dialog.head
        rows = [" " + paint(row, BOLD, ACCENT) for row in wrap(title, columns - 2)]
        return rows + [" " + paint(row, DIM) for line in rest for row in wrap(line, columns - 2)]

    def _body(self, columns: int) -> list[str]:
        content = self.content
        if content is not None:
            if not self.complete:
                return [paint("…", DIM)]
            if content.text is not None:
                return render_lines(content.text, columns, indent=2)
            return render_hunks(list(content.hunks), columns, indent=INDENTS.get(content.tool, 2))
        rows = [row for line in self.dialog.body for row in wrap(line, columns - 4)]
        # A command of more than one row is drawn with a line beside it.
        lead = " │ " if len(rows) > len(self.dialog.body) or "\n" in "".join(self.dialog.body) else " "
        return [(lead + row).rstrip() for row in rows]

    def _option(self, place: int, label: str, columns: int) -> list[str]:
        marked = place == self.marked
        if marked and self.words is not None:
            amended = self.dialog.options[place].amended or label
            label = f"{label}, {self.words}" if self.words else amended
        lead = f" {'❯' if marked else ' '} {place + 1}. "
        first, *rest = wrap(label, columns - width(lead) - 1)
        first = lead.replace("❯", paint("❯", ACCENT)) + (paint(first, ACCENT) if marked else first)
        return [first, *(" " * width(lead) + row for row in rest)]

    def _footer(self, columns: int) -> list[str]:
        if not self.dialog.footer:
            return []
        words = "Esc to cancel"
        if self.words is None and self.dialog.options[self.marked].amended:
            words += " · Tab to amend"
        if self.dialog.from_agent:
            words += " · ctrl+x ctrl+k twice to stop background agents"
        return ["", *(" " + paint(row, DIM) for row in wrap(words, columns - 2))]
