"""A recording of a terminal as an animated SVG, without a script or an image inside it.

Each different row is drawn once and shown while it was on the screen, by CSS alone, so that a forge shows it
in a page. A reader who asked for less motion sees one frame.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 18, 14
MARGIN, TITLE_HEIGHT = 12, 34
FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
# The colours of a common dark terminal, and its 16 named ones.
THEME = TerminalTheme(
    (22, 24, 29),
    (205, 211, 222),
    [
        (40, 44, 52), (224, 108, 117), (152, 195, 121), (229, 192, 123),
        (97, 175, 239), (198, 120, 221), (86, 182, 194), (171, 178, 191),
    ],
    [
        (92, 99, 112), (240, 128, 136), (170, 213, 138), (240, 208, 140),
        (125, 195, 250), (215, 145, 235), (110, 205, 215), (230, 233, 240),
    ],
)  # fmt: skip

CAPTION = -1  # the place above the first row
_SGR = re.compile(r"(\x1b\[([\d;:]*)m)")


@dataclass(frozen=True, slots=True)
class Frame:
    """One screen: its rows with the terminal's own escape sequences, how long it is shown, and a caption."""

    rows: tuple[str, ...]
    seconds: float
    caption: str


@dataclass(frozen=True, slots=True)
class Span:
    """A row at its place, from one frame up to another."""

    row: str
    place: int
    first: int
    end: int


def render_animation(frames: Sequence[Frame], *, columns: int, poster: int) -> str:
    """Render the frames; `poster`: the frame that is shown where nothing moves."""
    height = max(len(frame.rows) for frame in frames)
    starts = [0.0]
    for frame in frames:
        starts.append(starts[-1] + frame.seconds)
    screens = [list(map(render_row, carry_styles(frame.rows))) for frame in frames]
    captions = [[_render_caption(frame.caption, columns)] for frame in frames]
    spans = [*find_spans(screens), *find_spans(captions, place=CAPTION)]
    texts = {text: number for number, text in enumerate(dict.fromkeys(span.row for span in spans))}
    times = {
        time: number for number, time in enumerate(dict.fromkeys((span.first, span.end) for span in spans))
    }
    width = round(columns * CELL_WIDTH + 2 * MARGIN)
    body_height = round(height * CELL_HEIGHT + TITLE_HEIGHT + MARGIN)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {body_height}" '
            f'font-family="{FONT}" font-size="{FONT_SIZE}">',
            f"<style>{_render_style(times, starts)}</style>",
            f'<rect width="{width}" height="{body_height}" rx="8" fill="{_hex(THEME.background_color)}"/>',
            "<defs>",
            *(f'<g id="r{number}">{text}</g>' for text, number in texts.items()),
            "</defs>",
            *(_render_use(span, texts[span.row], times[span.first, span.end], poster) for span in spans),
            "</svg>",
            "",
        ]
    )


def find_spans(screens: Sequence[Sequence[str]], *, place: int = 0) -> list[Span]:
    """Find how long each drawn row stays the same; blank ones are left out. `place`: of the first row."""
    spans = []
    for row in range(max(map(len, screens))):
        column = [screen[row] if row < len(screen) else "" for screen in screens]
        first = 0
        for at in range(1, len(column) + 1):
            if at == len(column) or column[at] != column[first]:
                if column[first]:
                    spans.append(Span(column[first], place + row, first, at))
                first = at
    return spans


def carry_styles(rows: Iterable[str]) -> Iterator[str]:
    """Begin each row with the style in which the one above it ends, as tmux prints a screen."""
    style = ""
    for row in rows:
        yield style + row
        for sequence, parameters in _SGR.findall(row):
            style = sequence if parameters == "" or parameters.startswith("0") else style + sequence


@cache
def render_row(row: str) -> str:
    """Render one row of a terminal, with its escape sequences, as SVG."""
    console = Console(width=1000, color_system="truecolor", legacy_windows=False)
    parts: list[str] = []
    column = 0
    for segment in Segment.simplify(Text.from_ansi(row).render(console)):
        if segment.text.strip("\n"):
            parts.append(_render_segment(segment.text.rstrip("\n"), segment.style or Style(), column))
        column += cell_len(segment.text)
    return "".join(parts)


def _render_segment(text: str, style: Style, column: int) -> str:
    foreground, background = (
        None if colour is None or colour.is_default else _hex(colour.get_truecolor(THEME, foreground=front))
        for colour, front in ((style.color, True), (style.bgcolor, False))
    )
    if style.reverse:
        foreground, background = (
            background or _hex(THEME.background_color),
            foreground or _hex(THEME.foreground_color),
        )
    x, width = column * CELL_WIDTH, cell_len(text) * CELL_WIDTH
    drawn = ""
    if background:
        drawn = f'<rect x="{x:g}" width="{width:g}" height="{CELL_HEIGHT}" fill="{background}"/>'
    if not text.strip():
        return drawn
    lead = len(text) - len(text.lstrip())
    word = text.strip()
    attributes = [
        f'x="{x + lead * CELL_WIDTH:g}" y="{CELL_HEIGHT - 5}" textLength="{cell_len(word) * CELL_WIDTH:g}"',
        f'fill="{foreground or _hex(THEME.foreground_color)}"',
        *(['font-weight="bold"'] if style.bold else []),
        *(['font-style="italic"'] if style.italic else []),
        *(['opacity="0.6"'] if style.dim else []),
        *(['text-decoration="line-through"'] if style.strike else []),
        *(['text-decoration="underline"'] if style.underline else []),
    ]
    return f"{drawn}<text {' '.join(attributes)}>{_escape(word)}</text>"


def _render_caption(caption: str, columns: int) -> str:
    dots = "".join(
        f'<circle cx="{6 + 18 * at}" cy="0" r="5" fill="{fill}"/>'
        for at, fill in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    middle = columns * CELL_WIDTH / 2
    text = f'<text x="{middle:g}" y="5" text-anchor="middle" fill="#e5c07b" font-weight="bold">'
    return f"{dots}{text}{_escape(caption)}</text>"


def _escape(text: str) -> str:
    """Escape for SVG, which would make one blank of several."""
    return escape(text, quote=False).replace(" ", "\xa0")


def _render_use(span: Span, text: int, time: int, poster: int) -> str:
    y = TITLE_HEIGHT // 2 if span.place == CAPTION else TITLE_HEIGHT + span.place * CELL_HEIGHT
    shown = " p" if span.first <= poster < span.end else ""
    return f'<use href="#r{text}" x="{MARGIN}" y="{y}" class="t{time}{shown}"/>'


def _render_style(times: dict[tuple[int, int], int], starts: Sequence[float]) -> str:
    whole = starts[-1]
    rules = ["use{visibility:hidden}use.p{visibility:visible}"]
    moving = []
    for (first, end), number in times.items():
        start, stop = 100 * starts[first] / whole, 100 * starts[end] / whole
        steps = "" if first == 0 else "0%{visibility:hidden}"
        steps += f"{start:.3f}%{{visibility:visible}}"
        steps += "" if stop >= 100 else f"{stop:.3f}%{{visibility:hidden}}"
        last = "visible" if stop >= 100 else "hidden"
        rules.append(f"@keyframes k{number}{{{steps}100%{{visibility:{last}}}}}")
        moving.append(f"use.t{number}{{animation:k{number} {whole:.2f}s step-end infinite}}")
    rules.append(f"@media (prefers-reduced-motion: no-preference){{{''.join(moving)}}}")
    return "\n".join(rules)


def _hex(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
