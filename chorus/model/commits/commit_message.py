"""Commit messages: text for people and trailers for machines, rendered and parsed.

A value that cannot be written as one plain line is written as a JSON string, so that parsing restores it
exactly. Parsing never fails: from a message of another program, it returns the parts it finds.

    Accept blanks around numbers                  subject, in words

    > The parser should accept blanks.            the user's message
    >
    > Tests too, please.

    src/parser.py: +3 −1                          body lines, one per file

    Chorus-Action: toolu_01A                      trailers, as `git interpret-trailers` reads them
    Chorus-Tool: Edit
"""

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from chorus.text.sanitize import printable

FORMAT = "1"

# After an abbreviated id, `git log --oneline` prints this many characters on a line of 80.
SUBJECT_LENGTH = 72

PREFIX = "Chorus-"
ACTION = "Chorus-Action"
ACTIONS = "Chorus-Actions"
AGENT = "Chorus-Agent"
BASE = "Chorus-Base"
BRANCH = "Chorus-Branch"
CONTEXT = "Chorus-Context"
CONTAINED = "Chorus-Contained"
COMMAND = "Chorus-Command"
COMMIT = "Chorus-Commit"
EDIT = "Chorus-Edit"
FILES = "Chorus-Files"
FORMAT_VERSION = "Chorus-Format"
HEAD = "Chorus-Head"
KIND = "Chorus-Kind"
LANE = "Chorus-Lane"
LINES = "Chorus-Lines"
NUMBER = "Chorus-Number"
PART = "Chorus-Part"
REASON = "Chorus-Reason"
REVERTS = "Chorus-Reverts"
REVERTS_PART = "Chorus-PartlyReverts"
SESSION = "Chorus-Session"
SKIPPED = "Chorus-Skipped"
SOURCE = "Chorus-Source"
STATUS = "Chorus-Status"
TIME = "Chorus-Time"
TOOL = "Chorus-Tool"
TURN = "Chorus-Turn"
# The user's message. Written only if the quoted form in the body is not exact.
MESSAGE = "Chorus-Message"

_TRAILER = re.compile(r"^([A-Za-z0-9-]+): (.+)$", re.MULTILINE)
_ACTION_LINE = re.compile(rf"^{ACTION}: (.+)$", re.MULTILINE)
# Several names in one trailer, folded over several lines if they do not fit on one.
_ACTIONS_LINES = re.compile(rf"^{ACTIONS}: (.+(?:\n[ \t]+.+)*)$", re.MULTILINE)
_LISTED = re.compile(r'"(?:\\.|[^"\\])*"|[^\s,"]+')
_PART_LINE = re.compile(rf"^{PART}: (.+)$", re.MULTILINE)
_CONTEXT_LINE = re.compile(rf"^{CONTEXT}: (.+)$", re.MULTILINE)


class MessageText(NamedTuple):
    """The parts of a commit message. `render_message` needs at least one trailer."""

    subject: str
    quoted: str | None = None
    body_lines: tuple[str, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()

    def first(self, key: str) -> str | None:
        return next((value for name, value in self.trailers if name == key), None)

    def every(self, key: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.trailers if name == key)


def render_message(text: MessageText) -> str:
    trailers = list(text.trailers)
    paragraphs = [_render_value(text.subject)]
    if text.quoted is not None:
        lines = text.quoted.split("\n")
        shown = (printable(line, keep="\t") for line in lines)
        paragraphs.append("\n".join(f"> {line}".rstrip(" ") for line in shown))
        if not all(_survives_quoting(line) for line in lines):
            trailers.append((MESSAGE, text.quoted))
    if text.body_lines:
        paragraphs.append("\n".join(_render_value(line) for line in text.body_lines))
    paragraphs.append("\n".join(render_trailer(key, value) for key, value in trailers))
    return "\n\n".join(paragraphs) + "\n"


def parse_message(message: str) -> MessageText:
    subject, *paragraphs = message.rstrip("\n").split("\n\n")
    trailers = _parse_trailers(paragraphs[-1]) if paragraphs else None
    if trailers is not None:
        paragraphs.pop()
    quoted = None
    if trailers and MESSAGE in message:
        quoted = next((value for key, value in trailers if key == MESSAGE), None)
        trailers = [trailer for trailer in trailers if trailer[0] != MESSAGE]
    if paragraphs and paragraphs[0].startswith(">"):
        lines = paragraphs.pop(0).split("\n")
        if quoted is None:
            quoted = "\n".join(line[2:] for line in lines)
    return MessageText(
        subject=_parse_value(subject),
        quoted=quoted,
        body_lines=tuple(_parse_value(line) for paragraph in paragraphs for line in paragraph.split("\n")),
        trailers=tuple(trailers or ()),
    )


def render_trailer(key: str, value: str) -> str:
    return f"{key}: {_render_value(value)}"


def parse_actions(message: str) -> tuple[str, ...]:
    """Return all actions that a message names. A landed or squashed commit may name several."""
    listed = [name for names in _ACTIONS_LINES.findall(message) for name in _LISTED.findall(names)]
    return tuple(_parse_value(value) for value in (*_ACTION_LINE.findall(message), *listed))


def render_actions(names: Sequence[str]) -> str:
    """Return one trailer that names all these actions, folded at SUBJECT_LENGTH."""
    lines = [f"{ACTIONS}:"]
    for index, name in enumerate(names):
        plain = _LISTED.fullmatch(name) is not None and not name.startswith('"') and name.isprintable()
        item = (name if plain else json.dumps(name)) + ("," if index < len(names) - 1 else "")
        if index and len(lines[-1]) + 1 + len(item) > SUBJECT_LENGTH:
            lines.append("")
        lines[-1] += f" {item}"
    return "\n".join(lines)


def parse_parts(message: str) -> tuple[str, ...]:
    """Return the actions of which the commit contains only some hunks."""
    return tuple(_parse_value(value) for value in _PART_LINE.findall(message))


def parse_contexts(message: str) -> tuple[str, ...]:
    """Return `ORIGIN PATH` for each file of a context commit, and for each origin of its lines.

    ORIGIN says who wrote the lines: an action's id, `outside:COMMIT`, or `start` for lines older than the
    timeline.
    """
    return tuple(_parse_value(value) for value in _CONTEXT_LINE.findall(message))


def shorten(text: str, length: int = SUBJECT_LENGTH) -> str:
    """Shorten a text to one line of at most `length` characters, cut between words if possible."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1].rsplit(" ", 1)
    kept = cut[0] if len(cut[0]) > length // 2 else line[: length - 1]
    return kept.rstrip(" ,;:-") + "…"


def _render_value(value: str) -> str:
    """Return the value itself if it can be read back unchanged, else a JSON string in ASCII."""
    plain = value.isprintable() and value == value.strip() and value[:1] not in ("", '"', ">")
    return value if plain and not value.startswith(PREFIX) else json.dumps(value)


def _parse_value(value: str) -> str:
    if value.startswith('"'):
        try:
            decoded: str = json.loads(value)
        except ValueError:
            return value
        return decoded
    return value


def _parse_trailers(paragraph: str) -> list[tuple[str, str]] | None:
    trailers: list[tuple[str, str]] = _TRAILER.findall(paragraph)
    if len(trailers) != paragraph.count("\n") + 1:
        return None
    return [(key, _parse_value(value)) for key, value in trailers] if '"' in paragraph else trailers


def _survives_quoting(line: str) -> bool:
    return line.replace("\t", "").isprintable() and not line.endswith(" ")
