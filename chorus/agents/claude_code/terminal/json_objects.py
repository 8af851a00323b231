"""JSON objects in text that comes in pieces: find where one ends, and decode it.

`ObjectScan` looks at each byte once. It does not check the digits of `\\uXXXX` escapes or the inside of
numbers and literals, so an object that it calls complete must still be decoded.
"""

import json
import re
from enum import Enum, auto
from typing import Any, NoReturn

import orjson

# orjson refuses deeper nesting.
MAX_DEPTH = 1024

_IN_STRING = re.compile(rb'[^"\\\x00-\x1f]*+(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*+)*+')
_BARE = re.compile(rb"[-+.0-9A-Za-z]*+")
_BLANKS = re.compile(rb"[ \t]*+")
_ESCAPABLE = frozenset(b'"\\/bfnrtu')
_ARRAY = -1  # an array on the stack; an object is on the stack as the offset of its brace


class Progress(Enum):
    OPEN = auto()
    COMPLETE = auto()
    INVALID = auto()


# Names for enum members: a scan takes a step for every token, and the attribute lookup takes longer than
# that.
OPEN, COMPLETE, INVALID = Progress
# The states of a scan.
_VALUE, _FIRST_ITEM, _FIRST_KEY, _KEY, _COLON, _AFTER, _IN_KEY, _IN_VALUE, _BARE_WORD = range(9)

# The next state by state and byte, outside strings. Brackets are not here: they also change the stack.
_STEPS: dict[tuple[int, int], int] = {
    (_FIRST_KEY, ord('"')): _IN_KEY,
    (_KEY, ord('"')): _IN_KEY,
    (_COLON, ord(":")): _VALUE,
    **{(at, ord('"')): _IN_VALUE for at in (_VALUE, _FIRST_ITEM)},
    **{(at, byte): _BARE_WORD for at in (_VALUE, _FIRST_ITEM) for byte in b"-0123456789tfn"},
}


class ObjectScan:
    """Scans one object, piece by piece.

    `end`: where in the last piece the scan stopped. `offset`: the total size of the pieces so far, without a
    piece in which the object ended or was found invalid. `last_closed`: start and end of the object that was
    closed last, as offsets from the start of the first piece.
    """

    __slots__ = ("_at", "_escaped", "end", "last_closed", "offset", "stack")

    def __init__(self) -> None:
        self.stack: list[int] = []
        self.offset = 0
        self.end = 0
        self.last_closed: tuple[int, int] | None = None
        self._at = _VALUE
        self._escaped = False

    @property
    def in_string(self) -> bool:
        return self._at in (_IN_VALUE, _IN_KEY)

    @property
    def expects_value(self) -> bool:
        return self._at in (_VALUE, _FIRST_ITEM)

    def feed(self, text: bytes, start: int = 0) -> Progress:
        self.end = start
        progress = self._follow(text)
        if progress is OPEN:
            self.offset += len(text)
        return progress

    def _follow(self, text: bytes) -> Progress:
        size = len(text)
        while self.end < size:
            if self.in_string:
                alive = self._string(text)
            elif self._at == _BARE_WORD:
                self._run(_BARE, text)
                alive = True
                if self.end < size:
                    self._at = _AFTER
            else:
                alive = self._structure(text)
            if not alive:
                return INVALID
            if not self.stack:
                return COMPLETE
        return OPEN

    def _run(self, run: re.Pattern[bytes], text: bytes) -> None:
        found = run.match(text, self.end)
        assert found is not None  # every run may be empty
        self.end = found.end()

    def _string(self, text: bytes) -> bool:
        if self._escaped:
            if text[self.end] not in _ESCAPABLE:
                return False
            self._escaped = False
            self.end += 1
        self._run(_IN_STRING, text)
        if self.end == len(text):
            return True
        byte = text[self.end]
        if byte == ord('"'):
            self._at = _COLON if self._at == _IN_KEY else _AFTER
        elif byte == ord("\\") and self.end + 1 == len(text):
            self._escaped = True
        else:
            return False
        self.end += 1
        return True

    def _structure(self, text: bytes) -> bool:
        """Scan the next token outside strings. Return whether it is allowed in this place."""
        byte = text[self.end]
        if byte in b" \t":
            self._run(_BLANKS, text)
            return True
        step = _STEPS.get((self._at, byte))
        if step is not None:
            self._at = step
        elif byte in b"{[" and self.expects_value:
            self.stack.append(self.offset + self.end if byte == ord("{") else _ARRAY)
            self._at = _FIRST_KEY if byte == ord("{") else _FIRST_ITEM
            if len(self.stack) > MAX_DEPTH:
                return False
        elif not self._after_value(byte):
            return False
        self.end += 1
        return True

    def _after_value(self, byte: int) -> bool:
        in_array = bool(self.stack) and self.stack[-1] == _ARRAY
        if byte == ord(",") and self._at == _AFTER:
            self._at = _VALUE if in_array else _KEY
        elif byte == ord("]") and in_array and self._at in (_AFTER, _FIRST_ITEM):
            self.stack.pop()
            self._at = _AFTER
        elif byte == ord("}") and not in_array and self._at in (_AFTER, _FIRST_KEY):
            self.last_closed = (self.stack.pop(), self.offset + self.end + 1)
            self._at = _AFTER
        else:
            return False
        return True


def parse_object(text: bytes) -> dict[str, Any] | None:
    """Decode a text. Return None if the text is not exactly one JSON object."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def parse_unusual_object(text: bytes) -> dict[str, Any] | None:
    """Decode JSON that orjson refuses, with the slower standard decoder.

    orjson refuses a number too large for a double and a lone surrogate escape. The client prints such an
    escape when a string was cut inside a surrogate pair.
    """
    try:
        value = json.loads(text.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are Python's, not JSON's
