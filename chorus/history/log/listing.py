"""Lanes as data for programs: the JSON of `lanes`. Keys are API."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from chorus.history.log.entries import LogEntry
from chorus.model.ids import LaneName, Oid, SessionId

HEADS = "refs/heads/"


class LaneRow(NamedTuple):
    name: LaneName
    base: Oid | None
    session: SessionId | None


def lanes_json(
    entries: Iterable[LogEntry], lanes: Iterable[LaneRow], read_tip: Callable[[str], Oid | None]
) -> list[dict[str, Any]]:
    """Those of the lanes whose branch is there, with how many of the entries are on them, and open."""
    actions: Counter[str] = Counter()
    unreviewed: Counter[str] = Counter()
    for entry in entries:
        if entry.lane is not None and entry.n is not None and entry.within is None:
            actions[entry.lane] += 1
            unreviewed[entry.lane] += entry.open
    listed = []
    for lane in lanes:
        ref = HEADS + lane.name
        tip = read_tip(ref)
        if tip is not None:
            names = {"name": lane.name, "ref": ref, "base": lane.base, "tip": tip, "session": lane.session}
            listed.append({**names, "actions": actions[lane.name], "open": unreviewed[lane.name]})
    return listed
