"""Whether what was found is given as a document, or counted.

Receives the text of objects with the place they were found at, and rows in which none was. Gives documents to
`give`, counts everything else in `problems`. Never gives a part of a larger object, and gives a text that may
differ from what was printed only when asked to, marked as such.
"""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chorus.agents.claude_code.terminal.decoding import parse_object, parse_odd_object
from chorus.agents.claude_code.terminal.openings import Wreck
from chorus.agents.claude_code.terminal.pane_rows import AMBIGUOUS
from chorus.agents.claude_code.terminal.seams import Restored, Seams

# Text, value, and whether the text is surely what was printed.
Give = Callable[[bytes, dict[str, Any], bool], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object was found: the position of its first row, where in it, and its last row."""

    position: int
    start: int
    last_row: bytes


class Judge:
    def __init__(self, seams: Seams, give: Give, problems: Counter[str], *, doubtful: bool) -> None:
        self.give = give
        self.wreck = Wreck()
        self._seams = seams
        self._problems = problems
        self._doubtful = doubtful
        # The rows of noise right above, as many as the seams look at.
        self._above: deque[bytes] = deque(maxlen=2)
        self._begun = False

    @property
    def is_calm(self) -> bool:
        """Whether an object that fills a row can only be a document: no noise above, nothing broken off."""
        return self._begun and not self._above and not self.wreck.until

    def begun(self) -> None:
        """An object begins: from here on, a row that ends in a brace is no longer the source's torn first."""
        self._begun = True

    def noise(self, row: bytes, position: int) -> None:
        if not row or row.isspace():
            self._above.clear()
            return
        self._above.append(row)
        if position >= self.wreck.until:  # else it is counted with the object that broke off here
            torn = not self._begun and row.endswith(b"}") and not row.startswith(b"{")
            self._problems["cut-off" if torn else "noise"] += 1

    def object_in_row(self, text: bytes, place: Place) -> None:
        value = parse_object(text)
        if value is None:
            value = parse_odd_object(text)
        if value is None:
            self._problems["malformed"] += 1
        else:
            self.decoded(text, value, place)

    def object_in_rows(self, restored: Restored | None, place: Place) -> None:
        if self._is_claim(place) and (restored is None or restored.problem is not None):
            return
        if restored is None:
            self._problems["unknown-width"] += 1
            self._above.clear()
            return
        self._seams.learn(restored)
        text = restored.text[place.start :]
        if restored.problem is None:
            self.object_in_row(text, place)
            return
        self._problems[restored.problem] += 1
        value = parse_object(text) if restored.problem == AMBIGUOUS and self._doubtful else None
        if value is not None:
            self.decoded(text, value, place, exact=False)

    def decoded(self, text: bytes, value: dict[str, Any], place: Place, *, exact: bool = True) -> None:
        self._begun = True
        if not self._is_part(value, place):
            self._above.clear()
            self.give(text, value, exact)

    def _is_part(self, value: dict[str, Any], place: Place) -> bool:
        """Whether the object may be a part of a larger one, of which the rest is not known."""
        if isinstance(value.get("uuid"), str):
            return False  # only the client's own events carry one
        if self._is_claim(place):
            return True
        if place.position < self.wreck.until:
            # Read before as part of the object that broke off, and that reading was not refuted here.
            doubt = not self.wreck.is_sure(place.position, place.start)
        else:
            doubt = self._seams.may_continue(self._above, place.last_row)
        if doubt:
            self._problems[AMBIGUOUS] += 1
        return doubt

    def _is_claim(self, place: Place) -> bool:
        """Whether it was found inside an object that broke off, and is counted with that one."""
        return (place.position, place.start) in self.wreck.claims
