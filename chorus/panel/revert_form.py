"""What taking back would do: the lines that change, or what stands in the way.

Gives "revert", "with_dependents", or None when the person leaves.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from chorus.errors import ChorusError
from chorus.panel.diff_lines import Drawn
from chorus.panel.diff_view import DiffView
from chorus.panel.forms import Form
from chorus.panel.pane import Look
from chorus.panel.patch import parse_patch
from chorus.text.sanitize import sanitize


class RevertForm(Form[str]):
    """What taking back would do. Gives "revert", "with_dependents", or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,r", "go", "take back", show=False, priority=True),
        Binding("w", "dependents", "with dependents", show=False),
        Binding("q,n", "leave", "leave", show=False),
    ]

    def __init__(
        self,
        look: Look,
        what: str,
        command: str,
        *,
        patch: str,
        problem: ChorusError | None,
        dependents: list[int],
    ) -> None:
        super().__init__(look)
        self.what, self.command, self.patch = what, command, patch
        self.problem, self.dependents = problem, dependents

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            diff = DiffView(self.look, id="preview")
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

    def action_go(self) -> None:
        if self.problem is None:
            self.dismiss("revert")

    def action_dependents(self) -> None:
        if self.dependents:
            self.dismiss("with_dependents")

    def _render_title(self) -> list[Drawn]:
        if self.problem is None:
            return [
                ([("Take back ", "waiting"), (sanitize(self.what), "title")], ""),
                ([("These lines change on disk:", "muted")], ""),
            ]
        lines: list[Drawn] = [
            ([("Cannot take back ", "error"), (sanitize(self.what), "title"), (" alone", "error")], ""),
            ([(sanitize(str(self.problem)), "")], ""),
        ]
        if self.problem.hint:
            lines.append(([(sanitize(self.problem.hint), "muted")], ""))
        return [*lines, ([], "")]

    def _render_foot(self) -> list[Drawn]:
        leave = [("esc", "key"), (" leave", "muted")]
        if self.problem is None:
            return [
                ([(sanitize(self.command), "command")], ""),
                ([("r", "key"), (" take back   ", "muted"), *leave], ""),
            ]
        if not self.dependents:
            return [(leave, "")]
        names = ", ".join(map(str, self.dependents))
        keys = [("w", "key"), (f" take back {names} too   ", "muted"), *leave]
        return [([(sanitize(f"{self.command} --with-dependents"), "command")], ""), (keys, "")]
