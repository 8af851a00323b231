"""Parse a unified diff, as git prints it, into lines with kinds and line numbers, and pair them side by side.

The counts in a hunk's header decide where the hunk ends. So a removed line `-- a/file` is not taken for a
file header.
"""

import re
from dataclasses import dataclass

# A longer diff is cut; `chorus show` prints it whole.
MAX_LINES = 20_000

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_NOISE = ("index ", "similarity index", "dissimilarity index")


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff. `kind`: file, hunk, context, added, removed or header (such as a rename)."""

    kind: str
    text: str
    old: int | None = None
    new: int | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    lines: tuple[DiffLine, ...]
    left_out: int = 0

    def count(self, kind: str) -> int:
        return sum(line.kind == kind for line in self.lines)

    def first_changed_line(self) -> int:
        """Return the line at which an editor should open the file."""
        last = 1
        for line in self.lines:
            if line.kind in {"added", "removed"}:
                return line.new or last
            last = line.new or last
        return 1


def parse_patch(text: str) -> Patch:
    if not text:
        return Patch(())
    raw = text.removesuffix("\n").split("\n", MAX_LINES)
    left_out = raw.pop().count("\n") + 1 if len(raw) > MAX_LINES else 0
    reader = _Reader()
    for line in raw:
        reader.feed(line)
    return Patch(tuple(reader.lines), left_out)


def plan_pairs(lines: tuple[DiffLine, ...]) -> list[tuple[DiffLine | None, DiffLine | None]]:
    """Pair lines side by side: removed on the left, added on the right, everything else on both."""
    pairs: list[tuple[DiffLine | None, DiffLine | None]] = []
    removed: list[DiffLine] = []
    added: list[DiffLine] = []

    def flush() -> None:
        for index in range(max(len(removed), len(added))):
            left = removed[index] if index < len(removed) else None
            pairs.append((left, added[index] if index < len(added) else None))
        removed.clear()
        added.clear()

    for line in lines:
        match line.kind:
            case "removed":
                if added:
                    flush()
                removed.append(line)
            case "added":
                added.append(line)
            case _:
                flush()
                pairs.append((line, line))
    flush()
    return pairs


def changed_span(old: str, new: str) -> tuple[int, int, int]:
    """Return where two lines differ: start of the difference, its end in `old`, its end in `new`."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, len(old) - end, len(new) - end


class _Reader:
    def __init__(self) -> None:
        self.lines: list[DiffLine] = []
        self._old = self._new = 0
        self._old_left = self._new_left = 0

    def feed(self, line: str) -> None:
        if self._old_left > 0 or self._new_left > 0:
            self._in_hunk(line)
        elif found := _HUNK.match(line):
            self._old, self._new = int(found[1]), int(found[3])
            self._old_left, self._new_left = int(found[2] or 1), int(found[4] or 1)
            self.lines.append(DiffLine("hunk", found[5], self._old, self._new))
        else:
            self._header(line)

    def _in_hunk(self, line: str) -> None:
        sign, text = line[:1], line[1:]
        if sign == "\\":
            self.lines.append(DiffLine("header", text.strip()))
            return
        kind = {"+": "added", "-": "removed"}.get(sign, "context")
        old = self._old if kind != "added" else None
        self.lines.append(DiffLine(kind, text, old, self._new if kind != "removed" else None))
        if kind != "added":
            self._old, self._old_left = self._old + 1, self._old_left - 1
        if kind != "removed":
            self._new, self._new_left = self._new + 1, self._new_left - 1

    def _header(self, line: str) -> None:
        if line.startswith("diff --git "):
            self.lines.append(DiffLine("file", _path_of(line.removeprefix("diff --git "))))
        elif line.startswith("+++ ") and not (self.lines and self.lines[-1].kind in {"file", "header"}):
            self.lines.append(DiffLine("file", line.removeprefix("+++ ").removeprefix("b/")))
        elif line.startswith(("--- ", "+++ ", *_NOISE)) or not line:
            return
        else:
            self.lines.append(DiffLine("header", line.removeprefix("\\").strip()))


def _path_of(names: str) -> str:
    """Return the new name in `a/NAME b/NAME`. If both names are equal, the text is split in the middle."""
    middle = len(names) // 2
    if names[middle : middle + 1] == " " and names[2:middle] == names[middle + 3 :]:
        return names[2:middle]
    return names.rpartition(" b/")[2] or names
