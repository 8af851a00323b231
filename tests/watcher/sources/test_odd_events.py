"""Any part of a hook event may be anything; the next event is still recorded."""

import copy
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chorus.wire.client import connect
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.agents.recordings import RECORDINGS
from tests.repos import UserRepo
from tests.watcher.hook_events import HookEvents

ODD: list[Any] = [
    None, 0, -1, 1.5, True, [], {}, "", "\0", "a\0b", "x" * 5000, "\ud800", "../../..", "/", "/nowhere/at",
    [None], {"a": None}, ["\0"], 10**30, "2026-99-99T99:99:99Z",
]  # fmt: skip
# One of so many mutated events: the rest is the bench's.
EVERY = 23

JsonPath = tuple[str | int, ...]


def recorded_events(repo: Path) -> list[dict[str, Any]]:
    """Every recorded event, as if it came from this repository."""
    texts = [path.read_text() for path in sorted(RECORDINGS.rglob("hooks/*.json"))]
    return [json.loads(text.replace("/src/proj", str(repo))) for text in texts]


def json_paths(value: Any, before: JsonPath = ()) -> Iterator[JsonPath]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*before, key)
        yield from json_paths(part, (*before, key))


def with_odd(event: dict[str, Any], json_path: JsonPath, odd: Any) -> dict[str, Any]:
    changed = copy.deepcopy(event)
    parent: Any = changed
    for key in json_path[:-1]:
        parent = parent[key]
    parent[json_path[-1]] = odd
    return changed


def odd_events(repo: Path) -> Iterator[dict[str, Any]]:
    for event in recorded_events(repo):
        for json_path, odd in itertools.product(json_paths(event), ODD):
            yield with_odd(event, json_path, odd)


def check(repo: Path, events: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Tell all of them, then of an edit. Gives what failed, and what became of the edit."""
    home = find_home(repo)
    connect_or_start(home).close()
    try:
        hooks = HookEvents(home, pane="%9")
        hooks.tell(*events)
        edit_through(hooks, repo)
        with connect(home) as watcher:
            entries = watcher.ask("log", cwd=str(repo))
            aside = [path.name for path in (home.spool / "aside").iterdir()]
        return aside, [entry["status"] for entry in entries if entry["id"] == "last"]
    finally:
        stop(home)


def edit_through(hooks: HookEvents, repo: Path) -> None:
    json_path = repo / "app.py"
    before = json_path.read_text()
    given = {"file_path": str(json_path), "old_string": before, "new_string": "x = 2\n"}
    event = {
        "session_id": "good",
        "transcript_path": str(repo.parent / "good.jsonl"),
        "cwd": str(repo),
        "tool_name": "Edit",
        "tool_use_id": "last",
        "tool_input": given,
    }
    hooks.tell(event | {"hook_event_name": "PreToolUse"})
    json_path.write_text("x = 2\n")
    result = {"filePath": str(json_path), "oldString": before, "newString": "x = 2\n", "originalFile": before}
    hooks.tell(event | {"hook_event_name": "PostToolUse", "tool_response": result})


def test_after_any_odd_event_the_next_one_is_recorded(repo: UserRepo) -> None:
    events = list(itertools.islice(odd_events(repo.path), 0, None, EVERY))
    places = [event for event in recorded_events(repo.path) if event["hook_event_name"] == "PreToolUse"][:1]
    where = itertools.product(("cwd", "transcript_path", "session_id"), ODD)
    events += [with_odd(event, (key,), odd) for event in places for key, odd in where]

    assert check(repo.path, events) == ([], ["committed"])
