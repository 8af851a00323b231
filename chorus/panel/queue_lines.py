"""A row of the queue as a line of text.

Receives a planned row, the columns' widths and the space there is; gives pieces with style names.
Everything that comes from a session is made inert here.
"""

import re
from dataclasses import dataclass

from chorus.panel.clock import render_time
from chorus.panel.glyphs import STATUS
from chorus.panel.items import Entry
from chorus.panel.pane import Pieces
from chorus.panel.rows import ActionRow, Row, TurnRow
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, cut, cut_start, pad

STATUS_STYLES = {
    "committed": "open",
    "kept": "kept",
    "reverted": "reverted",
    "failed": "failed",
    "denied": "failed",
    "noop": "muted",
    "outside": "muted",
    "landed": "landed",
    "done": "muted",
}
# From here on there is room for the time; and beside the path, for what was done in words.
TIME_FROM = 56
# Below this the path needs the room more than counts of four digits do.
COUNTS_FROM = 48
SUMMARY_FROM = 50
# What a person took back or brought back, as its summary begins.
CHAIN = re.compile(r"(?:(?:Revert|Redo) \d+: )+")
LONGEST_TOOL = 9


@dataclass(frozen=True, slots=True)
class Columns:
    number: int = 3
    tool: int = 4


def plan_columns(rows: list[Row]) -> Columns:
    """Widths that fit what is there; the newest rows have the longest numbers."""
    # The rows in sight decide, older tools are cut: 500 rows are more than any screen.
    entries = [row.entry for row in rows[-500:] if isinstance(row, ActionRow)]
    if not entries:
        return Columns()
    longest = max(cell_width(sanitize(tool)) for tool in {entry.tool for entry in entries})
    return Columns(max(3, len(str(int(entries[-1].n)))), min(max(4, longest), LONGEST_TOOL))


def render_row(row: Row, columns: Columns, width: int) -> Pieces:
    if isinstance(row, TurnRow):
        return render_turn(row, width)
    return render_action(row.entry, columns, width)


def render_turn(row: TurnRow, width: int) -> Pieces:
    sign = "▸" if row.folded else "▾"
    count = f"{row.open} open" if row.open else f"{row.count}"
    time = f"{render_time(row.time):>5}  " if width >= TIME_FROM else ""
    right = f" {time}{count} "
    message = sanitize(" ".join(row.message[:1000].split())) or "(no message)"
    style = "title" if row.open else "muted"
    return [
        (f"{sign} ", "muted"),
        (pad(message, width - 2 - len(right)), style),
        (f" {time}", "muted"),
        (f"{count} ", "open" if row.open else "muted"),
    ]


def render_action(entry: Entry, columns: Columns, width: int) -> Pieces:
    faded = "" if entry.open else ("reverted" if entry.status == "reverted" else "muted")
    sign, sign_style = render_sign(entry)
    right = _render_right(entry, width)
    right_width = sum(cell_width(text) for text, _ in right)
    left: Pieces = [
        ("↳" if entry.agent else " ", "agent"),
        (f"{entry.number:>{columns.number}} ", "number"),
        (f"{sign} ", sign_style),
        (pad(sanitize(entry.tool), columns.tool) + " ", faded or "strong"),
    ]
    used = sum(cell_width(text) for text, _ in left)
    return [*left, *_render_subject(entry, width - used - right_width, faded), *right]


def render_sign(entry: Entry) -> tuple[str, str]:
    """The sign of what became of it, and the sign's style: a line through it would hide it."""
    style = STATUS_STYLES.get(entry.shown, "muted").replace("reverted", "muted")
    return STATUS.get(entry.shown, "?"), style


def render_subject(entry: Entry) -> str:
    """What an action is about: its path, else what it did in words."""
    if not entry.paths:
        return sanitize(entry.summary)
    more = f" +{len(entry.paths) - 1}" if len(entry.paths) > 1 else ""
    return sanitize(entry.paths[0]) + more


def _render_subject(entry: Entry, room: int, faded: str) -> Pieces:
    subject = render_subject(entry)
    lead = f"{_render_deed(entry.summary)}: " if entry.reverts else ""
    if room < SUMMARY_FROM or not entry.paths:
        text = lead + (
            cut_start(subject, room - len(lead)) if entry.paths else cut(subject, room - len(lead))
        )
        return [(pad(text, room), faded)]
    path_width = room * 2 // 5
    path = pad(lead + cut_start(subject, path_width - 2 - len(lead)), path_width)
    return [(path, faded), (pad(sanitize(entry.summary), room - path_width), "muted")]


def _render_deed(summary: str) -> str:
    """`Revert 7: …` takes 7 back, and `Redo 8: Revert 7: …` brings it back."""
    chain = CHAIN.match(summary)
    numbers = re.findall(r"\d+", chain[0]) if chain else []
    deed = "taking back" if len(numbers) % 2 or not numbers else "bringing back"
    return f"{deed} {numbers[-1]}" if numbers else deed


def _render_right(entry: Entry, width: int) -> Pieces:
    pieces: Pieces = [(" ", "")]
    if entry.added is not None or entry.removed is not None:
        added = f"+{entry.added}" if entry.added else ""
        removed = f"−{entry.removed}" if entry.removed else ""
        column = 5 if width >= COUNTS_FROM else 3
        pieces += [(f"{added:>{column}}", "plus"), (f" {removed:<{column}}", "minus")]
    if width >= TIME_FROM:
        pieces.append((f" {render_time(entry.time):>5}", "muted"))
    return [*pieces, (" ", "")]
