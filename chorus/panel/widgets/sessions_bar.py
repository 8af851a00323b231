"""The sessions at the top of the panel: a line for each with task, failure, usage, state and open actions."""

from dataclasses import replace

from textual.events import Click
from textual.message import Message

from chorus.model.commits.commit_subject import subject_of
from chorus.model.lane_name import short_lane_name
from chorus.panel.state.items import SessionInfo
from chorus.panel.state.model import PanelModel
from chorus.panel.style.labels import STATE_LABELS, STATE_SYMBOLS, render_duration
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.line_pane import LinePane, Pieces, StyledLine
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, cut, pad

ORDER = ("waiting", "working", "idle", "gone")
MAX_SESSION_LINES = 4
# In a narrower panel the state is a symbol only.
MIN_STATE_WORD_WIDTH = 36
# The columns that time, tokens and cost leave to the name of a session.
MIN_NAME_WIDTH = 24
# An error that would be cut to less is left out.
MIN_TROUBLE_WIDTH = 20


class SessionsBar(LinePane, can_focus=False):
    class Picked(Message):
        def __init__(self, session: str) -> None:
            super().__init__()
            self.session = session

    def __init__(self, active_palette: ActivePalette, model: PanelModel, *, id: str | None = None) -> None:
        super().__init__(active_palette, id=id)
        self._model = model
        self.sessions: list[SessionInfo] = []
        self.picked: str | None = None
        self._max_lines = MAX_SESSION_LINES

    def update_from_model(self, *, picked: str | None) -> None:
        self.picked = picked
        self.sessions = plan_sessions(self._model)
        self._resize()

    def set_room(self, rows: int) -> None:
        self._max_lines = rows
        self._resize()

    def line_count(self) -> int:
        return max(min(len(self.sessions), self._max_lines), 1)

    def line(self, index: int, width: int) -> StyledLine:
        if not self.sessions:
            return self._render_no_session(width), "bar"
        hidden = len(self.sessions) - self._max_lines
        if hidden > 0 and index == self._max_lines - 1:
            return self._render_short(self.sessions[index:], width), "bar"
        session = self.sessions[index]
        under = "bar cursor" if session.id == self.picked else "bar"
        return self._render_session(session, width), under

    def on_click(self, event: Click) -> None:
        if event.y < len(self.sessions):
            self.post_message(self.Picked(self.sessions[event.y].id))

    def _resize(self) -> None:
        self.styles.height = self.line_count()
        self.resize_lines()

    def _render_session(self, session: SessionInfo, width: int) -> Pieces:
        state = session.state if session.state in STATE_SYMBOLS else "idle"
        name, lane = session_name(session, self._model), self._model.lane_of(session.id)
        count = self._model.open_counts[session.id]
        label = f" {STATE_LABELS[state]}" if width >= MIN_STATE_WORD_WIDTH else ""
        right = f"  {count} open " if count else " "
        room = width - 2 - cell_width(label) - cell_width(right)
        lane = sanitize(short_lane_name(lane)) if lane else ""
        trouble = _describe_trouble(session)
        beside = cell_width(name) + max(cell_width(lane), cell_width(trouble)) + 2
        usage = _fit_usage(session, room - MIN_NAME_WIDTH, room - beside)
        room -= cell_width(usage)
        left: Pieces = [(pad(name, room), "strong")]
        if trouble and room >= MIN_NAME_WIDTH + MIN_TROUBLE_WIDTH:
            name = cut(name, max(MIN_NAME_WIDTH, room - cell_width(trouble) - 2))
            left = [(name, "strong"), (pad(f"  {trouble}", room - cell_width(name)), "error")]
        elif lane and lane != name and room >= cell_width(name) + cell_width(lane) + 2:
            left = [(name, "strong"), (pad(f"  {lane}", room - cell_width(name)), "muted")]
        count_style = "open" if count else "muted"
        usage_pieces: Pieces = [(usage, "muted")]
        return [
            (f"{STATE_SYMBOLS[state]} ", state),
            *left,
            *usage_pieces,
            (label, state),
            (right, count_style),
        ]

    def _render_short(self, sessions: list[SessionInfo], width: int) -> Pieces:
        pieces: Pieces = []
        room = width - 6
        for index, session in enumerate(sessions):
            name = session_name(session, self._model)
            if cell_width(name) + 4 > room:
                return [*pieces, (f"+{len(sessions) - index}", "muted")]
            state = session.state if session.state in STATE_SYMBOLS else "idle"
            pieces += [(f"{STATE_SYMBOLS[state]} ", state), (f"{name}  ", "strong")]
            room -= cell_width(name) + 4
        return pieces

    def _render_no_session(self, width: int) -> Pieces:
        if self._model.link != "live":
            return [("· ", "muted"), (cut("connecting to the watcher", width - 2), "muted")]
        if self._model.sessions:
            return [("· ", "muted"), ("no session is running", "muted"), ("  q", "key"), (" close", "muted")]
        return [
            ("· ", "muted"),
            ("no session yet", "muted"),
            ("  start one: ", "muted"),
            ("chorus claude", "command"),
        ]


def plan_sessions(model: PanelModel) -> list[SessionInfo]:
    """List sessions, waiting ones first.

    A session that is gone is listed while it has open actions or a prompt, and is otherwise left out.
    """
    prompted = {prompt.session for prompt in model.prompts.values()}
    # A prompt on a screen is known earlier than the session's state, and also where no hook reports it.
    present = [replace(s, state="waiting") if s.id in prompted else s for s in model.sessions.values()]
    known = [s for s in present if s.state != "gone" or model.open_counts[s.id]]
    return sorted(known, key=_rank)


def _rank(session: SessionInfo) -> int:
    return ORDER.index(session.state) if session.state in ORDER else len(ORDER)


def session_name(session: SessionInfo, model: PanelModel) -> str:
    """Return a session's task, from its first message; else its lane's short name, else part of its id."""
    if title := sanitize(subject_of(session.title) or session.title):
        return title
    lane = model.lane_of(session.id)
    return sanitize(short_lane_name(lane)) if lane else sanitize(session.id[:8])


def _describe_trouble(session: SessionInfo) -> str:
    if session.error:
        return sanitize(session.error)
    return f"rate limit: {sanitize(session.limit)}" if session.limit else ""


def _fit_usage(session: SessionInfo, room: int, spare: int) -> str:
    """Return the session's duration, tokens and cost, as far as they are known.

    What does not fit in `room` is left out: the duration first, then the tokens, then the cost. If `spare`
    has enough room, everything is shown, with the model, the permission mode and the context.
    """
    settings = [sanitize(session.model or ""), sanitize(session.mode or ""), _describe_context(session)]
    usage = [render_duration(session.since, session.last)]
    usage += [f"{_render_count(session.tokens)} tokens"] if session.tokens else []
    usage += [f"${session.cost:.2f}"] if session.cost is not None else []
    if cell_width(whole := _join([*settings, *usage])) <= spare:
        return whole
    while usage and cell_width(_join(usage)) > room:
        usage.pop(0)  # the cost is what users look for
    return _join(usage)


def _join(parts: list[str]) -> str:
    known = " · ".join(part for part in parts if part)
    return f"  {known}" if known else ""


def _describe_context(session: SessionInfo) -> str:
    """Return how much of the model's context is used: `45k of 200k in context`."""
    if session.context is None:
        return ""
    fits = f" of {_render_count(session.window)}" if session.window else ""
    return f"{_render_count(session.context)}{fits} in context"


def _render_count(number: int) -> str:
    """Return `850`, `12k` or `1.4M`."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.0f}k" if number < 999_500 else f"{number / 1_000_000:.1f}M"
