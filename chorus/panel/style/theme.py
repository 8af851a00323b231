"""The panel's colours: dark and light, for many colours, few and none.

Every style has a name. Names joined by blanks are combined; a later style overrides an earlier one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from chorus.panel.style.labels import to_ascii

DARK = {
    "background": "#14171c",
    "raised": "#1c2027",
    "text": "#d5d9e0",
    "muted": "#8089a0",
    "line": "#343b47",
    "blue": "#7aa7e8",
    "green": "#83c28a",
    "red": "#e57c82",
    "amber": "#e2ae62",
    "violet": "#b69ae0",
    "teal": "#6fc1bd",
    "cursor": "#2a3340",
    "card": "#26221a",
    "added": "#16271c",
    "removed": "#2f1b1f",
    "added-strong": "#22502f",
    "removed-strong": "#64272f",
}
LIGHT = {
    "background": "#fafaf8",
    "raised": "#efefeb",
    "text": "#23272e",
    "muted": "#687080",
    "line": "#d3d3cd",
    "blue": "#1f5fb4",
    "green": "#22763a",
    "red": "#b4272f",
    "amber": "#8d5a00",
    "violet": "#6c3fb0",
    "teal": "#0f7070",
    "cursor": "#dde6f2",
    "card": "#fbf1dc",
    "added": "#e4f5e7",
    "removed": "#fce8e7",
    "added-strong": "#b5e6bf",
    "removed-strong": "#f6bfbd",
}

_COLOURED = {
    "": "{text}",
    "muted": "{muted}",
    "line": "{line}",
    "strong": "bold",
    "title": "bold {text}",
    "heading": "bold {blue}",
    "number": "{muted}",
    "cursor": "on {cursor}",
    "cursor-blurred": "on {raised}",
    "open": "{amber}",
    "kept": "{green}",
    "reverted": "{muted} strike",
    "failed": "{red}",
    "landed": "{teal}",
    "agent": "{violet}",
    "working": "{green}",
    "waiting": "bold {amber}",
    "idle": "{muted}",
    "gone": "{muted} dim",
    "card": "on {card}",
    "card-bar": "bold {amber}",
    "key": "bold {blue}",
    "plus": "{green}",
    "minus": "{red}",
    "added": "on {added}",
    "removed": "on {removed}",
    "added-strong": "on {added-strong}",
    "removed-strong": "on {removed-strong}",
    "file": "bold {text} on {raised}",
    "hunk": "{violet}",
    "header": "italic {muted}",
    "info": "{text}",
    "done": "{green}",
    "warning": "{amber}",
    "error": "{red}",
    "command": "{teal}",
    "bar": "on {raised}",
    "syntax-keyword": "{violet}",
    "syntax-string": "{green}",
    "syntax-number": "{amber}",
    "syntax-comment": "italic {muted}",
    "syntax-name": "{blue}",
    "syntax-builtin": "{teal}",
}
# 256 colours have no faint tints: a changed line is marked by its sign and the colour of its text, as in git.
_NO_TINTS = {
    "added": "{green}",
    "removed": "{red}",
    "added-strong": "bold",
    "removed-strong": "bold",
    "card": "on {raised}",
}
_ANSI = {
    "": "default",
    "muted": "bright_black",
    "line": "bright_black",
    "heading": "bold blue",
    "title": "bold",
    "number": "bright_black",
    "cursor": "reverse",
    "cursor-blurred": "underline",
    "open": "yellow",
    "kept": "green",
    "reverted": "bright_black strike",
    "failed": "red",
    "landed": "cyan",
    "agent": "magenta",
    "working": "green",
    "waiting": "bold yellow",
    "idle": "default",
    "gone": "bright_black",
    "card": "",
    "card-bar": "bold yellow",
    "key": "bold blue",
    "plus": "green",
    "minus": "red",
    "added": "green",
    "removed": "red",
    "added-strong": "bold underline",
    "removed-strong": "bold underline",
    "file": "bold underline",
    "hunk": "magenta",
    "header": "italic",
    "info": "default",
    "done": "green",
    "warning": "yellow",
    "error": "red",
    "command": "cyan",
    "bar": "",
}


CSS = """
Screen { layers: base; }
LinePane { background: $background; scrollbar-background: $background; scrollbar-color: $panel;
  scrollbar-background-hover: $background; scrollbar-background-active: $background;
  scrollbar-color-hover: $primary; scrollbar-color-active: $primary; }
SessionsBar, StatusLine, KeyBar, Heading { height: 1; scrollbar-size-vertical: 0; }
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
Form ChoiceBar { height: 1; margin-bottom: 1; scrollbar-size-vertical: 0; }
Form.-short Input, Form.-short ChoiceBar { margin-bottom: 0; }
"""


class Palette:
    def __init__(self, colours: Mapping[str, str], definitions: Mapping[str, str], *, plain: bool) -> None:
        self.colours = colours
        self.plain = plain
        self._styles = {name: Style.parse(text.format_map(colours)) for name, text in definitions.items()}
        self.style = lru_cache(512)(self._join)

    def _join(self, names: str) -> Style:
        style = self._styles[""]
        if self.plain and "cursor" in names.split():
            return style + self._styles["cursor"]  # reversing several colours would make a patchwork
        for name in names.split():
            style += self._styles.get(name, Style.null())
        return style


@dataclass(slots=True)
class ActivePalette:
    """The palette in use; all widgets share one object, so that a change reaches all of them."""

    current: Palette


def choose_palette(*, dark: bool, colours: int) -> Palette:
    """Return the palette for a terminal with this many colours: 0 for none, 16, 256, or more."""
    if colours <= 16:
        return Palette({}, {"strong": "bold", **_ANSI}, plain=True)
    base = DARK if dark else LIGHT
    definitions = _COLOURED if colours > 256 else _COLOURED | _NO_TINTS
    return Palette(base, definitions, plain=False)


def count_colours(environment: Mapping[str, str]) -> int:
    if "NO_COLOR" in environment or environment.get("TERM") in {"dumb", "vt100", "vt220"}:
        return 0
    if environment.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        return 2**24
    return 256 if environment.get("TERM", "").rpartition("-")[2] in {"256color", "direct", "kitty"} else 16


def is_dark(environment: Mapping[str, str], theme: str = "auto") -> bool:
    """Return True for dark colours: by the user's choice, or else by the terminal's background.

    Dark if neither is known.
    """
    choice = theme if theme != "auto" else environment.get("CHORUS_THEME", "auto")
    if choice in {"dark", "light"}:
        return choice == "dark"
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background not in {"7", "15"}


def toolkit_theme(palette: Palette, *, dark: bool) -> Theme | str:
    """Return a theme to register.

    For a plain palette, return the name of a built-in theme, which uses the terminal's own colours.
    """
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
    """Replaces all output that is not ASCII, keeping its width in cells."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(to_ascii(text), style, control) for text, style, control in segments]
