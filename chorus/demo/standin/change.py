"""A file about to be written: what a dialog shows of it, and what the result says afterwards."""

from dataclasses import dataclass
from pathlib import Path

from chorus.demo.standin.patch import Hunk, structured_patch
from chorus.demo.standin.values import Json, Outcome, failure
from chorus.demo.standin.writing import RefusedSymlink, write_bytes


@dataclass(frozen=True, slots=True)
class Change:
    """`text` is what the model reads, `result` what the client keeps."""

    path: Path
    before: str | None
    after: str
    data: bytes
    text: str
    result: Json

    @property
    def patch(self) -> list[Hunk]:
        return structured_patch(self.before or "", self.after)

    def apply(self) -> Outcome:
        try:
            write_bytes(self.path, self.data)
        except (OSError, RefusedSymlink) as error:
            return failure(str(error), tagged=False)
        return Outcome(self.text, self.result)
