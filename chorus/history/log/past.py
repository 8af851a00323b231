"""What is known of a file's past: the records that changed it, newest first.

Receives paths. Of the history on disk, only the records that name a path are parsed; one that is read already
gives the same (`lanes.known_past`). Never writes.
"""

import json
from collections.abc import Iterable
from typing import Protocol

from chorus.history.chain import Recorded
from chorus.history.log.entries import LogEntry
from chorus.history.log.newest import Newest
from chorus.history.records import NOTHING, Edit
from chorus.history.site import Site
from chorus.model.commit_message import EDIT, render_trailer
from chorus.model.ids import RepoPath
from chorus.store.objects.trees import Entry


class Past(Protocol):
    @property
    def site(self) -> Site: ...

    def touching(self, path: RepoPath) -> Iterable[Recorded]:
        """The records that changed a path, newest first."""

    def place(self, recorded: Recorded) -> int:
        """Where a record stands: what is older has a lower place."""

    def edits(self, recorded: Recorded) -> tuple[Edit, ...]: ...

    def newest(self, path: RepoPath) -> Entry | None:
        """The file last seen at a path."""

    def entry_of(self, action: str) -> LogEntry | None: ...


class SiftedPast:
    """Of a history on disk. Raises ChainUnreadable where only all of it can tell."""

    def __init__(self, site: Site, newest: Newest) -> None:
        self.site = site
        self._sieve = newest.sieve
        self._touching: dict[RepoPath, list[Recorded]] = {}
        self.entry_of = newest.find_action_entry

    def touching(self, path: RepoPath) -> Iterable[Recorded]:
        if path not in self._touching:
            # At the end of a line, plain or as a JSON string; or in a record that lists none of its files.
            ends = (f" {path}\n", f"{json.dumps(path)[1:]}\n", f"\n{render_trailer(EDIT, NOTHING)}\n")
            found = self._sieve.holding([end.encode("utf-8", "surrogateescape") for end in ends])
            own = [r for r in found if any(edit.path == path for edit in self.edits(r))]
            self._touching[path] = own
        return self._touching[path]

    def place(self, recorded: Recorded) -> int:
        return -self._sieve.place(recorded)

    def edits(self, recorded: Recorded) -> tuple[Edit, ...]:
        if recorded.record.listed:
            return recorded.record.edits
        before = self._sieve.record(self._sieve.place(recorded) + 1)
        changes = self.site.trees.diff(before.tree if before else None, recorded.tree)
        return tuple(Edit(change.path, change.before, change.after) for change in changes)

    def newest(self, path: RepoPath) -> Entry | None:
        tip = self._sieve.record(0)
        found = self.site.trees.lookup(tip.tree, path) if tip else None
        return None if found is None or found.is_tree else found
