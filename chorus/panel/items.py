"""Log entries, sessions, lanes and prompts as the panel holds them, parsed from the watcher's JSON.

A field that is missing or of another type takes its empty form, and an item without its id is None: a newer
or older watcher must not stop the panel. `model/json_api.py` defines the JSON. Parsed by hand: loading
pydantic with four validators takes 0.2 s, and the whole panel starts in 0.5 s.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chorus.model.review_state import OPEN_STATUS, is_open

# Actions with these statuses changed files; the others are calls that left nothing behind.
CHANGE_STATUSES = frozenset({"committed", "kept", "reverted"})


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An action, a call that changed nothing, or an outside change."""

    n: float  # an outside change gets a fraction above the number of the action before it
    id: str
    lane: str | None
    session: str
    turn: str
    tool: str
    agent: str | None
    paths: tuple[str, ...]
    status: str
    summary: str
    time: str
    added: int | None
    removed: int | None
    message: str | None
    landed: bool
    reverts: tuple[str, ...]
    within: str | None

    @property
    def number(self) -> str:
        return "" if self.outside else str(self.n)

    @property
    def outside(self) -> bool:
        """Whether no action made this change: then it cannot be kept or reverted."""
        return self.status == "outside"

    @property
    def open(self) -> bool:
        """Whether it still has to be reviewed."""
        return is_open(self.status, self.tool, self.reverts, self.within, landed=self.landed)

    @property
    def shown_status(self) -> str:
        """The status to show: `landed` and `done` (nothing to review) come in addition to the log's own."""
        if self.status not in (OPEN_STATUS, "kept"):
            return self.status
        if self.landed:
            return "landed"
        return self.status if self.open or self.status == "kept" else "done"

    @property
    def group(self) -> tuple[str, str]:
        """The turn it belongs to, with its session."""
        return (self.session, self.turn)


@dataclass(frozen=True, slots=True)
class SessionInfo:
    id: str
    lane: str | None
    state: str
    pane: str | None
    title: str
    last: str
    parent: str | None = None  # the session it continues


@dataclass(frozen=True, slots=True)
class LaneInfo:
    name: str
    session: str


@dataclass(frozen=True, slots=True)
class PromptOption:
    key: str
    label: str
    meaning: str


@dataclass(frozen=True, slots=True)
class PendingPrompt:
    id: str
    session: str
    kind: str
    tool: str
    title: str
    question: str
    options: tuple[PromptOption, ...]
    fingerprint: str
    since: str
    body: str
    path: str | None
    text_option: str | None = None  # the key of the option that takes the user's own text

    def option(self, meaning: str) -> PromptOption | None:
        return next((option for option in self.options if option.meaning == meaning), None)


def parse_entry(value: object) -> LogEntry | None:
    """Parse an action or a call; None for anything else, such as an outside change."""
    item = _mapping(value)
    n = item.get("n")
    return _parse_numbered(item, n) if isinstance(n, int) else None


def outside_id(value: object) -> str | None:
    """Return the timeline commit of an outside change; None for anything else."""
    item = _mapping(value)
    outside = item.get("status") == "outside" and item.get("n") is None
    return (_text(item, "timeline") or None) if outside else None


def parse_outside(value: object, n: float, after: LogEntry | None) -> LogEntry:
    """Parse an outside change; it is shown in the turn of the action it came after."""
    turn = {"session": after.session, "turn": after.turn, "message": after.message} if after else {}
    item = {"message": "Before the first action", **_mapping(value), **turn}
    return _parse_numbered({**item, "id": outside_id(value), "tool": item.get("tool") or "outside"}, n)


def _parse_numbered(item: Mapping[str, Any], n: float) -> LogEntry:
    return LogEntry(
        n=n,
        id=_text(item, "id"),
        lane=_optional_text(item, "lane"),
        session=_text(item, "session"),
        turn=_text(item, "turn"),
        tool=_text(item, "tool"),
        agent=_optional_text(item, "agent"),
        paths=_texts(item, "paths"),
        status=_text(item, "status"),
        summary=_text(item, "summary"),
        time=_text(item, "time"),
        added=_number(item, "added"),
        removed=_number(item, "removed"),
        message=_optional_text(item, "message"),
        landed=item.get("landed") is True,
        reverts=_texts(item, "reverts"),
        within=_optional_text(item, "within"),
    )


def parse_session(value: object) -> SessionInfo | None:
    item = _mapping(value)
    if not (identity := _text(item, "id")):
        return None
    return SessionInfo(
        id=identity,
        lane=_optional_text(item, "lane"),
        state=_text(item, "state"),
        pane=_optional_text(item, "pane"),
        title=_text(item, "title"),
        last=_text(item, "last"),
        parent=_optional_text(item, "parent"),
    )


def parse_lane(value: object) -> LaneInfo | None:
    item = _mapping(value)
    name = _text(item, "name")
    return LaneInfo(name, _text(item, "session")) if name else None


def parse_prompt(value: object) -> PendingPrompt | None:
    item = _mapping(value)
    if not (identity := _text(item, "id")):
        return None
    options = item.get("options")
    return PendingPrompt(
        id=identity,
        session=_text(item, "session"),
        kind=_text(item, "kind"),
        tool=_text(item, "tool"),
        title=_text(item, "title"),
        question=_text(item, "question"),
        options=tuple(map(_parse_option, options)) if isinstance(options, list) else (),
        fingerprint=_text(item, "fingerprint"),
        since=_text(item, "since"),
        body=_text(item, "body") or _render_input(item.get("input")),
        path=_optional_text(item, "path"),
        text_option=_optional_text(item, "words"),
    )


def _parse_option(value: object) -> PromptOption:
    item = _mapping(value)
    return PromptOption(_text(item, "key"), _text(item, "label"), _text(item, "meaning") or "other")


def _render_input(value: object) -> str:
    """Render a tool's input as text, for a prompt that was not read from the screen."""
    item = _mapping(value)
    if isinstance(command := item.get("command"), str):
        return command
    if isinstance(questions := item.get("questions"), list):
        only = len(questions) == 1
        return "\n\n".join(_render_question(each, only=only) for each in map(_mapping, questions))
    return "\n".join(f"{name}: {content}" for name, content in item.items())


def _render_question(item: Mapping[str, Any], *, only: bool) -> str:
    """Render a question's choices; the only question is not repeated, as the prompt itself shows it."""
    options = item.get("options")
    lines = [] if only else [f"{_text(item, 'header')}: {_text(item, 'question')}"]
    for option in map(_mapping, options if isinstance(options, list) else []):
        parts = [_text(option, "label"), _text(option, "description")]
        lines.append(f"{'' if only else '  '}{': '.join(part for part in parts if part)}")
    return "\n".join(lines)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _optional_text(item: Mapping[str, Any], name: str) -> str | None:
    value = item.get(name)
    return value if isinstance(value, str) else None


def _number(item: Mapping[str, Any], name: str) -> int | None:
    value = item.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _texts(item: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = item.get(name)
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
