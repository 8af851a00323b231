"""Changes given to the actions that made them, and recorded.

Receives actions and what was seen on disk. Puts each action's own edits on timeline and lane, what nobody
claims before them as outside, and notes the calls for which nothing is left. The caller holds the lock.
Never gives one edit to two actions.
"""

from collections.abc import Collection, Mapping, Sequence

from chorus.core.actions import Action
from chorus.core.ids import RepoPath
from chorus.git.filestate import Why
from chorus.lanes.attribution import SharedPath, attribute, claims_a_change, claims_about, sharing
from chorus.lanes.journal import Journal
from chorus.lanes.observing import Observation, Observing, render_omitted
from chorus.lanes.records import Edit

OTHERS_RAN = "other calls ran at the same time"


class Ascribing:
    def __init__(self, journal: Journal, observing: Observing) -> None:
        self._journal = journal
        self._site = journal.site
        self._observing = observing
        self._said: set[str] = set()

    def record_named(
        self, actions: Sequence[Action], source: str | None, busy: Collection[RepoPath] = ()
    ) -> None:
        """Record actions, oldest first, that are not recorded yet and write only the paths they name.

        `busy`: paths that calls which are not over name too.
        """
        actions = self._without_contained(actions, source)
        named = [self._observing.locate(action.paths) for action in actions]
        owners = sharing(actions, named)
        seen = self._observing.observe(list(owners))
        result = attribute(self._site, len(actions), self._shared_paths(actions, owners, seen, busy))
        done: set[int] = set()
        for step in result.steps:
            if step.action is None:
                self._journal.append_outside(step.edits, None)
                continue
            done.add(step.action)
            inside = [actions[a].id for a, b in result.contained.items() if b == step.action]
            skipped = self._skipped(actions[step.action], named[step.action], seen)
            action = actions[step.action]
            self._journal.append_action(action, step.edits, source=source, skipped=skipped, contained=inside)
        for index, action in enumerate(actions):
            if index not in done:
                holder = result.contained.get(index)
                within = actions[holder].id if holder in done else None
                skipped = self._skipped(action, named[index], seen)
                self.note(action, source, skipped=skipped, within=within, paths=named[index])

    def record_window(self, action: Action, seen: Observation, source: str | None, *, shared: bool) -> None:
        """Record what was seen to have moved while an action ran. `shared`: others ran too."""
        edits = self._part_of(action, seen.edits) if shared else seen.edits
        skipped = self._news(seen)
        if edits:
            reason = OTHERS_RAN if shared else None
            self._journal.append_action(action, edits, source=source, skipped=skipped, reason=reason)
        else:
            self.note(action, source, skipped=skipped)

    def _without_contained(self, actions: Sequence[Action], source: str | None) -> list[Action]:
        """Note those whose change a record already holds: its writer died before it could say so."""
        rest = []
        for action in actions:
            holder = self._journal.timeline.find_action(action.id)
            if holder is None:
                rest.append(action)
            else:
                self.note(action, source, within=holder.record.action)
        return rest

    def _shared_paths(
        self,
        actions: Sequence[Action],
        owners: Mapping[RepoPath, tuple[int, ...]],
        seen: Observation,
        busy: Collection[RepoPath],
    ) -> list[SharedPath]:
        changed = {edit.path: edit for edit in seen.edits}
        found = []
        for path in dict.fromkeys((*owners, *changed)):
            who = owners.get(path, (len(actions) - 1,))
            claims = tuple(claims_about(actions[index], path, self._site.locate) for index in who)
            same = self._journal.timeline.entry(path)
            edit = changed.get(path, Edit(path, same, same))
            found.append(SharedPath(path, edit.before, edit.after, who, claims, path in busy))
        return found

    def _part_of(self, action: Action, edits: Sequence[Edit]) -> Sequence[Edit]:
        """Of changes that several may have made, those the client says this action made."""
        witness = action.witness
        if witness is None or not witness.complete:
            return edits
        own = set(self._observing.locate(witness.changed))
        return [edit for edit in edits if edit.path in own]

    def note(
        self,
        action: Action,
        source: str | None,
        *,
        skipped: Sequence[str] = (),
        within: str | None = None,
        paths: Sequence[RepoPath] = (),
    ) -> None:
        """Remember a call that changed nothing, or nothing that another's record does not hold."""
        paths = paths or self._observing.locate(action.paths)
        within = within or self._holder(action, paths)
        status = "contained" if within else "noop" if action.status == "succeeded" else action.status
        self._journal.append_call(action, status, source=source, skipped=skipped, within=within, paths=paths)

    def _holder(self, action: Action, paths: Sequence[RepoPath]) -> str | None:
        """The action whose record has this one's change too: the client tells of one, the disk shows none."""
        if action.status != "succeeded":
            return None
        for path in paths:
            if claims_a_change(claims_about(action, path, self._site.locate)):
                records = (recorded.record for recorded in self._journal.timeline.touching(path))
                return next((record.action for record in records if record.action), None)
        return None

    def _skipped(self, action: Action, named: Collection[RepoPath], seen: Observation) -> list[str]:
        """Of the paths an action names, those that are not followed, and why."""
        outside = [path for path in action.paths if self._site.locate(path) is None]
        omitted = [render_omitted(omitted) for omitted in seen.omitted if omitted.path in named]
        return [*(f"{path} {Why.OUTSIDE.value}" for path in outside), *omitted]

    def _news(self, seen: Observation) -> list[str]:
        """What a scan leaves out is said once, not after every command."""
        said = [render_omitted(omitted) for omitted in seen.omitted]
        news = [line for line in said if line not in self._said]
        self._said.update(news)
        return news
