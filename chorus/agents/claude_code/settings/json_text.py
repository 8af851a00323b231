"""Edit a JSON text in place: add or cut one value without touching the rest.

Cutting an added value restores every character.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_WORD = re.compile(r"[^ \t\r\n,\]}]+")


class NotJson(ValueError):
    """The text is not one JSON value."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its position in the text. A member of an object also has a key."""

    kind: Literal["object", "array", "plain"]
    start: int
    end: int
    value: Any
    key: str | None = None
    key_start: int | None = None
    children: list["Node"] = field(default_factory=list)

    @property
    def whole_start(self) -> int:
        return self.start if self.key_start is None else self.key_start

    def member(self, key: str) -> "Node | None":
        """Return the member with this key; the last one if the key is repeated, as in JSON readers."""
        return next((child for child in reversed(self.children) if child.key == key), None)


def parse_json(text: str, begin: int = 0) -> Node:
    try:
        value = json.loads(text[begin:], parse_constant=_refuse)
        return _scan(text, _skip(text, begin), value)
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except ValueError as error:
        raise NotJson(str(error)) from None


def add_child(text: str, parent: Node, child: str) -> str:
    """Add a child at the end of its parent. In an object, `child` includes the key."""
    if not parent.children:
        return text[: parent.start + 1] + child + text[parent.start + 1 :]
    last = parent.children[-1]
    return text[: last.end] + "," + _gap(text, last.whole_start) + child + text[last.end :]


def cut_child(text: str, parent: Node, child: Node) -> str:
    """Undo `add_child`, even if other children have been added since."""
    index = parent.children.index(child)
    if index > 0:
        start, end = parent.children[index - 1].end, child.end
    elif len(parent.children) > 1:
        start, end = child.whole_start, parent.children[1].whole_start
    else:
        start, end = child.whole_start, child.end
    return text[:start] + text[end:]


def indent_of(text: str, at: int) -> str | None:
    """Return the blanks between the start of the line and this position.

    Return None on the first line, or if other text precedes the position in its line.
    """
    begin = text.rfind("\n", 0, at) + 1
    return text[begin:at] if begin and not text[begin:at].strip(" \t") else None


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _gap(text: str, at: int) -> str:
    indent = indent_of(text, at)
    return " " if indent is None else newline_of(text) + indent


def _scan(text: str, at: int, value: Any, key: str | None = None, key_start: int | None = None) -> Node:  # noqa: ANN401  a JSON value
    if text[at] == "{":
        kind: Literal["object", "array", "plain"] = "object"
    elif text[at] == "[":
        kind = "array"
    else:
        pattern = _STRING if text[at] == '"' else _WORD
        return Node("plain", at, _end(pattern, text, at), value, key, key_start)
    children: list[Node] = []
    here = _skip(text, at + 1)
    while text[here] not in "}]":
        child = _scan_child(text, here, kind == "object")
        children.append(child)
        here = _skip(text, child.end)
        if text[here] == ",":
            here = _skip(text, here + 1)
    return Node(kind, at, here + 1, value, key, key_start, children)


def _scan_child(text: str, at: int, in_object: bool) -> Node:
    key, start = None, at
    if in_object:
        end = _end(_STRING, text, at)
        key, start = json.loads(text[at:end]), _skip(text, _skip(text, end) + 1)
    value, _ = json.JSONDecoder().raw_decode(text, start)
    return _scan(text, start, value, key, at if in_object else None)


def _skip(text: str, at: int) -> int:
    return _end(_BLANK, text, at)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    assert match is not None, "the text was parsed before"
    return match.end()


def _refuse(constant: str) -> None:
    raise NotJson(f"{constant} is not JSON")
