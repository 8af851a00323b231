"""Recorded runs as events, and the final state of their actions."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.events import Event, parse_event
from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.claude_code.terminal.recording import unwrap
from chorus.model.outcomes import (
    ActionClosed,
    CallOpened,
    Outcome,
    OwnerCorrected,
    StatusCorrected,
)

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
RECORDINGS = FIXTURES / "recordings"


@dataclass(frozen=True, slots=True)
class Row:
    """The final state of one action."""

    id: str
    tool: str
    paths: tuple[str, ...] = ()
    status: str = "open"
    agent: str | None = None
    session: str | None = None
    turn: str | None = None
    reported: bool = False
    lead_text: str | None = None
    message: str | None = None


def read_values(path: Path) -> list[dict[str, Any]]:
    """The objects of a recording, one a line or the whole file. Incomplete lines are left out."""
    text = path.read_text()
    if path.suffix == ".json":
        return [json.loads(text)]
    return [value for line in text.splitlines() for value in _parsed(line)]


def _parsed(line: str) -> Iterator[dict[str, Any]]:
    try:
        value = json.loads(line)
    except ValueError:
        return
    if isinstance(value, dict):
        yield value


@cache
def read_events(path: Path) -> list[Event]:
    return [parse(value) for value in read_values(path)]


def parse(value: dict[str, Any]) -> Event:
    inner, source = unwrap(value)
    return parse_event(inner, source=source)


def run(events: Iterable[Event], pairing: Pairing | None = None) -> list[Outcome]:
    pairing = pairing or Pairing()
    outcomes = [outcome for event in events for outcome in pairing.feed(event)]
    return outcomes + pairing.close()


def fold(outcomes: Iterable[Outcome]) -> dict[str, Row]:
    """Every action by id, in the order of the calls. Fails if one is opened or closed twice."""
    rows: dict[str, Row] = {}
    for outcome in outcomes:
        match outcome:
            case CallOpened(call):
                assert call.id not in rows, f"{call.id} opened twice"
                rows[call.id] = Row(call.id, call.tool)
            case ActionClosed(action):
                row = rows[action.id]
                assert row.status == "open", f"{action.id} closed twice"
                rows[action.id] = Row(
                    action.id, action.tool, action.paths, action.status, action.agent, action.session,
                    action.turn, action.report is not None, action.lead_text, action.message,
                )  # fmt: skip
            case StatusCorrected(id=identity, status=status):
                rows[identity] = replace(rows[identity], status=status)
            case OwnerCorrected(identity, session, turn, agent):
                rows[identity] = replace(rows[identity], session=session, turn=turn, agent=agent)
    return rows


def actions_of(events: Iterable[Event]) -> dict[str, Row]:
    return fold(run(events))


def tables() -> dict[str, list[list[Any]]]:
    """The checked tables: recording -> [id, tool, paths, status, agent] of each action."""
    table: dict[str, list[list[Any]]] = {}
    for path in sorted((FIXTURES / "tables").glob("*.json")):
        table |= json.loads(path.read_text())
    return table


def in_table(row: Row) -> list[Any]:
    return [row.id, row.tool, list(row.paths), row.status, row.agent]
