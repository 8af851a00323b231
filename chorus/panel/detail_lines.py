"""What is said about an action or a turn above its diff.

Receives an entry or a turn with its actions; gives lines. All of it is inert.
"""

from chorus.model.lane_name import short_lane_name
from chorus.panel.clock import render_time
from chorus.panel.diff_lines import Drawn
from chorus.panel.items import Entry
from chorus.panel.pane import Pieces
from chorus.panel.queue_lines import render_sign, render_subject
from chorus.text.sanitize import sanitize, sanitize_lines
from chorus.text.width import pad

STATUS_WORDS = {
    "committed": "open",
    "kept": "kept",
    "reverted": "taken back",
    "noop": "changed nothing",
    "failed": "failed",
    "denied": "denied",
    "outside": "not made by the agent",
    "landed": "landed",
    "done": "done",
}
# A message is there to be recognised, not read from end to end.
MOST_MESSAGE_LINES = 12


def render_entry_title(entry: Entry) -> Pieces:
    about = sanitize(entry.summary) or render_subject(entry)
    return [(f"{entry.number} ".lstrip(), "heading"), (f"{sanitize(entry.tool)}  ", "strong"), (about, "")]


def render_entry_heading(entry: Entry) -> list[Drawn]:
    sign, style = render_sign(entry)
    state = STATUS_WORDS.get(entry.shown, sanitize(entry.shown))
    parts = [render_time(entry.time), sanitize(short_lane_name(entry.lane or ""))]
    parts += [f"sub-agent {sanitize(entry.agent)}"] if entry.agent else []
    parts += ["takes back " + ", ".join(map(sanitize, entry.reverts[:3]))] if entry.reverts else []
    parts += [f"part of {sanitize(entry.within)}"] if entry.within else []
    meta = "  ".join(part for part in parts if part.strip())
    lines: list[Drawn] = [([(f" {sign} {state}  ", style), (meta, "muted")], "")]
    return [*lines, ([], "")]


def render_turn(message: str, entries: list[Entry]) -> list[Drawn]:
    lines: list[Drawn] = [
        ([(f" {line}", "title")], "") for line in sanitize_lines(message, max_lines=MOST_MESSAGE_LINES)
    ]
    lines.append(([], ""))
    for entry in entries:
        sign, style = render_sign(entry)
        subject = render_subject(entry)
        lines.append(
            (
                [
                    (f" {entry.number:>5} ", "number"),
                    (f"{sign} ", style),
                    (pad(sanitize(entry.tool), 9) + " ", "strong"),
                    (subject, ""),
                ],
                "",
            )
        )
    return lines
