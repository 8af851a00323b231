"""A tree object as a value: find an entry, and derive a tree with some entries changed.

A wide directory is kept as runs of some hundred entries, so that a change rebuilds only one run.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from chorus.model.ids import Oid

TREE_MODE = 0o040000
FILE_MODE = 0o100644
EXECUTABLE_MODE = 0o100755
SYMLINK_MODE = 0o120000
SUBMODULE_MODE = 0o160000

# The first search for an entry walks its run, and a change copies the list of runs. With 128, both cost less
# than hashing the tree, from ten entries to a hundred thousand.
RUN_ENTRIES = 128

ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


class TreeEntry(NamedTuple):
    """An entry of a tree: a mode as git writes it, and an object id."""

    mode: int
    oid: Oid

    @property
    def is_tree(self) -> bool:
        return self.mode == TREE_MODE


class Run:
    """Neighbouring entries, as bytes.

    The first search scans the bytes. The second search builds a table of positions, which is shared with the
    runs made by `replaced`.
    """

    __slots__ = ("_positions", "raw")

    def __init__(self, raw: bytes, positions: dict[bytes, tuple[int, int]] | None = None) -> None:
        self.raw = raw
        self._positions = positions

    def position(self, name: bytes) -> tuple[int, int] | None:
        """Return the mode of the entry `name`, and the offset of its object id in `raw`, if it exists."""
        if self._positions is None:
            self._positions = {}
            return self._walk_to(name)
        if not self._positions:
            found = ENTRY.finditer(self.raw)
            self._positions.update((entry[2], (int(entry[1], 8), entry.start(3))) for entry in found)
        return self._positions.get(name)

    def _walk_to(self, name: bytes) -> tuple[int, int] | None:
        raw = self.raw
        ending = b" " + name
        start = 0
        while (end := raw.find(b"\0", start)) >= 0:
            # A name may contain blanks: it starts at the first one.
            if raw.endswith(ending, start, end) and raw.find(b" ", start) == end - len(ending):
                return int(raw[start : end - len(ending)], 8), end + 1
            start = end + 21
        return None

    def find(self, name: bytes) -> TreeEntry | None:
        position = self.position(name)
        if position is None:
            return None
        mode, start = position
        return TreeEntry(mode, Oid(self.raw[start : start + 20].hex()))

    def replaced(self, start: int, oid: bytes) -> "Run":
        raw = self.raw
        return Run(raw[:start] + oid + raw[start + 20 :], self._positions)

    def rebuilt(self, changes: Mapping[bytes, bytes | None]) -> list["Run"]:
        """Return the run with entries added, replaced or (None) removed, cut into runs of limited length."""
        pieces = {found[2]: found[0] for found in ENTRY.finditer(self.raw)} | dict(changes)
        ordered = sorted((sort_key(piece), piece) for piece in pieces.values() if piece is not None)
        return make_runs([piece for _, piece in ordered])


class Directory:
    """A tree object in runs of entries. Immutable: a changed copy shares the runs that did not change."""

    __slots__ = ("_firsts", "runs")

    def __init__(self, runs: list[Run], firsts: list[bytes] | None = None) -> None:
        self.runs = runs
        self._firsts = [sort_key(run.raw) for run in runs[1:]] if firsts is None else firsts

    @classmethod
    def parse(cls, raw: bytes) -> "Directory":
        # An entry with a usual name takes at least 30 bytes: no need to count entries in a small tree.
        if len(raw) < RUN_ENTRIES * 30:
            return cls([Run(raw)])
        return cls(make_runs([found[0] for found in ENTRY.finditer(raw)]) or [Run(b"")])

    def render(self) -> bytes:
        return self.runs[0].raw if len(self.runs) == 1 else b"".join(run.raw for run in self.runs)

    def find(self, name: bytes) -> TreeEntry | None:
        if not self._firsts:
            return self.runs[0].find(name)
        run_index = self._run_index(name)
        found = self.runs[run_index].find(name)
        if found is None and (other := self._run_index(name + b"/")) != run_index:
            return self.runs[other].find(name)
        return found

    def entries(self) -> Iterator[tuple[bytes, TreeEntry]]:
        return chain.from_iterable(map(parse_entries, (run.raw for run in self.runs)))

    def locate(self, name: bytes, mode: int) -> tuple[int, int] | None:
        """Return the index in `runs` of the entry's run, and the offset of its object id in the run's bytes.

        None if there is no entry of this name and mode.
        """
        number = self._run_index(name + b"/" if mode == TREE_MODE else name) if self._firsts else 0
        found = self.runs[number].position(name)
        return (number, found[1]) if found is not None and found[0] == mode else None

    def oid_at(self, position: tuple[int, int]) -> Oid:
        number, start = position
        return Oid(self.runs[number].raw[start : start + 20].hex())

    def replaced(self, position: tuple[int, int], oid: bytes) -> "Directory":
        """The directory with the object id `oid` at `position`, which `locate` returned."""
        number, start = position
        runs = self.runs.copy()
        runs[number] = runs[number].replaced(start, oid)
        return Directory(runs, self._firsts)

    def changed(self, changes: Mapping[bytes, TreeEntry | None]) -> "Directory":
        """The directory with entries added, replaced or (None) removed."""
        by_run: dict[int, dict[bytes, bytes | None]] = {}
        for name, entry in changes.items():
            # The old entry may be a file and the new one a directory, which sort differently.
            for run_index in (self._run_index(name), self._run_index(name + b"/")):
                by_run.setdefault(run_index, {})[name] = None
            if entry is not None:
                run_index = self._run_index(name + b"/" if entry.is_tree else name)
                by_run[run_index][name] = render_entry(name, entry)
        runs = [
            run.rebuilt(by_run[run_index]) if run_index in by_run else [run]
            for run_index, run in enumerate(self.runs)
        ]
        return Directory(list(chain.from_iterable(runs)) or [Run(b"")])

    def _run_index(self, key: bytes) -> int:
        return bisect_right(self._firsts, key)


def render_entry(name: bytes, entry: TreeEntry) -> bytes:
    return b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid))


def parse_entries(raw: bytes) -> Iterator[tuple[bytes, TreeEntry]]:
    for mode, name, oid in ENTRY.findall(raw):
        yield name, TreeEntry(int(mode, 8), Oid(oid.hex()))


def sort_key(raw: bytes) -> bytes:
    mode, _, rest = raw.partition(b" ")
    name = rest[: rest.index(b"\0")]
    return name + b"/" if mode == b"40000" else name


def make_runs(pieces: list[bytes]) -> list[Run]:
    whole = len(pieces) <= 2 * RUN_ENTRIES
    step = max(len(pieces), 1) if whole else RUN_ENTRIES
    return [Run(b"".join(pieces[start : start + step])) for start in range(0, len(pieces), step)]


def unshared(one: Directory, other: Directory) -> tuple[Iterable[bytes], Iterable[bytes]]:
    """For each directory, the runs that the other directory lacks.

    These runs contain all entries that differ.
    """
    here, there = ({run.raw for run in directory.runs} for directory in (one, other))
    return here - there, there - here
