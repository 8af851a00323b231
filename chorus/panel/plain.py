"""The panel as a live log of plain lines, for screen readers, pipes and terminals without cursor movement.

This module does not load Textual.
"""

from collections.abc import Iterator

from chorus.model.lane_name import short_lane_name
from chorus.panel import command_lines
from chorus.panel.state.items import (
    LogItem,
    PendingPrompt,
    SessionInfo,
    outside_id,
    parse_log_item,
    parse_outside,
)
from chorus.panel.state.model import PanelModel, list_in
from chorus.panel.style.labels import STATE_LABELS, render_time, status_word
from chorus.text.sanitize import sanitize, sanitize_lines
from chorus.wire.protocol import Message

# How many old entries are printed at the start.
MAX_OLD_ENTRIES = 20
MAX_BODY_LINES = 40


class PlainLog:
    def __init__(self) -> None:
        self._model = PanelModel()
        self._entries: dict[float, LogItem] = {}
        self._outside: set[str] = set()
        self._prompts: dict[str, PendingPrompt] = {}
        self._sessions: dict[str, str] = {}
        self._first_page = True

    def feed(self, message: Message) -> Iterator[str]:
        """Take one message and yield the lines to print for it."""
        self._model.feed(message)
        match message.get("event"):
            case "link":
                yield from self._render_link()
            case "alert":
                yield f"{sanitize(str(message.get('level')))}: {sanitize(str(message.get('text')))}"
            case "log":
                yield from self._render_log(message)
            case "action":
                yield from self._render_entries([parse_log_item(message.get("entry"))])
                yield from self._render_outside(message.get("entry"))
            case "snapshot" if not (self._model.sessions or self._sessions or self._entries):
                yield "no session yet; start one: chorus claude"
            case "snapshot" | "session" | "prompt" | "prompt-gone":
                yield from self._render_sessions()
                yield from self._render_prompts(str(message.get("why") or "gone"))

    def _render_link(self) -> Iterator[str]:
        if self._model.link == "lost":
            yield f"waiting for a watcher: {sanitize(self._model.link_text)}"
        elif self._model.link_text:
            yield sanitize(self._model.link_text)

    def _render_log(self, message: Message) -> Iterator[str]:
        """Render the new and changed entries of a page.

        At the start, only the newest MAX_OLD_ENTRIES are rendered.
        """
        entries = [entry for entry in map(parse_log_item, list_in(message, "entries")) if entry]
        if self._first_page:
            self._entries = {entry.n: entry for entry in entries[:-MAX_OLD_ENTRIES]}
            self._first_page = False
        if self._entries or entries:
            oldest = min(self._entries, default=0)
            yield from self._render_entries([entry for entry in entries if entry.n >= oldest])

    def _render_entries(self, entries: list[LogItem | None]) -> Iterator[str]:
        for entry in entries:
            if entry and (old := self._entries.get(entry.n)) != entry:
                self._entries[entry.n] = entry
                if old is None or (old.status, old.landed) != (entry.status, entry.landed):
                    yield render_entry(entry)

    def _render_outside(self, value: object) -> Iterator[str]:
        if (identity := outside_id(value)) and identity not in self._outside:
            self._outside.add(identity)
            yield render_entry(parse_outside(value, 0, None))

    def _render_sessions(self) -> Iterator[str]:
        for session in self._model.sessions.values():
            if self._sessions.get(session.id) != session.state:
                self._sessions[session.id] = session.state
                yield render_session(session)

    def _render_prompts(self, why: str) -> Iterator[str]:
        for prompt in self._model.prompts.values():
            if self._prompts.get(prompt.id) != prompt:
                yield from render_prompt(prompt)
        for identity in self._prompts.keys() - self._model.prompts.keys():
            yield f"prompt {sanitize(identity)} {sanitize(why)}"
        self._prompts = dict(self._model.prompts)


def render_entry(entry: LogItem) -> str:
    status = status_word(entry.shown_status)
    paths = ", ".join(map(sanitize, entry.paths[:4])) + (" and more" if len(entry.paths) > 4 else "")
    counts = " ".join(f"{sign}{n}" for sign, n in (("+", entry.added), ("-", entry.removed)) if n)
    what = ["outside change"] if entry.outside else [f"action {entry.n}", status, sanitize(entry.tool)]
    tree = f"in {sanitize(entry.worktree)}" if entry.elsewhere else ""
    parts = [render_time(entry.time), *what, tree, paths, counts]
    line = " ".join(part for part in parts if part)
    return f"{line}: {sanitize(entry.summary)}" if entry.summary else line


def render_session(session: SessionInfo) -> str:
    name = sanitize(short_lane_name(session.lane or session.title or session.id))
    state = STATE_LABELS.get(session.state, sanitize(session.state))
    return f"{render_time(session.last)} session {name} {state}".strip()


def render_prompt(prompt: PendingPrompt) -> Iterator[str]:
    title = sanitize(prompt.title or prompt.tool)
    about = f"prompt {sanitize(prompt.id)} {title}: {sanitize(prompt.question)}"
    yield f"{render_time(prompt.since)} {about}".strip()
    if prompt.body.strip():
        yield from (
            f"  | {line}" for line in sanitize_lines(prompt.body.strip("\n"), max_lines=MAX_BODY_LINES)
        )
    for option in prompt.options:
        command = _command(prompt, option.key, option.meaning)
        yield f"  {option.digit} {sanitize(option.label)}: {command}"


def _command(prompt: PendingPrompt, key: str, meaning: str) -> str:
    if key == prompt.text_option:
        return sanitize(command_lines.answer_text(prompt.id, prompt.kind, "TEXT"))
    return sanitize(command_lines.answer(prompt.id, meaning, option=key))
