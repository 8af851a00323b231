"""Entries and lanes as data for programs: the JSON of `log`, `show` and `lanes`. Keys are API."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from chorus.core.ids import Oid, TurnId
from chorus.errors import NothingThere
from chorus.git.trees import Entry
from chorus.lanes.entries import LogEntry
from chorus.lanes.patches import run_diff
from chorus.lanes.recorder import Recorder

# What a person has still to look at.
OPEN = "committed"
# Nobody names a commit by fewer digits than this.
SHORTEST_OID = 4


class NoSuchAction(NothingThere):
    hint = "`chorus log` lists the actions with their numbers."


def entry_json(entry: LogEntry) -> dict[str, Any]:
    return {
        "n": entry.n,
        "id": entry.id,
        "lane": entry.lane,
        "session": entry.session,
        "turn": entry.turn,
        "tool": entry.tool,
        "agent": entry.agent,
        "paths": list(entry.paths),
        "status": entry.status,
        "commit": entry.commit,
        "timeline": entry.timeline,
        "summary": entry.summary,
        "source": entry.source,
        "time": entry.time or datetime.fromtimestamp(entry.seconds, UTC).isoformat(),
        "added": entry.lines[0] if entry.lines else None,
        "removed": entry.lines[1] if entry.lines else None,
        "message": entry.message,
        "landed": bool(entry.landed),
        "reverts": list(entry.reverts),
        "within": entry.within,
        "reason": entry.reason,
        "skipped": list(entry.skipped),
        "record": entry.timeline,
    }


def lanes_json(recorder: Recorder) -> list[dict[str, Any]]:
    """Every lane whose branch is there, oldest first."""
    actions: Counter[str] = Counter()
    unreviewed: Counter[str] = Counter()
    for entry in recorder.entries():
        if entry.lane is not None and entry.n is not None and entry.within is None:
            actions[entry.lane] += 1
            unreviewed[entry.lane] += entry.status == OPEN and not entry.landed
    listed = []
    for lane in recorder.lanes.all():
        tip = recorder.site.refs.read(lane.ref)
        if tip is not None:
            names = {
                "name": lane.name,
                "ref": lane.ref,
                "base": lane.base,
                "tip": tip,
                "session": lane.session,
            }
            listed.append({**names, "actions": actions[lane.name], "open": unreviewed[lane.name]})
    return listed


def show_json(recorder: Recorder, entry: LogEntry) -> dict[str, Any]:
    edits = [
        {
            "path": edit.path,
            "before": _oid(edit.before),
            "after": _oid(edit.after),
            "mode_before": _mode(edit.before),
            "mode_after": _mode(edit.after),
        }
        for edit in recorder.edits(entry)
    ]
    return {**entry_json(entry), "edits": edits, "patch": read_patch(recorder, entry)}


def read_patch(recorder: Recorder, entry: LogEntry) -> str:
    """What the action changed on disk, as git prints it."""
    if entry.timeline is None:
        return ""
    return run_diff(recorder, "--no-commit-id", "--root", entry.timeline)


def find_entry(entries: Sequence[LogEntry], name: str) -> LogEntry:
    """The action with that number, tool_use id or (abbreviated) lane commit."""
    for entry in entries:
        if name in (str(entry.n), entry.id):
            return entry
    if len(name) >= SHORTEST_OID:
        found = [
            e for e in entries if e.commit is not None and e.commit.startswith(name) and e.within is None
        ]
        if len(found) == 1:
            return found[0]
    raise NoSuchAction(f"there is no action {name}")


def find_turn(entries: Sequence[LogEntry], name: str) -> TurnId:
    """The turn of that name, or the only one whose name begins so."""
    turns = dict.fromkeys(entry.turn for entry in entries if entry.turn)
    found = [turn for turn in turns if turn == name] or [turn for turn in turns if turn.startswith(name)]
    if len(found) == 1:
        return found[0]
    why = f"several turns begin with {name}" if found else f"there is no turn {name}"
    raise NoSuchAction(why, hint="`chorus log` shows the turns with their names.")


def _oid(entry: Entry | None) -> Oid | None:
    return None if entry is None else entry.oid


def _mode(entry: Entry | None) -> int | None:
    return None if entry is None else entry.mode
