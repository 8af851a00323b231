"""Log entries, sessions, lanes and prompts as the panel holds them, parsed from the watcher's JSON.

A field that is missing or of another type is empty, so that another version of the watcher does not stop the
panel. The JSON is parsed by hand: loading pydantic takes 0.2 s, and the whole panel starts in 0.5 s.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chorus.model.action import UndoneBy
from chorus.model.review_state import OPEN_STATUS, REVERT_TOOL, is_open, render_context, render_undone

# Actions with these statuses changed files; the others are calls that left nothing behind.
CHANGE_STATUSES = frozenset({"committed", "kept", "landed", "reverted", "undone"})


@dataclass(frozen=True, slots=True)
class LogItem:
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
    undone: str | None = None  # how much of its change is undone, in words
    worktree: str = ""  # the name of its work tree
    elsewhere: bool = False  # its work tree is not the panel's
    context: tuple[str, ...] = ()  # what it builds on, in words
    commit: str = ""  # its lane commit
    reverts_part: tuple[str, ...] = ()
    command: str = ""  # the shell command

    @property
    def is_revert(self) -> bool:
        """True if the entry reverts or redoes an action."""
        return self.tool == REVERT_TOOL

    @property
    def number(self) -> str:
        return "" if self.outside else str(self.n)

    @property
    def outside(self) -> bool:
        return self.status == "outside"

    @property
    def open(self) -> bool:
        return is_open(self.status, self.tool, self.reverts, self.within, landed=self.landed)

    @property
    def shown_status(self) -> str:
        """The status to show: the one in the log, `landed`, or `done` (nothing to review)."""
        if self.status not in (OPEN_STATUS, "kept"):
            return self.status
        if self.landed:
            return "landed"
        return self.status if self.open or self.status == "kept" else "done"

    @property
    def group(self) -> tuple[str, str]:
        return (self.session, self.turn)


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session. `tokens`: how many tokens the model read and wrote, without cache reads."""

    id: str
    lane: str | None
    state: str
    pane: str | None
    title: str
    last: str
    since: str = ""
    tokens: int = 0
    cost: float | None = None
    model: str | None = None
    mode: str | None = None  # the permission mode
    limit: str | None = None  # the account's rate limit, if it is reached
    error: str | None = None  # why the last turn failed, or what is being retried
    context: int | None = None  # tokens in the model's context
    window: int | None = None  # how many fit


@dataclass(frozen=True, slots=True)
class TurnInfo:
    """The state, answer, tokens and cost of a turn. `state`: running, done or failed."""

    session: str
    turn: str
    state: str
    answer: str | None
    error: str | None
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost_usd: float | None
    duration_ms: int | None
    context: int | None  # tokens in the model's context
    window: int | None  # how many fit


@dataclass(frozen=True, slots=True)
class NoteInfo:
    """A note on an action. `at`: the line at which the note's lines begin now, if they still exist."""

    n: int
    action: str  # the action's id
    path: str
    line: int | None
    at: int | None
    text: str
    state: str
    changed: bool
    quote: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LaneInfo:
    name: str
    session: str


@dataclass(frozen=True, slots=True)
class PromptOption:
    """An option of a prompt. `digit`: the option's key in the panel; its key in the client may differ."""

    key: str
    label: str
    meaning: str
    digit: str


@dataclass(frozen=True, slots=True)
class PromptQuestion:
    """One of the questions of a prompt. `several`: more than one label can be chosen."""

    text: str
    labels: tuple[str, ...]
    several: bool


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
    questions: tuple[PromptQuestion, ...] = ()
    cut: bool = False  # the pane does not show the beginning of the prompt

    def option(self, meaning: str) -> PromptOption | None:
        return next((option for option in self.options if option.meaning == meaning), None)

    @property
    def takes_several_answers(self) -> bool:
        """True if choosing one option is not a complete answer."""
        return len(self.questions) > 1 or any(question.several for question in self.questions)


def parse_log_item(value: object) -> LogItem | None:
    """Parse a numbered entry. Return None for anything else, such as an outside change."""
    item = _mapping(value)
    n = item.get("n")
    return _parse_numbered(item, n) if isinstance(n, int) else None


def outside_id(value: object) -> str | None:
    """Return the timeline commit of an outside change; None for anything else."""
    item = _mapping(value)
    outside = item.get("status") == "outside" and item.get("n") is None
    return (_text(item, "timeline") or None) if outside else None


def parse_outside(value: object, n: float, after: LogItem | None) -> LogItem:
    """Parse an outside change made after the action `after`. It is shown in the turn of that action."""
    turn = {"session": after.session, "turn": after.turn, "message": after.message} if after else {}
    item = {"message": "Before the first action", **_mapping(value), **turn}
    return _parse_numbered({**item, "id": outside_id(value), "tool": item.get("tool") or "outside"}, n)


def _parse_numbered(item: Mapping[str, Any], n: float) -> LogItem:
    return LogItem(
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
        undone=_parse_undone(item.get("undone")),
        worktree=_text(item, "worktree"),
        context=_parse_context(item.get("context")),
        commit=_text(item, "commit"),
        reverts_part=_texts(item, "reverts_part"),
        command=_text(item, "command"),
    )


def _parse_undone(value: object) -> str | None:
    item = _mapping(value)
    lines, of = _number(item, "lines"), _number(item, "of")
    if lines is None or of is None:
        return None
    by: UndoneBy = "git" if item.get("by") == "git" else "rewind" if item.get("by") == "rewind" else "outside"
    return render_undone({"by": by, "whole": item.get("whole") is True, "lines": lines, "of": of})


def _parse_context(value: object) -> tuple[str, ...]:
    items = [_mapping(one) for one in value] if isinstance(value, list) else []
    return tuple(render_context(_text(i, "path"), _number(i, "by"), _numbers(i.get("lines"))) for i in items)


def _numbers(value: object) -> list[int]:
    return [number for number in value if isinstance(number, int)] if isinstance(value, list) else []


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
        since=_text(item, "since"),
        tokens=_count_tokens(item.get("tokens")),
        cost=float(cost) if isinstance(cost := item.get("cost_usd"), int | float) else None,
        model=_optional_text(item, "model"),
        mode=_optional_text(item, "mode"),
        limit=_optional_text(item, "limit"),
        error=_optional_text(item, "error"),
        context=_number(item, "context"),
        window=_number(item, "window"),
    )


def parse_turn(value: object) -> TurnInfo | None:
    item = _mapping(value)
    tokens = _mapping(item.get("tokens"))
    if not (session := _text(item, "session")) or not (turn := _text(item, "turn")):
        return None
    cached = _number(tokens, "cache_read") or 0
    return TurnInfo(
        session=session,
        turn=turn,
        state=_text(item, "state"),
        answer=_optional_text(item, "answer"),
        error=_optional_text(item, "error"),
        tokens_in=(_number(tokens, "input") or 0) + cached + (_number(tokens, "cache_write") or 0),
        tokens_out=_number(tokens, "output") or 0,
        tokens_cached=cached,
        cost_usd=cost if isinstance(cost := item.get("cost_usd"), int | float) else None,
        duration_ms=_number(item, "duration_ms"),
        context=_number(item, "context"),
        window=_number(item, "window"),
    )


def _count_tokens(value: object) -> int:
    item = _mapping(value)
    return sum(_number(item, name) or 0 for name in ("input", "output", "cache_write"))


def parse_lane(value: object) -> LaneInfo | None:
    item = _mapping(value)
    name = _text(item, "name")
    return LaneInfo(name, _text(item, "session")) if name else None


def parse_note(value: object) -> NoteInfo | None:
    item = _mapping(value)
    n = _number(item, "n")
    if n is None:
        return None
    return NoteInfo(
        n=n,
        action=_text(item, "id"),
        path=_text(item, "path"),
        line=_number(item, "line"),
        at=_number(item, "at"),
        text=_text(item, "text"),
        state=_text(item, "state"),
        changed=item.get("changed") is True,
        quote=_texts(item, "quote"),
    )


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
        options=tuple(map(_parse_option, options, range(1, len(options) + 1)))
        if isinstance(options, list)
        else (),
        fingerprint=_text(item, "fingerprint"),
        since=_text(item, "since"),
        body=_text(item, "body") or _render_input(item.get("input")),
        path=_optional_text(item, "path"),
        text_option=_optional_text(item, "words"),
        questions=tuple(_parse_questions(_mapping(item.get("input")).get("questions"))),
        cut=item.get("cut") is True,
    )


def _parse_questions(value: object) -> Iterator[PromptQuestion]:
    for item in map(_mapping, value if isinstance(value, list) else []):
        options = item.get("options")
        found = map(_mapping, options if isinstance(options, list) else [])
        labels = tuple(label for option in found if (label := _text(option, "label")))
        yield PromptQuestion(_text(item, "question"), labels, item.get("multiSelect") is True)


def _parse_option(value: object, place: int) -> PromptOption:
    item = _mapping(value)
    key = _text(item, "key")
    digit = key if key.isdigit() else str(place)
    return PromptOption(key, _text(item, "label"), _text(item, "meaning") or "other", digit)


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
    """Render a question and its choices, or just the choices if it is the `only` question."""
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
