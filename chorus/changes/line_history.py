"""Track which lines of each action are still in a file, by position.

Every line has a place. A place keeps each content that it has held, like an editor's undo history. An outside
change makes an action's line gone in two cases: it removes the line, or it returns the line's place to a
content from before the action. A line that was rewritten or moved is not gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from chorus.changes.diff import Hunk, hunks_of_lines

# Larger stretches of changed lines are not searched for earlier states: they count as rewritten.
MAX_ALIGNED_CELLS = 250_000


class FileVersion(NamedTuple):
    """One version of a file. `kind` is None if there is no file.

    Otherwise `kind` contains the mode, and a flag if the final newline is missing. For a file without lines
    (binary, link), it also contains the id of the content.
    """

    kind: str | None
    lines: Sequence[bytes] = ()


class LineCounts(NamedTuple):
    """The number of lines that an action changed, and how many of them are gone."""

    gone: int
    changed: int


class Presence(Enum):
    HERE = "here"
    GONE = "gone"
    AWAY = "away"  # another branch is checked out
    REVERTED = "reverted"


@dataclass(slots=True)
class State:
    """One of the contents that a place has had. `value` is None if there is no line or no file."""

    value: bytes | None
    version: int = -1  # the first version with it; -1: before the first one, or before the place existed
    owner: str | None = None  # the action; None: somebody else
    presence: Presence = Presence.HERE
    parent: int = -1  # the index of the state that it replaced in its place


@dataclass(slots=True)
class Place:
    """The place of one line, with all its states, oldest first.

    `current` is the index of the current state; -1: the line was removed. The states form a tree
    (`State.parent`).
    """

    states: list[State]
    current: int = 0

    @property
    def value(self) -> bytes | None:
        return self.states[self.current].value if self.current >= 0 else None

    def add(self, state: State) -> None:
        state.parent = self.current
        self.states.append(state)
        self.current = len(self.states) - 1

    def go_to(self, level: int, lost: Presence) -> None:
        """Make the state at `level` the current one; -1 removes the line.

        The new state and its ancestors become HERE. Other states that were HERE get the presence `lost`.

        There is an exception if the new state was REVERTED and `lost` is GONE. Then the old state becomes
        GONE even if it is an ancestor of the new state. Reason: the log still shows the action of the new
        state as reverted.
        """
        is_reverted = level >= 0 and self.states[level].presence is Presence.REVERTED
        replaced = self.current if is_reverted and lost is Presence.GONE else -1
        here = {level, *self._ancestors(level)} - {replaced}
        for index, state in enumerate(self.states):
            if index in here:
                state.presence = Presence.HERE
            elif state.presence is Presence.HERE:
                state.presence = lost
        self.current = level

    def restore(self, level: int) -> None:
        """Make the state at `level` the current one, by `go_to` with REVERTED.

        If the current state has the same content, it stays current, and the state at `level` only becomes
        HERE.
        """
        if level != self.current and self.states[level].value == self.value:
            self.states[level].presence = Presence.HERE
        elif level != self.current:
            self.go_to(level, Presence.REVERTED)

    def find(self, value: bytes | None) -> int | None:
        """Return the index of another state with this content; None if there is none.

        Ancestors of the current state are preferred.
        """
        below = self._ancestors(self.current)
        after = (index for index in range(self.current + 1, len(self.states)))
        before = (index for index in reversed(range(self.current)) if index not in below)
        order = (*below, *after, *before)
        return next((index for index in order if self.states[index].value == value), None)

    def _ancestors(self, level: int) -> list[int]:
        found: list[int] = []
        while level >= 0 and (level := self.states[level].parent) >= 0:
            found.append(level)
        return found

    def set(self, value: bytes, lost: Presence) -> None:
        """Go to a state with this content. Do nothing if the current state has it, or if no state has it."""
        level = None if self.value == value else self.find(value)
        if level is not None:
            self.go_to(level, lost)

    def remove(self, lost: Presence) -> None:
        empty = (index for index in self._ancestors(self.current) if self.states[index].value is None)
        self.go_to(next(empty, -1), lost)


@dataclass(slots=True)
class LineHistory:
    """The history of the lines of one file."""

    versions: list[FileVersion]
    places: list[Place] = field(default_factory=list)
    file: Place = field(default_factory=lambda: Place([]))
    _states: dict[str, list[State]] = field(default_factory=dict)  # of lines, by action
    _file_states: dict[str, list[State]] = field(default_factory=dict)
    _earlier: dict[str, list[list[State]]] = field(default_factory=dict)  # from before a redo, by action

    @classmethod
    def start(cls, version: FileVersion) -> "LineHistory":
        places = [Place([State(line)]) for line in version.lines]
        return cls([version], places, Place([State(_encode(version.kind))]))

    def add_action(self, action: str, version: FileVersion) -> None:
        """Add a version that an action made."""
        number = len(self.versions)
        indexes = self._indexes()
        for hunk in reversed(self._hunks(version)):
            added = version.lines[hunk.after_start : hunk.after_end]
            removed = indexes[hunk.before_start : hunk.before_end]
            for index, place in enumerate(removed):
                value = added[index] if index < len(added) else None
                self.places[place].add(self._own(action, State(value, number, action)))
            new = [
                _new_place(self._own(action, State(line, number, action))) for line in added[len(removed) :]
            ]
            end = indexes[hunk.before_end]
            self.places[end:end] = new
        if version.kind != self.versions[-1].kind:
            state = State(_encode(version.kind), number, action)
            self.file.add(state)
            self._file_states[action] = [state]
        self.versions.append(version)

    def redo(self, action: str, version: FileVersion) -> None:
        """Add a version in which a reverted action is redone.

        If restoring the action's states does not give exactly this version's lines, the version counts as a
        new change by the action.
        """
        own = {id(state) for state in self._states.get(action, ())}
        levels = [
            next((level for level, state in enumerate(place.states) if id(state) in own), place.current)
            for place in self.places
        ]
        values = [
            place.states[level].value if level >= 0 else None
            for place, level in zip(self.places, levels, strict=True)
        ]
        if [value for value in values if value is not None] == list(version.lines):
            for place, level in zip(self.places, levels, strict=True):
                place.restore(level)
            self._change_file(version, Presence.REVERTED)
            self.versions.append(version)
            return
        self._earlier.setdefault(action, []).append(self._states_of(action))
        self._states.pop(action, None)
        self._file_states.pop(action, None)
        self.add_action(action, version)

    def add_other(self, version: FileVersion, lost: Presence = Presence.GONE) -> None:
        """Add a version made by an outside change or a revert. Removed lines get the presence `lost`."""
        if not self._return(version, lost):
            self._change(version, lost)
            self._change_file(version, lost)
        self.versions.append(version)

    def count(self, action: str) -> LineCounts:
        """Count an action's lines, and those that are gone.

        A change of the file's kind alone counts as one line. A redo may give the action another set of
        states. Then only the set with the most lines in the file is counted.
        """
        candidates = [self._states_of(action), *self._earlier.get(action, ())]
        states = max(candidates, key=lambda each: sum(state.presence is Presence.HERE for state in each))
        gone = [state.presence is Presence.GONE for state in states]
        return LineCounts(sum(gone), len(gone))

    @property
    def actions(self) -> list[str]:
        return list(dict.fromkeys((*self._states, *self._file_states)))

    def _states_of(self, action: str) -> list[State]:
        return self._states.get(action) or self._file_states.get(action, [])

    def _own(self, action: str, state: State) -> State:
        self._states.setdefault(action, []).append(state)
        return state

    def _hunks(self, version: FileVersion) -> list[Hunk]:
        return hunks_of_lines(self.versions[-1].lines, version.lines)

    def _indexes(self) -> list[int]:
        """Return the index in `places` of each current line, then the number of places."""
        live = [
            index for index, place in enumerate(self.places)
            if place.current >= 0 and place.states[place.current].value is not None
        ]  # fmt: skip
        return [*live, len(self.places)]

    def _return(self, version: FileVersion, lost: Presence) -> bool:
        """Set every place back to its state in an earlier version that equals `version`.

        Return whether such a version was found.

        If `lost` is REVERTED, a place that already has the right content keeps its state.
        """
        for number in reversed(range(len(self.versions))):
            if self.versions[number] == version:
                levels = [_level_at(place, number) for place in self.places]
                values = (place.states[level].value for place, level in zip(self.places, levels, strict=True))
                if [value for value in values if value is not None] == list(version.lines):
                    for place, level in zip(self.places, levels, strict=True):
                        if lost is not Presence.REVERTED or place.states[level].value != place.value:
                            place.go_to(level, lost)
                    self._change_file(version, lost)
                    return True
        return False

    def _change(self, version: FileVersion, lost: Presence) -> None:
        indexes = self._indexes()
        plans: list[tuple[int, int, Sequence[bytes], dict[int, int]]] = []
        for hunk in self._hunks(version):
            start = indexes[hunk.before_start - 1] + 1 if hunk.before_start else 0
            end = indexes[hunk.before_end]
            lines = version.lines[hunk.after_start : hunk.after_end]
            plans.append((start, end, lines, align(self.places[start:end], lines)))
        new = {
            line
            for _, _, lines, pairs in plans
            for position, line in enumerate(lines)
            if position not in pairs.values() and line.strip()
        }
        for start, end, lines, pairs in reversed(plans):
            self.places[start:end] = self._apply(self.places[start:end], lines, pairs, new, lost)

    def _apply(
        self,
        places: Sequence[Place],
        lines: Sequence[bytes],
        pairs: dict[int, int],
        new: set[bytes],
        lost: Presence,
    ) -> list[Place]:
        """Put the lines into these places. Return the places, with new places for the lines left over.

        `pairs` maps the index of a place to the index of the line that returns to this place. `new`: the
        lines that return to no place. A removed line that equals one of the `new` lines was moved, and is not
        gone.
        """
        number = len(self.versions)
        rewritten = len(pairs) < len(lines)
        result: list[Place] = []
        position = 0
        for index, place in enumerate(places):
            result.append(place)
            if index in pairs:
                before = lines[position : pairs[index]]
                result[-1:] = [*(_new_place(State(line, number)) for line in before), place]
                place.set(lines[pairs[index]], lost)
                position = pairs[index] + 1
            elif place.value is None:
                continue
            elif rewritten and position < min((p for i, p in pairs.items() if i > index), default=len(lines)):
                place.add(State(lines[position], number))
                position += 1
            elif rewritten or place.value in new:
                place.add(State(None, number))
            else:
                place.remove(lost)
        return result + [_new_place(State(line, number)) for line in lines[position:]]

    def _change_file(self, version: FileVersion, lost: Presence) -> None:
        value = _encode(version.kind)
        if value == self.file.value:
            return
        level = self.file.find(value)
        if level is not None:
            self.file.go_to(level, lost)
        elif value is None:
            self.file.go_to(-1, lost)
        else:
            self.file.add(State(value, len(self.versions)))


def align(places: Sequence[Place], lines: Sequence[bytes]) -> dict[int, int]:
    """Match lines with places. A line may match any place that has held the same text.

    Return a map from indexes of places to indexes of lines. Both are in ascending order, and as many lines as
    possible are matched. The map is empty if there are too many places and lines to compare.
    """
    if not places or not lines or len(places) * len(lines) > MAX_ALIGNED_CELLS:
        return {}
    known = [{state.value for state in place.states} for place in places]
    best = [[0] * (len(lines) + 1) for _ in range(len(places) + 1)]
    for i in reversed(range(len(places))):
        for j in reversed(range(len(lines))):
            skip = max(best[i + 1][j], best[i][j + 1])
            best[i][j] = max(skip, best[i + 1][j + 1] + 1) if lines[j] in known[i] else skip
    pairs: dict[int, int] = {}
    i = j = 0
    while i < len(places) and j < len(lines):
        if lines[j] in known[i] and best[i][j] == best[i + 1][j + 1] + 1:
            pairs[i] = j
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _new_place(state: State) -> Place:
    place = Place([State(None)])
    place.add(state)
    return place


def _level_at(place: Place, number: int) -> int:
    """Return the index of the newest state that a place had in version `number`."""
    return max(index for index, state in enumerate(place.states) if state.version <= number)


def _encode(kind: str | None) -> bytes | None:
    return None if kind is None else kind.encode()
