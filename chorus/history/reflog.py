"""The reflog of HEAD: the steps from one commit to another, in git's own words.

Receives the two ends, gives the steps between them, or None where the reflog does not tell. Reads only
its last part. Never writes one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chorus.model.ids import Oid
from chorus.store.refs import NO_OID

# Some 300 lines: more moves than happen between two looks.
TAIL_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Step:
    old: Oid | None
    new: Oid | None
    reason: str

    @property
    def writes(self) -> bool:
        """Whether git may have written files: `commit`, `commit (amend)` and the like write none."""
        return not self.reason.startswith("commit")


def read_steps(git_dir: Path, start: Oid | None, end: Oid | None) -> list[Step] | None:
    """The steps that led from `start` to `end`, oldest first."""
    try:
        with (git_dir / "logs" / "HEAD").open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        return None
    steps = list(parse_steps(lines[1 if size > TAIL_BYTES else 0 :]))
    if not steps or steps[-1].new != end:
        return None
    starts = [place for place, step in enumerate(steps) if step.old == start]
    return steps[starts[-1] :] if starts else None


def parse_steps(lines: list[str]) -> Iterator[Step]:
    """`OLD NEW who seconds zone<TAB>words`"""
    for line in lines:
        head, _, words = line.partition("\t")
        old, new, *_ = *head.split(" ", 2), "", ""
        if len(old) == len(new) == len(NO_OID):
            yield Step(None if old == NO_OID else Oid(old), None if new == NO_OID else Oid(new), words)
