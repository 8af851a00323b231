"""Finds the last row of an object without following the object through its rows.

Receives rows behind an object's first. Guesses which is the last by how rows end and begin, and has the
decoder confirm it: no beginning of an object is an object itself, so a guess can fail and never lie. Events
of megabytes come through near the decoder's speed. A guess is repeated only when there is twice as much to
try.
"""

import re
from enum import Enum, auto

from chorus.agents.claude_code.terminal.decoding import parse_object
from chorus.agents.claude_code.terminal.judging import Judge, Place
from chorus.agents.claude_code.terminal.openings import Opening
from chorus.agents.claude_code.terminal.pane_rows import AMBIGUOUS
from chorus.agents.claude_code.terminal.seams import Seams

_BRACE_AND_ROW_END = re.compile(rb"\}\n")


class Guess(Enum):
    RIGHT = auto()
    WRONG = auto()
    NONE_YET = auto()


class Skimmer:
    def __init__(self, seams: Seams, judge: Judge, *, cap: int) -> None:
        self._seams = seams
        self._judge = judge
        self._cap = cap
        # Rows before this position were skimmed in vain: they are followed from now on.
        self._failed_until = 0

    def begin(self, opening: Opening, position: int) -> None:
        """Skim what comes at `position`, if that may help."""
        if self._seams.restores and position >= self._failed_until and not opening.too_long:
            opening.skimmed = []

    def skim(self, opening: Opening, data: bytes, start: int) -> tuple[Guess, int]:
        """Go through `data[start:]`; tell how it went and how far."""
        worth_trying = start + max(0, opening.retry_size - opening.size)
        for found in _BRACE_AND_ROW_END.finditer(data, worth_trying):
            if self._may_end(data, found.start()):
                opening.skim(memoryview(data)[start : found.end()])
                return (Guess.RIGHT if self._take(opening) else Guess.WRONG), found.end()
        opening.skim(memoryview(data)[start:])
        return (Guess.NONE_YET if opening.size <= self._cap else Guess.WRONG), len(data)

    def give_up(self, opening: Opening, until: int) -> bytes:
        """Return the skimmed rows, to be followed after all."""
        self._failed_until = max(self._failed_until, until)
        return opening.unskim()

    def _may_end(self, data: bytes, brace: int) -> bool:
        if data.startswith((b'{"', b"\n", b"\x1b"), brace + 2):
            return True
        row = data[data.rfind(b"\n", 0, brace) + 1 : brace + 1]
        return not self._seams.may_continue((row,), row)

    def _take(self, opening: Opening) -> bool:
        raw = opening.raw()
        restored = self._seams.restore(raw)
        if (
            restored is None
            or restored.problem not in (None, AMBIGUOUS)
            or restored.loose
            or len(raw) > self._cap
        ):
            return False
        text = restored.text[opening.start :]
        value = parse_object(text)
        if value is None:
            return False
        place = Place(opening.positions[0], opening.start, raw[raw.rfind(b"\n") + 1 :])
        if restored.problem is None:
            self._seams.learn(restored)
            self._judge.decoded(text, value, place)
        else:  # another text would look the same; it differs in blanks alone, so it ends here too
            self._judge.object_in_rows(restored, place)
        return True
