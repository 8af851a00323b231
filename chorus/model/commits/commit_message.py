"""Commit messages: text for people and trailers for machines, rendered and parsed.

Every part is parsed back exactly, whatever characters it holds: what does not fit a line of a message is
written as a JSON string. Parsing a message that somebody else wrote never fails and gives what it can.

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

# What `git log --oneline` prints on one line after an abbreviated id.
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
# Written only where the quoted form in the body is not exact.
MESSAGE = "Chorus-Message"

_TRAILER = re.compile(r"^([A-Za-z0-9-]+): (.+)$", re.MULTILINE)
_ACTION_LINE = re.compile(rf"^{ACTION}: (.+)$", re.MULTILINE)
# Several names in one trailer, folded where they do not fit a line.
_ACTIONS_LINES = re.compile(rf"^{ACTIONS}: (.+(?:\n[ \t]+.+)*)$", re.MULTILINE)
_LISTED = re.compile(r'"(?:\\.|[^"\\])*"|[^\s,"]+')
_PART_LINE = re.compile(rf"^{PART}: (.+)$", re.MULTILINE)
_CONTEXT_LINE = re.compile(rf"^{CONTEXT}: (.+)$", re.MULTILINE)


class Text(NamedTuple):
    """The parts of a commit message. `trailers` has at least one; keys are plain words.

    A tuple: one is made for each record of a long history.
    """

    subject: str
    quoted: str | None = None
    body_lines: tuple[str, ...] = ()
    trailers: tuple[tuple[str, str], ...] = ()

    def first(self, key: str) -> str | None:
        return next((value for name, value in self.trailers if name == key), None)

    def every(self, key: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.trailers if name == key)


def render_message(text: Text) -> str:
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


def parse_message(message: str) -> Text:
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
    return Text(
        subject=_parse_value(subject),
        quoted=quoted,
        body_lines=tuple(_parse_value(line) for paragraph in paragraphs for line in paragraph.split("\n")),
        trailers=tuple(trailers or ()),
    )


def render_trailer(key: str, value: str) -> str:
    """One line of a message."""
    return f"{key}: {_render_value(value)}"


def parse_actions(message: str) -> tuple[str, ...]:
    """Every action a message names: a landed or squashed commit names several."""
    listed = [name for names in _ACTIONS_LINES.findall(message) for name in _LISTED.findall(names)]
    return tuple(_parse_value(value) for value in (*_ACTION_LINE.findall(message), *listed))


def render_actions(names: Sequence[str]) -> str:
    """One trailer with the names of all these actions, folded to the width of a message."""
    lines = [f"{ACTIONS}:"]
    for index, name in enumerate(names):
        plain = _LISTED.fullmatch(name) is not None and not name.startswith('"') and name.isprintable()
        item = (name if plain else json.dumps(name)) + ("," if index < len(names) - 1 else "")
        if index and len(lines[-1]) + 1 + len(item) > SUBJECT_LENGTH:
            lines.append("")
        lines[-1] += f" {item}"
    return "\n".join(lines)


def parse_parts(message: str) -> tuple[str, ...]:
    """The actions that the commit contains only some hunks of, according to its message."""
    return tuple(_parse_value(value) for value in _PART_LINE.findall(message))


def parse_contexts(message: str) -> tuple[str, ...]:
    """Where the lines of a context commit come from, `ORIGIN PATH` for each file."""
    return tuple(_parse_value(value) for value in _CONTEXT_LINE.findall(message))


def shorten(text: str, length: int = SUBJECT_LENGTH) -> str:
    """One line of at most `length` characters, cut between words if possible."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1].rsplit(" ", 1)
    kept = cut[0] if len(cut[0]) > length // 2 else line[: length - 1]
    return kept.rstrip(" ,;:-") + "…"


def _render_value(value: str) -> str:
    """The value itself if it fits a line, else a JSON string in ASCII.

    A value that begins like one of our trailers is quoted too: it could be read as one.
    """
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
    """The trailers; None if any line is not one."""
    trailers: list[tuple[str, str]] = _TRAILER.findall(paragraph)
    if len(trailers) != paragraph.count("\n") + 1:
        return None
    return [(key, _parse_value(value)) for key, value in trailers] if '"' in paragraph else trailers


def _survives_quoting(line: str) -> bool:
    return line.replace("\t", "").isprintable() and not line.endswith(" ")
