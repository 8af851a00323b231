"""One tree object as a value: find an entry, and make the tree that differs in some of them.

Receives and gives the bytes git stores, in git's order (a directory sorts as if its name ended in "/").
Never reads or writes a store. A wide directory is kept as runs of some hundred entries, so that one
change looks at one run, whatever the width.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

from chorus.core.ids import Oid

TREE_MODE = 0o040000
FILE_MODE = 0o100644
EXECUTABLE_MODE = 0o100755
SYMLINK_MODE = 0o120000
SUBMODULE_MODE = 0o160000

# Finding an entry for the first time walks its run; a change copies the list of runs. 128 keeps both
# below the cost of hashing the tree, from ten entries to a hundred thousand.
RUN_ENTRIES = 128

ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a name stands for: a mode as git writes it, and an object."""

    mode: int
    oid: Oid

    @property
    def is_tree(self) -> bool:
        return self.mode == TREE_MODE


class Run:
    """Some neighbouring entries, as bytes. Where each name starts is found once, and shared by the runs
    made from this one as long as nothing moves."""

    __slots__ = ("_starts", "raw")

    def __init__(self, raw: bytes, starts: dict[bytes, int] | None = None) -> None:
        self.raw = raw
        self._starts = starts

    @property
    def starts(self) -> dict[bytes, int]:
        if self._starts is None:
            self._starts = {found[2]: found.start() for found in ENTRY.finditer(self.raw)}
        return self._starts

    def find(self, name: bytes) -> Entry | None:
        start = self.starts.get(name)
        if start is None:
            return None
        mode, _, rest = self.raw[start : start + len(name) + 28].partition(b" ")
        return Entry(int(mode, 8), Oid(rest[len(name) + 1 : len(name) + 21].hex()))

    def replaced(self, name: bytes, entry: bytes) -> "Run | None":
        """The run with the entry of that name replaced; None if the new bytes do not fit its place."""
        start = self.starts.get(name)
        if start is None:
            return None
        end = start + len(entry)
        if self.raw[start : end - 20] != entry[:-20]:
            return None
        return Run(self.raw[:start] + entry + self.raw[end:], self._starts)

    def rebuilt(self, changes: Mapping[bytes, bytes | None]) -> list["Run"]:
        """The runs with these names removed (None), replaced or added, in order."""
        pieces = {found[2]: found[0] for found in ENTRY.finditer(self.raw)} | dict(changes)
        ordered = sorted((sort_key(piece), piece) for piece in pieces.values() if piece is not None)
        return cut([piece for _, piece in ordered])


class Directory:
    """Immutable; a changed directory shares the runs that did not change."""

    __slots__ = ("_firsts", "runs")

    def __init__(self, runs: list[Run], firsts: list[bytes] | None = None) -> None:
        self.runs = runs
        self._firsts = firsts or [sort_key(run.raw) for run in runs[1:]]

    @classmethod
    def parse(cls, raw: bytes) -> "Directory":
        # 30 bytes is the least an entry of a usual name takes: no need to count them in a small tree.
        if len(raw) < RUN_ENTRIES * 30:
            return cls([Run(raw)])
        return cls(cut([found[0] for found in ENTRY.finditer(raw)]) or [Run(b"")])

    def render(self) -> bytes:
        return self.runs[0].raw if len(self.runs) == 1 else b"".join(run.raw for run in self.runs)

    def find(self, name: bytes) -> Entry | None:
        place = self._place(name)
        found = self.runs[place].find(name)
        if found is None and (other := self._place(name + b"/")) != place:
            return self.runs[other].find(name)
        return found

    def entries(self) -> Iterator[tuple[bytes, Entry]]:
        return chain.from_iterable(map(parse_entries, (run.raw for run in self.runs)))

    def changed(self, changes: Mapping[bytes, Entry | None]) -> "Directory":
        """The directory with these names removed (None), replaced or added."""
        if len(changes) == 1:
            ((name, entry),) = changes.items()
            if entry is not None and (same := self._replaced(name, render_entry(name, entry))):
                return same
        by_run: dict[int, dict[bytes, bytes | None]] = {}
        for name, entry in changes.items():
            # The old entry may be a file and the new one a directory, which sort apart.
            for place in (self._place(name), self._place(name + b"/")):
                by_run.setdefault(place, {})[name] = None
            if entry is not None:
                place = self._place(name + b"/" if entry.is_tree else name)
                by_run[place][name] = render_entry(name, entry)
        runs = [
            run.rebuilt(by_run[place]) if place in by_run else [run] for place, run in enumerate(self.runs)
        ]
        return Directory(list(chain.from_iterable(runs)) or [Run(b"")])

    def _replaced(self, name: bytes, entry: bytes) -> "Directory | None":
        key = name + b"/" if entry.startswith(b"4") else name
        place = self._place(key)
        run = self.runs[place].replaced(name, entry)
        if run is None:
            return None
        return Directory([*self.runs[:place], run, *self.runs[place + 1 :]], self._firsts)

    def _place(self, key: bytes) -> int:
        return bisect_right(self._firsts, key)


def render_entry(name: bytes, entry: Entry) -> bytes:
    return b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.oid))


def parse_entries(raw: bytes) -> Iterator[tuple[bytes, Entry]]:
    for mode, name, oid in ENTRY.findall(raw):
        yield name, Entry(int(mode, 8), Oid(oid.hex()))


def sort_key(raw: bytes) -> bytes:
    """Of the first entry in `raw`."""
    mode, _, rest = raw.partition(b" ")
    name = rest[: rest.index(b"\0")]
    return name + b"/" if mode == b"40000" else name


def cut(pieces: list[bytes]) -> list[Run]:
    """Entries in order, joined into runs."""
    whole = len(pieces) <= 2 * RUN_ENTRIES
    step = max(len(pieces), 1) if whole else RUN_ENTRIES
    return [Run(b"".join(pieces[start : start + step])) for start in range(0, len(pieces), step)]


def unshared(one: Directory, other: Directory) -> tuple[Iterable[bytes], Iterable[bytes]]:
    """The runs each has and the other has not: every entry that differs is in them."""
    here, there = ({run.raw for run in directory.runs} for directory in (one, other))
    return here - there, there - here
