"""The panel as a live log: plain lines for screen readers, pipes and terminals that are not.

Receives the feed's messages; gives lines to print, each one readable by itself, prompts with the
commands that answer them. Needs no terminal and loads no toolkit. Everything in it is inert.
"""

from collections.abc import Iterator

from chorus.model.lane_name import short_lane_name
from chorus.panel import equivalents
from chorus.panel.clock import render_time
from chorus.panel.glyphs import STATE_WORDS
from chorus.panel.item_parsing import outside_id, parse_entry, parse_outside
from chorus.panel.items import Entry, Prompt, Session
from chorus.panel.model import Message, Model
from chorus.text.sanitize import sanitize, sanitize_lines

# What was done before, so that a listener knows where things stand.
MOST_OLD = 20
MOST_BODY_LINES = 40
STATUS_WORDS = {"committed": "open", "reverted": "taken back", "noop": "changed nothing"}


class PlainLog:
    def __init__(self) -> None:
        self._model = Model()
        self._told: dict[float, Entry] = {}
        self._outside: set[str] = set()
        self._prompts: dict[str, Prompt] = {}
        self._sessions: dict[str, str] = {}
        self._first_page = True

    def feed(self, message: Message) -> Iterator[str]:
        """The lines this message is worth."""
        self._model.feed(message)
        match message.get("event"):
            case "link":
                yield from self._tell_link()
            case "notice":
                yield f"{message.get('level')}: {sanitize(str(message.get('text')))}"
            case "log":
                yield from self._tell_log(message)
            case "action":
                yield from self._tell_entries([parse_entry(message.get("entry"))])
                yield from self._tell_outside(message.get("entry"))
            case "snapshot" if not (self._model.sessions or self._sessions or self._told):
                yield "no session is watched; start one: chorus claude"
            case "snapshot" | "session" | "prompt" | "prompt-gone":
                yield from self._tell_sessions()
                yield from self._tell_prompts(str(message.get("why") or "gone"))

    def _tell_link(self) -> Iterator[str]:
        if self._model.link == "lost":
            yield f"the agent is away ({sanitize(self._model.link_text)}); waiting for it"
        elif self._model.link_text:
            yield sanitize(self._model.link_text)

    def _tell_log(self, message: Message) -> Iterator[str]:
        """Only the newest page says anything, and of that only the end and what changed since."""
        entries = [entry for entry in map(parse_entry, message.get("entries") or []) if entry]
        if self._first_page:
            self._told = {entry.n: entry for entry in entries[:-MOST_OLD]}
            self._first_page = False
        if self._told or entries:
            oldest = min(self._told, default=0)
            yield from self._tell_entries([entry for entry in entries if entry.n >= oldest])

    def _tell_entries(self, entries: list[Entry | None]) -> Iterator[str]:
        for entry in entries:
            if entry and (old := self._told.get(entry.n)) != entry:
                self._told[entry.n] = entry
                if old is None or (old.status, old.landed) != (entry.status, entry.landed):
                    yield render_entry(entry)

    def _tell_outside(self, value: object) -> Iterator[str]:
        if (identity := outside_id(value)) and identity not in self._outside:
            self._outside.add(identity)
            yield render_entry(parse_outside(value, 0, None))

    def _tell_sessions(self) -> Iterator[str]:
        for session in self._model.sessions.values():
            if self._sessions.get(session.id) != session.state:
                self._sessions[session.id] = session.state
                yield render_session(session)

    def _tell_prompts(self, why: str) -> Iterator[str]:
        for prompt in self._model.prompts.values():
            if self._prompts.get(prompt.id) != prompt:
                yield from render_prompt(prompt)
        for identity in self._prompts.keys() - self._model.prompts.keys():
            yield f"prompt {sanitize(identity)} {sanitize(why)}"
        self._prompts = dict(self._model.prompts)


def render_entry(entry: Entry) -> str:
    status = STATUS_WORDS.get(entry.shown, sanitize(entry.shown))
    paths = ", ".join(map(sanitize, entry.paths[:4])) + (" and more" if len(entry.paths) > 4 else "")
    counts = " ".join(f"{sign}{n}" for sign, n in (("+", entry.added), ("-", entry.removed)) if n)
    what = ["changed outside"] if entry.outside else [f"action {entry.n}", status, sanitize(entry.tool)]
    words = [render_time(entry.time), *what, paths, counts]
    line = " ".join(word for word in words if word)
    return f"{line}: {sanitize(entry.summary)}" if entry.summary else line


def render_session(session: Session) -> str:
    name = sanitize(short_lane_name(session.lane or session.title or session.id))
    state = STATE_WORDS.get(session.state, sanitize(session.state))
    return f"{render_time(session.last)} session {name} {state}".strip()


def render_prompt(prompt: Prompt) -> Iterator[str]:
    title = sanitize(prompt.title or prompt.tool)
    about = f"prompt {sanitize(prompt.id)} {title}: {sanitize(prompt.question)}"
    yield f"{render_time(prompt.since)} {about}".strip()
    if prompt.body.strip():
        yield from (
            f"  | {line}" for line in sanitize_lines(prompt.body.strip("\n"), max_lines=MOST_BODY_LINES)
        )
    for option in prompt.options:
        command = _command(prompt, option.key, option.meaning)
        yield f"  {sanitize(option.key)} {sanitize(option.label)}: {command}"


def _command(prompt: Prompt, key: str, meaning: str) -> str:
    if key == prompt.words:
        return sanitize(equivalents.words(prompt.id, prompt.kind, "WORDS"))
    return sanitize(equivalents.answer(prompt.id, meaning, option=key))
