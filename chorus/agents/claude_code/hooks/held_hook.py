"""One hook that waits for what a person decides: the way its answer takes."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson


@dataclass(slots=True)
class HeldHook:
    """A hook that waits for a decision. If the agent dies, the pipe ends and so does the wait."""

    _fifo: Path
    _descriptor: int

    def answer(self, answer: dict[str, Any]) -> None:
        os.write(self._descriptor, orjson.dumps(answer) + b"\n")

    def close(self) -> None:
        """Nobody waits for this hook any more: it ends without a word, if it has not ended."""
        os.close(self._descriptor)
        self._fifo.unlink(missing_ok=True)
