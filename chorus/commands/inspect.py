"""`chorus inspect`: the actions in a recorded stream, pane capture or transcript.

Needs no repository and no watcher. Prints the actions in the order of their calls, and counts of what was
not understood: useful in a bug report.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from chorus.agents import load_agent
from chorus.agents.interface import OutcomeReader, RecordedEvent
from chorus.errors import ChorusError, ExitCode, NotFound, UsageError
from chorus.model.json_api import InspectedActionJson, InspectJson
from chorus.model.outcomes import ActionClosed, CallOpened, Outcome, OwnerCorrected, StatusCorrected
from chorus.output import print_err, print_json, print_out

CHUNK_SIZE = 2**20
COLOURS = {"succeeded": "32", "failed": "31", "denied": "33", "unfinished": "35"}
HEADINGS = ("tool", "status", "turn", "agent", "id", "paths")


@dataclass(frozen=True, slots=True)
class Row:
    """One action, as it is after the whole recording."""

    id: str
    tool: str
    paths: tuple[str, ...] = ()
    status: str = "unfinished"
    agent: str | None = None
    session: str | None = None
    turn: str | None = None


@dataclass(slots=True)
class Findings:
    rows: dict[str, Row] = field(default_factory=dict)
    events: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> InspectJson:
        return {
            "actions": [_row_json(row) for row in self.rows.values()],
            "events": self.events,
            "unknown": dict(self.unknown),
            "problems": dict(self.problems),
        }


EXAMPLES = (
    ("claude -p --verbose --output-format stream-json 'hi' | chorus inspect -", "a live stream"),
    ("chorus inspect capture.txt --width 80", "a capture of a pane"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the recording; - for stdin")
    parser.add_argument("--width", type=int, metavar="N", help="the width of the pane, for a wrapped capture")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    if args.width is not None and args.width < 1:
        raise UsageError(f"--width is {args.width}", hint="Give the number of columns of the pane.")
    findings = inspect(_read_chunks(args.file), width=args.width)
    if args.json:
        print_json(findings.as_json())
    else:
        for line in render(findings, colour=sys.stdout.isatty()):
            print_out(line)
    if findings.problems["unknown-width"]:
        print_err("hint: the recording is wrapped; give the width of the pane with --width N")
    if not findings.events:
        raise NotFound(
            f"no events in {args.file}",
            hint="Record with --output-format stream-json --verbose, or use a transcript or a hook's input.",
        )
    return ExitCode.OK


def inspect(chunks: Iterable[bytes], *, width: int | None = None) -> Findings:
    events, findings = load_agent().events, Findings()
    recording, outcomes = events.read_recording(width=width), events.read_outcomes()
    for chunk in chunks:
        _add_events(findings, outcomes, recording.feed(chunk))
    _add_events(findings, outcomes, recording.close())
    _add_outcomes(findings, outcomes.close())
    findings.unknown = outcomes.unknown
    findings.problems = recording.problems + outcomes.problems
    return findings


def render(findings: Findings, *, colour: bool) -> Iterator[str]:
    """Yield one line per action, then the counts."""
    rows = list(findings.rows.values())
    if rows:
        cells = [HEADINGS, *(_cells(row) for row in rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS) - 1)]
        for line, row in zip(cells, [None, *rows], strict=True):
            padded = [text.ljust(width) for text, width in zip(line[:-1], widths, strict=True)]
            if colour and row is not None:
                padded[1] = f"\x1b[{COLOURS[row.status]}m{padded[1]}\x1b[0m"
            yield "  ".join([*padded, line[-1]]).rstrip()
        yield ""
    statuses = Counter(row.status for row in rows)
    detail = ", ".join(f"{count} {status}" for status, count in statuses.items())
    yield f"{findings.events} events, {len(rows)} actions" + (f": {detail}" if detail else "")
    for name, counter in (("unknown", findings.unknown), ("problems", findings.problems)):
        if counter:
            yield f"{name}: " + ", ".join(f"{_plain(kind)} {count}" for kind, count in counter.most_common())


def _read_chunks(name: str) -> Iterator[bytes]:
    if name == "-":
        yield from _chunks(sys.stdin.buffer)
        return
    try:
        with Path(name).open("rb") as file:
            yield from _chunks(file)
    except FileNotFoundError:
        raise NotFound(f"file not found: {name}") from None
    except OSError as error:
        raise ChorusError(f"cannot read {name}: {error.strerror}") from None


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_SIZE):
        yield chunk


def _add_events(findings: Findings, outcomes: OutcomeReader, events: Iterable[RecordedEvent]) -> None:
    for value, source, channel in events:
        findings.events += 1
        _add_outcomes(findings, outcomes.feed_value(value, source=source, channel=channel))


def _add_outcomes(findings: Findings, outcomes: Iterable[Outcome]) -> None:
    rows = findings.rows
    for outcome in outcomes:
        match outcome:
            case CallOpened(call):
                rows[call.id] = Row(call.id, call.tool, call.paths)
            case ActionClosed(action):
                owner = action.agent, action.session, action.turn
                rows[action.id] = Row(action.id, action.tool, action.paths, action.status, *owner)
            case StatusCorrected(id=identity, status=status):
                rows[identity] = replace(rows[identity], status=status)
            case OwnerCorrected(identity, session, turn, agent):
                rows[identity] = replace(rows[identity], session=session, turn=turn, agent=agent)
            case _:
                pass  # sessions, turns, prompts and reports are not shown


def _row_json(row: Row) -> InspectedActionJson:
    return {
        "id": row.id,
        "tool": row.tool,
        "paths": list(row.paths),
        "status": row.status,
        "agent": row.agent,
        "session": row.session,
        "turn": row.turn,
    }


def _cells(row: Row) -> tuple[str, ...]:
    paths = " ".join(_plain(path) for path in row.paths)
    return (
        _plain(row.tool),
        row.status,
        _plain(row.turn or ""),
        _plain(row.agent or ""),
        _plain(row.id),
        paths,
    )


def _plain(text: str) -> str:
    """Escape control characters: a recording must not control the terminal."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
