"""What the agent answers, as values the panel can rely on.

Receives the decoded JSON of an entry, session, lane or prompt; gives a frozen value. A field that is
missing or of another kind takes its empty form, and an item without its identity is None: a newer
agent may say more, or less, and must not stop the panel. Never shows anything.
"""

from collections.abc import Mapping
from typing import Any

from chorus.panel.items import Entry, Lane, Option, Prompt, Session


def parse_entry(value: object) -> Entry | None:
    item = _mapping(value)
    n = item.get("n")
    return _parse_numbered(item, n) if isinstance(n, int) else None


def outside_id(value: object) -> str | None:
    """Where a change that no action made stands on the timeline; None for anything else."""
    item = _mapping(value)
    outside = item.get("status") == "outside" and item.get("n") is None
    return (_text(item, "timeline") or None) if outside else None


def parse_outside(value: object, n: float, after: Entry | None) -> Entry:
    """A change no action made, shown in the turn of the action before it."""
    turn = {"session": after.session, "turn": after.turn, "message": after.message} if after else {}
    item = {"message": "Before the first action", **_mapping(value), **turn}
    return _parse_numbered({**item, "id": outside_id(value), "tool": item.get("tool") or "outside"}, n)


def _parse_numbered(item: Mapping[str, Any], n: float) -> Entry:
    return Entry(
        n=n,
        id=_text(item, "id"),
        lane=_optional(item, "lane"),
        session=_text(item, "session"),
        turn=_text(item, "turn"),
        tool=_text(item, "tool"),
        agent=_optional(item, "agent"),
        paths=_texts(item, "paths"),
        status=_text(item, "status"),
        commit=_optional(item, "commit"),
        summary=_text(item, "summary"),
        source=_text(item, "source"),
        time=_text(item, "time"),
        added=_number(item, "added"),
        removed=_number(item, "removed"),
        message=_optional(item, "message"),
        landed=item.get("landed") is True,
        reverts=_texts(item, "reverts"),
        within=_optional(item, "within"),
    )


def parse_session(value: object) -> Session | None:
    item = _mapping(value)
    if not (identity := _text(item, "id")):
        return None
    return Session(
        id=identity,
        lane=_optional(item, "lane"),
        state=_text(item, "state"),
        pane=_optional(item, "pane"),
        sources=_texts(item, "sources"),
        title=_text(item, "title"),
        since=_text(item, "since"),
        last=_text(item, "last"),
        parent=_optional(item, "parent"),
    )


def parse_lane(value: object) -> Lane | None:
    item = _mapping(value)
    if not (name := _text(item, "name")):
        return None
    return Lane(
        name=name,
        ref=_text(item, "ref"),
        session=_text(item, "session"),
        actions=_number(item, "actions") or 0,
        open=_number(item, "open") or 0,
    )


def parse_prompt(value: object) -> Prompt | None:
    item = _mapping(value)
    if not (identity := _text(item, "id")):
        return None
    options = item.get("options")
    return Prompt(
        id=identity,
        session=_text(item, "session"),
        pane=_optional(item, "pane"),
        kind=_text(item, "kind"),
        tool=_text(item, "tool"),
        title=_text(item, "title"),
        question=_text(item, "question"),
        options=tuple(_parse_option(one) for one in options) if isinstance(options, list) else (),
        fingerprint=_text(item, "fingerprint"),
        since=_text(item, "since"),
        body=_text(item, "body") or _render_input(item.get("input")),
        path=_optional(item, "path"),
        words=_optional(item, "words"),
    )


def _parse_option(value: object) -> Option:
    item = _mapping(value)
    return Option(_text(item, "key"), _text(item, "label"), _text(item, "meaning") or "other")


def _render_input(value: object) -> str:
    """A tool's input in words, for a prompt whose text is not known from the screen."""
    item = _mapping(value)
    if isinstance(command := item.get("command"), str):
        return command
    if isinstance(questions := item.get("questions"), list):
        return "\n\n".join(
            _render_question(one, alone=len(questions) == 1) for one in map(_mapping, questions)
        )
    return "\n".join(f"{name}: {content}" for name, content in item.items())


def _render_question(item: Mapping[str, Any], *, alone: bool) -> str:
    """What its choices mean; the question itself stands below when there is no other."""
    options = item.get("options")
    lines = [] if alone else [f"{_text(item, 'header')}: {_text(item, 'question')}"]
    for option in map(_mapping, options if isinstance(options, list) else []):
        words = [_text(option, "label"), _text(option, "description")]
        lines.append(f"{'' if alone else '  '}{': '.join(word for word in words if word)}")
    return "\n".join(lines)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _optional(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    return value if isinstance(value, str) else None


def _number(item: Mapping[str, Any], name: str) -> int | None:
    value = item.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _texts(item: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = item.get(name)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
