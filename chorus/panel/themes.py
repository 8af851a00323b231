"""The palette, in the toolkit's own terms.

Gives the toolkit a theme with the panel's colours (for inputs, scroll bars and the command palette),
the style sheet, and the filter that keeps a terminal without Unicode to ASCII.
"""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from chorus.panel.glyphs import to_ascii
from chorus.panel.palette import Palette

CSS = """
Screen { layers: base; }
LinePane { background: $background; scrollbar-background: $background; scrollbar-color: $panel;
  scrollbar-background-hover: $background; scrollbar-background-active: $background;
  scrollbar-color-hover: $primary; scrollbar-color-active: $primary; }
SessionsBar, StatusLine, KeyBar, Rule { height: 1; scrollbar-size-vertical: 0; }
PromptCard { height: auto; margin: 1 0; display: none; background: $background; }
.-short PromptCard { margin: 0; }
#filter { display: none; height: 1; border: none; padding: 0 1; background: $surface; }
#body { height: 1fr; layout: vertical; }
#body.-side { layout: horizontal; }
#left, #right { height: 1fr; width: 1fr; }
#body.-side #left { width: 43%; min-width: 46; max-width: 96; border-right: vkey $panel; }
#body.-stacked #left { height: 2fr; }
#body.-stacked #right { height: 3fr; }
#body.-queue #right, #body.-diff #left, #body.-none { display: none; }
Form { align: center middle; background: $background 60%; }
Form #box { width: 90%; max-width: 110; height: auto; max-height: 90%; background: $surface;
  padding: 1 2; border-left: outer $warning; }
Form.-short #box { padding: 0 1; width: 100%; max-height: 100%; }
Form LinePane { background: $surface; }
Form Input { border: none; height: 1; padding: 0 1; margin-bottom: 1; background: $panel; }
Form Choice { height: 1; margin-bottom: 1; scrollbar-size-vertical: 0; }
"""


def render_theme(palette: Palette, *, dark: bool) -> Theme | str:
    """A theme to register, or the name of one that is there already (the terminal's own colours)."""
    if palette.plain:
        return "ansi-dark" if dark else "ansi-light"
    c = palette.colours
    return Theme(
        name="chorus-dark" if dark else "chorus-light",
        primary=c["blue"],
        secondary=c["teal"],
        warning=c["amber"],
        error=c["red"],
        success=c["green"],
        accent=c["amber"],
        foreground=c["text"],
        background=c["background"],
        surface=c["raised"],
        panel=c["line"],
        dark=dark,
        variables={
            "input-selection-background": c["cursor"],
            "block-cursor-background": c["cursor"],
            "block-cursor-foreground": c["text"],
            "block-cursor-blurred-background": c["raised"],
        },
    )


class AsciiFilter(LineFilter):
    """The last word on what is written: nothing but ASCII, cell for cell."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(to_ascii(text), style, control) for text, style, control in segments]
