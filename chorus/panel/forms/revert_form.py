"""The preview of a revert: the lines that will change, or the later actions it conflicts with."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from chorus.errors import ChorusError
from chorus.panel import command_lines
from chorus.panel.forms.form import CANCEL_KEY, Form
from chorus.panel.theme import Appearance
from chorus.panel.widgets.diff import DiffView
from chorus.panel.widgets.line_pane import StyledLine
from chorus.panel.widgets.patch import parse_patch
from chorus.text.sanitize import sanitize


class RevertForm(Form[str]):
    """Returns "revert", "with_dependents", or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,r", "revert", "revert", show=False, priority=True),
        Binding("w", "dependents", "with dependents", show=False),
        Binding("q,n", "cancel", "cancel", show=False),
    ]

    def __init__(
        self,
        appearance: Appearance,
        what: str,
        command: str,
        *,
        patch: str,
        problem: ChorusError | None,
        dependents: list[int],
    ) -> None:
        super().__init__(appearance)
        self.what, self.command, self.patch = what, command, patch
        self.problem, self.dependents = problem, dependents

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            diff = DiffView(self.appearance, id="preview")
            diff.styles.height = "1fr" if self.patch else 0
            yield diff
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        if self.patch:
            self.query_one("#box").styles.height = "90%"
            self.query_one("#preview", DiffView).show([], parse_patch(self.patch))
            self.query_one("#preview").focus()
        self.show_text("title", self._render_title())
        self.show_text("foot", self._render_foot())

    def action_revert(self) -> None:
        if self.problem is None:
            self.dismiss("revert")

    def action_dependents(self) -> None:
        if self.dependents:
            self.dismiss("with_dependents")

    def _render_title(self) -> list[StyledLine]:
        if self.problem is None:
            return [
                ([("Revert ", "waiting"), (sanitize(self.what), "title")], ""),
                ([("These lines will change on disk:", "muted")], ""),
            ]
        lines: list[StyledLine] = [
            (
                [
                    ("Cannot revert ", "error"),
                    (sanitize(self.what), "title"),
                    (" alone" if self.dependents else "", "error"),
                ],
                "",
            ),
            ([(sanitize(str(self.problem)), "")], ""),
        ]
        if self.problem.hint:
            lines.append(([(sanitize(self.problem.hint), "muted")], ""))
        return [*lines, ([], "")]

    def _render_foot(self) -> list[StyledLine]:
        if self.problem is None:
            return [
                ([(sanitize(self.command), "command")], ""),
                ([("r", "key"), (" revert   ", "muted"), *CANCEL_KEY], ""),
            ]
        if not self.dependents:
            return [(CANCEL_KEY, "")]
        names = ", ".join(map(str, self.dependents))
        keys = [("w", "key"), (f" revert {names} too   ", "muted"), *CANCEL_KEY]
        return [([(sanitize(command_lines.with_dependents(self.command)), "command")], ""), (keys, "")]
