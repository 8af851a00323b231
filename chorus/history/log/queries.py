"""What can be asked about the history of one work tree, answered as data.

The agent answers these over its socket. A command that finds no agent reads the same from the newest end
(`lanes.newest`), and all of it where only all of it can answer.
"""

from functools import partial
from typing import Any

from chorus.history.log.filter import LogFilter, list_log
from chorus.history.log.json_views import LaneRow, changes_below, lanes_json, show_json
from chorus.history.log.lookup import find_entry
from chorus.history.recorder import Recorder


def log(recorder: Recorder, wanted: LogFilter) -> list[dict[str, Any]]:
    """The entries that match, oldest first."""
    changes = partial(changes_below, recorder.workspace.repository.git)
    return list_log(reversed(recorder.entries()), wanted, recorder.workspace.locate, changes)


def lanes(recorder: Recorder) -> list[dict[str, Any]]:
    """Every lane whose branch is there, oldest first."""
    entries = recorder.entries()
    rows = [LaneRow(lane.name, lane.base, lane.session) for lane in recorder.lanes.all()]
    return lanes_json(entries, rows, recorder.workspace.refs.read)


def show(recorder: Recorder, action: str) -> dict[str, Any]:
    entries = recorder.entries()
    outside = next((e for e in entries if e.status == "outside" and e.timeline == action), None)
    entry = outside or find_entry(entries, action)
    repository = recorder.workspace.repository
    return show_json(repository.git, str(repository.own_dir), entry, recorder.edits(entry))
