"""Add Chorus's hooks to the text of the client's settings, and remove them, changing nothing else.

An object or list that this module creates has white space after its opening bracket. Text added to an empty
object or list of the user is right after the bracket. By this difference, `remove_hooks` recognises the
objects and lists that Chorus created.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorus.agents.claude_code.settings.json_text import (
    Node,
    NotJson,
    add_child,
    cut_child,
    indent_of,
    newline_of,
    parse_json,
)
from chorus.errors import ChorusError

HookGroup = Mapping[str, Any]
HookGroups = Mapping[str, Sequence[HookGroup]]  # by event

# An entry is ours if it runs the hook program, however quoted and wherever installed.
_OUR_COMMAND = re.compile(r"""(?:^|[/\s'"])chorus-hook(?:['"\s]|$)""")
# Some editors begin a file with this mark; the client ignores it.
_BYTE_ORDER_MARK = "\ufeff"


class SettingsUnreadable(ChorusError):
    """A settings file is not valid JSON, or not of the expected form."""

    hint = "Correct the file (until then the client ignores it), then run the command again."


@dataclass(frozen=True, slots=True)
class _Entry:
    """One hook of Chorus and the nodes that contain it, outermost first."""

    root: Node
    hooks: Node
    event: Node
    group: Node
    list: Node
    hook: Node


@dataclass(frozen=True, slots=True)
class _Layout:
    """Line breaks and indentation. Without `newline`, everything is on one line."""

    newline: str | None
    indent: str = ""
    unit: str = "  "

    def deeper(self) -> "_Layout":
        return _Layout(self.newline, self.indent + self.unit, self.unit)

    def wrap(self, opening: str, inner: list[str], closing: str) -> str:
        if self.newline is None:
            return f"{opening} {', '.join(inner)} {closing}"
        line = self.newline + self.indent
        return opening + ",".join(line + self.unit + text for text in inner) + line + closing


def find_hooks(text: str) -> dict[str, list[dict[str, Any]]]:
    """Return the groups that contain hooks of Chorus, by event."""
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in _entries(text):
        found.setdefault(str(entry.event.key), []).append(entry.group.value)
    return found


def add_hooks(text: str | None, groups: HookGroups) -> str:
    """Return the text with exactly these hooks of Chorus. `text` is None if there is no file yet."""
    if text is not None:
        if find_hooks(text) == groups:
            return text
        text = remove_hooks(text)
    if text is None:
        return _Layout("\n").wrap("{", [_render_hooks(groups, _Layout("\n").deeper())], "}") + "\n"
    if _is_blank(text):
        blanks = text.removeprefix(_BYTE_ORDER_MARK)
        mark = text.removesuffix(blanks)
        return mark + _Layout(None).wrap("{", [_render_hooks(groups, _Layout(None))], "}") + blanks
    for event, group in ((event, group) for event, those in groups.items() for group in those):
        text = _add_group(text, event, group)
    return text


def remove_hooks(text: str) -> str | None:
    """Return the text without Chorus's hooks; None if Chorus created the file and nothing else is left."""
    remaining: str | None = text
    while remaining is not None and (entry := next(_entries(remaining), None)) is not None:
        remaining = _cut(remaining, entry)
    return remaining


def _cut(text: str, entry: _Entry) -> str | None:
    """Cut a hook. Also cut the objects and lists around it that Chorus created, if they are empty then.

    Return None if Chorus created the file and nothing else is left.
    """
    if len(entry.list.children) > 1:
        return cut_child(text, entry.list, entry.hook)
    chain = [entry.group, entry.event, entry.hooks, entry.root]
    for child, parent in itertools.pairwise(chain):
        before = text[parent.start + 1 : child.whole_start]
        if len(parent.children) > 1 or not before:
            return cut_child(text, parent, child)
    if "\n" in before:
        return None
    return text[: entry.root.start] + text[entry.root.end :]


def _add_group(text: str, event: str, group: HookGroup) -> str:
    root = _parse(text)
    hooks = root.member("hooks")
    if hooks is None:
        return add_child(text, root, _render_hooks({event: [group]}, _layout_within(text, root)))
    if hooks.kind != "object":
        raise SettingsUnreadable('"hooks" is not an object in the settings')
    groups = hooks.member(event)
    if groups is None:
        return add_child(text, hooks, _render_event(event, [group], _layout_within(text, hooks)))
    if groups.kind != "array":
        raise SettingsUnreadable(f'"hooks.{event}" is not a list in the settings')
    return add_child(text, groups, _render_group(group))


def _render_hooks(groups: HookGroups, layout: _Layout) -> str:
    inner = [_render_event(event, those, layout.deeper()) for event, those in groups.items()]
    return '"hooks": ' + layout.wrap("{", inner, "}")


def _render_event(event: str, groups: Sequence[HookGroup], layout: _Layout) -> str:
    return f"{json.dumps(event)}: " + layout.wrap("[", [_render_group(group) for group in groups], "]")


def _render_group(group: HookGroup) -> str:
    return json.dumps(group, ensure_ascii=False)


def _layout_within(text: str, parent: Node) -> _Layout:
    indent = indent_of(text, parent.children[-1].whole_start) if parent.children else None
    if indent is None:
        return _Layout(None)
    return _Layout(newline_of(text), indent, _unit(text))


def _unit(text: str) -> str:
    first = re.search(r"\n([ \t]+)\S", text)
    return first[1] if first else "  "


def _entries(text: str) -> Iterator[_Entry]:
    if _is_blank(text):
        return
    root = _parse(text)
    hooks = root.member("hooks")
    for event in hooks.children if hooks else []:
        for group in event.children:
            inner = group.member("hooks")
            for hook in inner.children if inner else []:
                if isinstance(hook.value, dict) and _OUR_COMMAND.search(str(hook.value.get("command"))):
                    assert hooks is not None
                    assert inner is not None
                    yield _Entry(root, hooks, event, group, inner, hook)


def _parse(text: str) -> Node:
    mark = len(text) - len(text.removeprefix(_BYTE_ORDER_MARK))
    try:
        root = parse_json(text, mark)
    except NotJson as error:
        raise SettingsUnreadable(f"the settings are not JSON: {error}") from error
    if root.kind != "object":
        raise SettingsUnreadable("the settings are not an object")
    return root


def _is_blank(text: str) -> bool:
    return not text.removeprefix(_BYTE_ORDER_MARK).strip()
