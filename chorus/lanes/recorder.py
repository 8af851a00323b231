"""The recorder: what happens in a work tree goes on its timeline, and what an agent did on its lane.

Receives calls and actions as the client tells them, and hints where to look. Reads the disk, appends to
the timeline, moves lane branches. An action that is known is never recorded again, whoever tells of it,
also after a restart. Never changes a file of the user's, HEAD, the index, or a branch that is not a lane.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from chorus.core.actions import Action, Status
from chorus.core.ids import Oid, RepoPath, SessionId, ToolUseId
from chorus.git.filestate import Why
from chorus.git.worktree import CAP_BYTES
from chorus.lanes.attribution import SharedPath, attribute, claims_a_change, claims_about, sharing
from chorus.lanes.entries import LogEntry, list_entries
from chorus.lanes.journal import Journal
from chorus.lanes.observing import Observation, Observing, render_omitted
from chorus.lanes.records import Edit
from chorus.lanes.site import Site
from chorus.lanes.timeline import Recorded

OTHERS_RAN = "other calls ran at the same time"


class Recorder:
    def __init__(self, site: Site) -> None:
        self.site = site
        self.journal = Journal(site)
        self.timeline = self.journal.timeline
        self.lanes = self.journal.lanes
        self._observing = Observing(self.journal)
        self._said: set[str] = set()

    @classmethod
    def open(cls, path: Path, cap_bytes: int = CAP_BYTES) -> Self:
        """The recorder of the work tree that holds `path`. Nothing is written until something is recorded."""
        return cls(Site.open(path, cap_bytes))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.journal.close()
        self.site.close()

    def entries(self) -> list[LogEntry]:
        """Every call and outside change, oldest first."""
        self.journal.refresh()
        return list(list_entries(self.timeline, self.journal.notes.lines))

    def edits(self, entry: LogEntry) -> tuple[Edit, ...]:
        """The paths of an entry, with the file before and after."""
        recorded = self.timeline.find_commit(entry.timeline) if entry.timeline else None
        return self.timeline.edits(recorded) if recorded else ()

    def current_commit(self, recorded: Recorded) -> Oid:
        """The lane commit of an action: made anew where the lane had moved meanwhile."""
        record = recorded.record
        assert record.placement is not None
        return self.journal.moved.get(record.action or "", record.placement.commit)

    def start(self) -> None:
        """Take the work tree as it is for the beginning, unless there is a timeline already."""
        with self.journal.writing():
            pass

    def look(self, paths: Iterable[str]) -> list[Recorded]:
        """Before a call: what these paths hold now is not its doing."""
        return self.sweep(paths)

    def sweep(
        self, hints: Iterable[str] | None = None, spare: Collection[str] = (), reason: str | None = None
    ) -> list[Recorded]:
        """Record what moved as outside, but for the paths to spare. Without hints, look everywhere."""
        with self.journal.writing():
            seen = self._observe(hints, spare)
            rest = [self.journal.append_outside(seen.edits, reason)] if seen.edits else []
            return [*seen.recorded, *rest]

    def record_named(self, actions: Sequence[Action], source: str | None = None) -> None:
        """Record actions that write only the paths they name, oldest first."""
        with self.journal.writing():
            once = {action.id: action for action in reversed(actions)}
            new = [action for action in reversed(once.values()) if not self.journal.knows(action.id)]
            if new:
                self._record_named(new, source)

    def record_window(
        self,
        action: Action,
        hints: Iterable[str] | None = None,
        spare: Collection[str] = (),
        source: str | None = None,
        *,
        shared: bool = False,
    ) -> None:
        """Record what moved while this action ran as its change, but for the paths to spare.

        `shared`: others ran too, so what the client itself lists as changed counts first.
        """
        with self.journal.writing():
            if self.journal.knows(action.id):
                return
            seen = self._observe(hints, spare)
            edits = self._part_of(action, seen.edits) if shared else seen.edits
            skipped = self._news(seen)
            if edits:
                reason = OTHERS_RAN if shared else None
                self.journal.append_action(action, edits, source=source, skipped=skipped, reason=reason)
            else:
                self._note(action, source, skipped=skipped)

    def note(self, action: Action, source: str | None = None) -> None:
        """Remember a call that changed nothing: how it ended is what its status says."""
        with self.journal.writing():
            if not self.journal.knows(action.id):
                self._note(action, source)

    def link(self, session: SessionId, parent: SessionId) -> None:
        """`session` goes on where `parent` left off: it writes to the same lane."""
        with self.journal.writing():
            if self.journal.root(session) != self.journal.root(parent):
                self.journal.append_note({"kind": "link", "session": session, "parent": parent})

    def correct(self, action: ToolUseId, status: Status) -> None:
        """A call ended otherwise than was told when it was recorded."""
        with self.journal.writing():
            self.journal.append_note({"kind": "status", "id": action, "status": status})

    def mark(self, kind: str, ids: Iterable[str], values: Mapping[str, Any] | None = None) -> None:
        """Remember something about actions: `kept`, `open`, `landed` (with `commits`), …"""
        with self.journal.writing():
            self.journal.append_note({"kind": kind, "ids": list(ids), **(values or {})})

    def _observe(self, hints: Iterable[str] | None, spare: Collection[str]) -> Observation:
        locate = self._observing.locate
        return self._observing.observe(None if hints is None else locate(hints), set(locate(spare)))

    def _record_named(self, actions: Sequence[Action], source: str | None) -> None:
        named = [self._observing.locate(action.paths) for action in actions]
        owners = sharing(actions, named)
        seen = self._observing.observe(list(owners))
        result = attribute(self.site, len(actions), self._shared_paths(actions, owners, seen))
        done: set[int] = set()
        for step in result.steps:
            if step.action is None:
                self.journal.append_outside(step.edits, None)
                continue
            done.add(step.action)
            inside = [actions[a].id for a, b in result.contained.items() if b == step.action]
            skipped = self._skipped(actions[step.action], named[step.action], seen)
            action = actions[step.action]
            self.journal.append_action(action, step.edits, source=source, skipped=skipped, contained=inside)
        for index, action in enumerate(actions):
            if index not in done:
                holder = result.contained.get(index)
                within = actions[holder].id if holder in done else None
                skipped = self._skipped(action, named[index], seen)
                self._note(action, source, skipped=skipped, within=within, paths=named[index])

    def _shared_paths(
        self, actions: Sequence[Action], owners: Mapping[RepoPath, tuple[int, ...]], seen: Observation
    ) -> list[SharedPath]:
        changed = {edit.path: edit for edit in seen.edits}
        found = []
        for path in dict.fromkeys((*owners, *changed)):
            who = owners.get(path, (len(actions) - 1,))
            claims = tuple(claims_about(actions[index], path, self.site.locate) for index in who)
            same = self.timeline.entry(path)
            edit = changed.get(path, Edit(path, same, same))
            found.append(SharedPath(path, edit.before, edit.after, who, claims))
        return found

    def _part_of(self, action: Action, edits: Sequence[Edit]) -> Sequence[Edit]:
        """Of changes that several may have made, those the client says this action made."""
        witness = action.witness
        if witness is None or not witness.complete:
            return edits
        own = set(self._observing.locate(witness.changed))
        return [edit for edit in edits if edit.path in own]

    def _note(
        self,
        action: Action,
        source: str | None,
        *,
        skipped: Sequence[str] = (),
        within: str | None = None,
        paths: Sequence[RepoPath] = (),
    ) -> None:
        paths = paths or self._observing.locate(action.paths)
        within = within or self._holder(action, paths)
        status = "contained" if within else "noop" if action.status == "succeeded" else action.status
        self.journal.append_call(action, status, source=source, skipped=skipped, within=within, paths=paths)

    def _holder(self, action: Action, paths: Sequence[RepoPath]) -> str | None:
        """The action whose record has this one's change too: the client tells of one, the disk shows none."""
        if action.status != "succeeded":
            return None
        for path in paths:
            if claims_a_change(claims_about(action, path, self.site.locate)):
                records = (recorded.record for recorded in self.timeline.touching(path))
                return next((record.action for record in records if record.action), None)
        return None

    def _skipped(self, action: Action, named: Collection[RepoPath], seen: Observation) -> list[str]:
        """Of the paths an action names, those that are not followed, and why."""
        outside = [path for path in action.paths if self.site.locate(path) is None]
        omitted = [render_omitted(omitted) for omitted in seen.omitted if omitted.path in named]
        return [*(f"{path} {Why.OUTSIDE.value}" for path in outside), *omitted]

    def _news(self, seen: Observation) -> list[str]:
        """What a scan leaves out is said once, not after every command."""
        said = [render_omitted(omitted) for omitted in seen.omitted]
        news = [line for line in said if line not in self._said]
        self._said.update(news)
        return news
