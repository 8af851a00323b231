"""The preview of a revert: the lines that will change, or the later actions it conflicts with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize

from chorus.errors import ChorusError
from chorus.panel import command_lines
from chorus.panel.forms.form import CANCEL_KEY, Form, render_message
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.diff import DiffView
from chorus.panel.widgets.line_pane import Pieces, StyledLine
from chorus.panel.widgets.patch import parse_patch
from chorus.text.sanitize import sanitize


@dataclass(frozen=True, slots=True)
class RevertPreview:
    """The patch of a revert, or the problem that prevents it.

    `dependents`: the later actions to revert as well. `warnings`: about names that would be removed.
    """

    patch: str
    problem: ChorusError | None = None
    dependents: Sequence[int] = ()
    warnings: Sequence[str] = ()
    has_hunks: bool = False


class RevertForm(Form[str]):
    """Shows the preview, and returns "revert", "with_dependents", "hunks", or None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,r", "revert", "revert", show=False),
        Binding("w", "dependents", "with dependents", show=False),
        Binding("h", "hunks", "hunks", show=False),
        Binding("q,n", "cancel", "cancel", show=False),
    ]

    def __init__(
        self, active_palette: ActivePalette, what: str, command: str, preview: RevertPreview
    ) -> None:
        super().__init__(active_palette)
        self.what, self.command, self.preview = what, command, preview

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            diff = DiffView(self.active_palette, id="preview")
            diff.styles.height = "1fr" if self.preview.patch else 0
            yield diff
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        if self.preview.patch:
            self.query_one("#preview", DiffView).show(lambda _: [], parse_patch(self.preview.patch))
            self.query_one("#preview").focus()
        self.show_text("title", self._render_title())
        self.show_text("foot", self._render_foot())
        self.fit_box()

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self.fit_box)  # the text wraps differently in the new width

    def action_revert(self) -> None:
        if self.preview.problem is None:
            self.dismiss("revert")

    def on_diff_view_leave(self, event: DiffView.Leave) -> None:
        event.stop()
        self.action_revert()  # the diff reports the enter key as `Leave`; in this form the key reverts

    def action_dependents(self) -> None:
        if self.preview.dependents:
            self.dismiss("with_dependents")

    def action_hunks(self) -> None:
        if self.preview.has_hunks:
            self.dismiss("hunks")

    def _render_hunk_key(self) -> Pieces:
        return [("h", "key"), (" choose hunks   ", "muted")] if self.preview.has_hunks else []

    def _render_title(self) -> list[StyledLine]:
        if self.preview.problem is None:
            return [
                ([("Revert ", "waiting"), (sanitize(self.what), "title")], ""),
                *(([(f"! {sanitize(warning)}", "warning")], "") for warning in self.preview.warnings),
                ([("These lines will change on disk:", "muted")], ""),
            ]
        lines: list[StyledLine] = [
            (
                [
                    ("Cannot revert ", "error"),
                    (sanitize(self.what), "title"),
                    (" alone" if self.preview.dependents else "", "error"),
                ],
                "",
            ),
        ]
        message = render_message(self.preview.problem)
        # If the error has more lines, its first line only repeats the title.
        lines += message[1:] or message
        return [*lines, ([(sanitize(self._hint(self.preview.problem)), "muted")], ""), ([], "")]

    def _hint(self, problem: ChorusError) -> str:
        if self.preview.dependents:
            return "Press w to preview reverting those as well."
        return problem.hint or ""

    def _render_foot(self) -> list[StyledLine]:
        if self.preview.problem is None:
            return [
                ([], ""),
                ([(sanitize(self.command), "command")], ""),
                ([("r", "key"), (" revert   ", "muted"), *self._render_hunk_key(), *CANCEL_KEY], ""),
            ]
        if not self.preview.dependents:
            return [(CANCEL_KEY, "")]
        names = ", ".join(map(str, self.preview.dependents))
        keys = [("w", "key"), (f" preview with {names}   ", "muted"), *CANCEL_KEY]
        return [([(sanitize(command_lines.with_dependents(self.command)), "command")], ""), (keys, "")]
