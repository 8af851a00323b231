"""A planned change of a file: what a dialog shows of it, and the result afterwards."""

from dataclasses import dataclass
from pathlib import Path

from tests.client_double.file_io import RefusedSymlink, write_bytes
from tests.client_double.patch import Hunk, structured_patch
from tests.client_double.values import Json, Outcome, failure


@dataclass(frozen=True, slots=True)
class Change:
    """`text` is for the model, `result` for hooks and the transcript."""

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
