"""Lanes as data for programs: the JSON of `lanes`. Keys are API."""

from collections import Counter
from typing import Any

from chorus.lanes.recorder import Recorder


def lanes_json(recorder: Recorder) -> list[dict[str, Any]]:
    """Every lane whose branch is there, oldest first."""
    actions: Counter[str] = Counter()
    unreviewed: Counter[str] = Counter()
    for entry in recorder.entries():
        if entry.lane is not None and entry.n is not None and entry.within is None:
            actions[entry.lane] += 1
            unreviewed[entry.lane] += entry.open
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
