"""Read the recorded turns and render them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.usage import describe_use
from chorus.commands.terminal.patch import paint
from chorus.model.commits.commit_message import shorten
from chorus.model.review_state import SHORT_TURN_LENGTH, find_turns, shorten_turn
from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import find_home

if TYPE_CHECKING:
    from chorus.model.api.json_api import TurnJson

RED = "31"
INDENT = " " * 10
MAX_MESSAGE_LENGTH = 100


def read_turns(*, turn: str | None = None) -> list[TurnJson]:
    """Return the turns that `turn` names, or all recorded turns, oldest first.

    If no watcher is running, read the turns that the last watcher saved.
    """
    home = find_home(Path.cwd())
    try:
        with connect(home) as watcher:
            watcher.ask("sync")
            return watcher.ask("turns", turn=turn)
    except WatcherNotRunning:
        pass
    from chorus.model import turn as model  # noqa: PLC0415  only without a watcher

    try:
        with (home.root / model.TURNS_FILE).open(encoding="utf-8", errors="replace") as file:
            found = model.read_turns(file)
    except FileNotFoundError:
        return []
    found.sort(key=lambda one: one["started"])
    wanted = find_turns((one["turn"] for one in found), turn) if turn is not None else ()
    return [one for one in found if turn is None or one["turn"] in wanted]


def render_turns(turns: Iterable[TurnJson], *, colour: bool) -> Iterator[str]:
    """Yield two lines for each turn, or three if the turn failed."""
    listed = list(turns)
    width = max([SHORT_TURN_LENGTH, *(len(shorten_turn(turn["turn"])) for turn in listed)])
    for turn in listed:
        failed = turn["state"] == "failed"
        message = shorten(turn["message"] or "(no message)", MAX_MESSAGE_LENGTH)
        name = shorten_turn(turn["turn"]).ljust(width)
        heading = f"{name}  {turn['state']:<7}  {message}"
        yield paint(heading, RED if failed else "1", colour)
        yield f"{INDENT}{describe_turn(turn)}"
        if failed:
            yield paint(f"{INDENT}failed: {turn['error']}", RED, colour)


def render_turn(turn: TurnJson, *, colour: bool) -> Iterator[str]:
    failed = turn["state"] == "failed"
    yield paint(f"turn {turn['turn']}  {turn['state']}", RED if failed else "1", colour)
    details = {
        "session": turn["session"],
        "message": " ".join((turn["message"] or "").split()),
        "started": turn["started"],
        "ended": turn["ended"],
        "took": describe_turn(turn),
        "reason": turn["reason"],
    }
    yield from (f"  {name:<8} {value}" for name, value in details.items() if value)
    if failed:
        yield paint(f"  {'failed':<8} {turn['error']}", RED, colour)
    if turn["answer"]:
        yield ""
        yield from turn["answer"].split("\n")


def describe_turn(turn: TurnJson) -> str:
    known = [turn["model"], turn.get("mode"), *describe_use(turn)]
    steps = turn["steps"]
    known += [f"{steps} steps" if steps != 1 else "1 step"] if steps is not None else []
    return " · ".join(part for part in known if part)
