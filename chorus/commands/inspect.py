"""`chorus inspect`: list sessions, turns, prompts and actions of a recorded stream, pane or transcript."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from chorus.agents import load_agent
from chorus.agents.interface import OutcomeReader, RecordedEvent, RecordingReader, UnusedRow
from chorus.commands.access.turns import render_turns
from chorus.commands.parser.options import parse_count
from chorus.errors import ChorusError, ExitCode, NotFound
from chorus.model.api.json_api import InspectedActionJson, InspectedPromptJson, InspectJson
from chorus.model.ids import SessionId
from chorus.model.outcomes import (
    ActionClosed,
    CallOpened,
    Outcome,
    OwnerCorrected,
    PromptClosed,
    PromptOpened,
    SessionDiscovered,
    StatusCorrected,
)
from chorus.model.session import SessionTable
from chorus.model.turn import TurnTable
from chorus.output import print_err, print_json, print_out, style

CHUNK_SIZE = 2**20
# How much of a recording is kept in memory, to read it again at another width.
MAX_REREAD = 64 * 2**20
MAX_LISTED_ROWS = 20
UNNAMED = SessionId("")
COLOURS = {"succeeded": "32", "failed": "31", "denied": "33", "unfinished": "35"}
HEADINGS = ("tool", "status", "turn", "agent", "id", "paths")


@dataclass(frozen=True, slots=True)
class Row:
    """One action, as it is at the end of the recording."""

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
    sessions: SessionTable = field(default_factory=SessionTable)
    turns: TurnTable = field(default_factory=TurnTable)
    prompts: list[InspectedPromptJson] = field(default_factory=list)
    events: int = 0
    width: int | None = None
    unused: list[UnusedRow] = field(default_factory=list)
    _open: dict[str, InspectedPromptJson] = field(default_factory=dict)
    unknown: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> InspectJson:
        return {
            "actions": [_row_json(row) for row in self.rows.values()],
            "events": self.events,
            "unknown": dict(self.unknown),
            "problems": dict(self.problems),
            "sessions": [session.as_json() for session in self.sessions.sessions.values()],
            "turns": [turn.as_json() for turn in self.turns.all()],
            "prompts": self.prompts,
            "width": self.width,
            "unused": [{"row": row.number, "text": row.text} for row in self.unused],
        }

    def add(self, outcome: Outcome) -> None:
        """Add an outcome. Before the recording names a session, outcomes go to a session with an empty id."""
        named = _with_session(outcome)
        if isinstance(outcome, SessionDiscovered) and UNNAMED in self.sessions.sessions:
            del self.sessions.sessions[UNNAMED]
            self.turns.name_session(outcome.session, UNNAMED)
        self.sessions.feed(named, time="", source="recording")
        self.turns.feed(named, time="")
        match outcome:
            case CallOpened(call):
                self.rows[call.id] = Row(call.id, call.tool, call.paths)
            case ActionClosed(action):
                owner = action.agent, action.session, action.turn
                self.rows[action.id] = Row(action.id, action.tool, action.paths, action.status, *owner)
            case StatusCorrected(id=identity, status=status):
                self.rows[identity] = replace(self.rows[identity], status=status)
            case OwnerCorrected(identity, session, turn, agent):
                self.rows[identity] = replace(self.rows[identity], session=session, turn=turn, agent=agent)
            case PromptOpened(session, call_id, tool, request=request, text=text):
                prompt: InspectedPromptJson = {
                    "session": session, "tool": tool, "call": call_id, "text": text, "answer": None,
                }  # fmt: skip
                self.prompts.append(prompt)
                self._open |= {key: prompt for key in (request, call_id) if key is not None}
            case PromptClosed(id=call_id, request=request, decision=decision):
                for key in (request, call_id):
                    if key is not None and (closed := self._open.pop(key, None)):
                        closed["answer"] = decision


EXAMPLES = (
    ("claude -p --verbose --output-format stream-json 'hi' | chorus inspect -", "a live stream"),
    ("chorus inspect capture.txt", "a capture of a pane, wrapped or not"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the recording; - for stdin")
    parser.add_argument(
        "--width",
        type=parse_count,
        metavar="N",
        help="the pane's width (default: detected)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    findings = inspect(_read_chunks(args.file), width=args.width)
    if args.json:
        print_json(findings.as_json())
    else:
        for line in render(findings, colour=sys.stdout.isatty()):
            print_out(line)
    if findings.problems["unknown-width"]:
        print_err("hint: the recording is wrapped, and its width is unknown; give it with --width N")
    if not findings.events:
        raise NotFound(
            f"no events in {args.file}",
            hint="Record with --output-format stream-json --verbose, or use a transcript or a hook's input.",
        )
    return ExitCode.OK


def inspect(chunks: Iterable[bytes], *, width: int | None = None) -> Findings:
    """Read a recording.

    If its lines are wrapped at an unknown width, try likely widths and keep the best reading.
    """
    kept: list[bytes] = []
    findings, reader = _read(_keep(chunks, kept), width)
    if width is not None or not findings.problems["unknown-width"]:
        return findings
    others = [_read(kept, guessed)[0] for guessed in reader.guess_widths()]
    return max([*others, findings], key=_rank)


def _rank(findings: Findings) -> tuple[int, int, int]:
    """Return a sort key: more events are better, then fewer unused rows, then fewer problems."""
    return (findings.events, -len(findings.unused), -findings.problems.total())


def _keep(chunks: Iterable[bytes], kept: list[bytes]) -> Iterator[bytes]:
    """Yield the chunks, and append those within the first MAX_REREAD bytes to `kept`."""
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size <= MAX_REREAD:
            kept.append(chunk)
        yield chunk


def _read(chunks: Iterable[bytes], width: int | None) -> tuple[Findings, RecordingReader]:
    events, findings = load_agent().events, Findings(width=width)
    recording, outcomes = events.read_recording(width=width), events.read_outcomes()
    for chunk in chunks:
        _add_events(findings, outcomes, recording.feed(chunk))
    _add_events(findings, outcomes, recording.close())
    for outcome in outcomes.close():
        findings.add(outcome)
    findings.unused = recording.unused_rows()
    findings.unknown = outcomes.unknown
    findings.problems = recording.problems + outcomes.problems
    return findings, recording


def render(findings: Findings, *, colour: bool) -> Iterator[str]:
    rows = list(findings.rows.values())
    if rows:
        cells = [HEADINGS, *(_cells(row) for row in rows)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS) - 1)]
        for line, row in zip(cells, [None, *rows], strict=True):
            padded = [text.ljust(width) for text, width in zip(line[:-1], widths, strict=True)]
            if colour and row is not None:
                padded[1] = style(padded[1], code=COLOURS[row.status])
            cells_and_gaps = [part for text in (*padded, line[-1]) for part in (text, "  ")]
            yield style(*cells_and_gaps[:-1])
        yield ""
    yield from _render_sessions(findings, colour=colour)
    statuses = Counter(row.status for row in rows)
    detail = ", ".join(f"{count} {status}" for status, count in statuses.items())
    yield f"{findings.events} events, {len(rows)} actions" + (f": {detail}" if detail else "")
    for name, counter in (("unknown", findings.unknown), ("problems", findings.problems)):
        if counter:
            yield f"{name}: " + ", ".join(f"{_plain(kind)} {count}" for kind, count in counter.most_common())
    if findings.width is not None:
        yield f"wrapped at {findings.width} columns"
    if findings.unused:
        yield f"rows without an event: {len(findings.unused)}"
        yield from (f"  {row.number}: {_plain(row.text)}" for row in findings.unused[:MAX_LISTED_ROWS])


def _render_sessions(findings: Findings, *, colour: bool) -> Iterator[str]:
    for session in findings.sessions.sessions.values():
        known = filter(None, (session.model, session.mode, session.version, session.cwd))
        yield " ".join(["session", _plain(session.id or "without an id"), *map(_plain, known)])
        turns = [turn.as_json() for turn in findings.turns.of_session(session.id)]
        yield from (f"  {_plain(line)}" for line in render_turns(turns, colour=False))
    for prompt in findings.prompts:
        about = " ".join(filter(None, (prompt["tool"], prompt["call"], prompt["text"])))
        yield f"prompt {_plain(about)}: {prompt['answer'] or 'no answer'}"
    if findings.sessions.sessions or findings.prompts:
        yield ""


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
        for outcome in outcomes.feed_value(value, source=source, channel=channel):
            findings.add(outcome)


def _with_session(outcome: Outcome) -> Outcome:
    """Give the outcome an empty session id if it has none: older streams never name a session."""
    if getattr(outcome, "session", "") is not None:
        return outcome
    unnamed: Any = outcome
    renamed = unnamed._replace if isinstance(outcome, tuple) else partial(replace, unnamed)
    named: Outcome = renamed(session=UNNAMED)
    return named


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
    """Escape unprintable characters, so that a recording cannot control the terminal."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
