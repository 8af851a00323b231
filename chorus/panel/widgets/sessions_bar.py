"""The sessions at the top of the panel: one line each with name, state and how many actions are open.

Sessions that wait for the user come first. A click on one shows only its actions.
"""

from dataclasses import replace

from textual.events import Click
from textual.message import Message

from chorus.model.lane_name import short_lane_name
from chorus.panel.items import SessionInfo
from chorus.panel.labels import STATE_SYMBOLS, STATE_WORDS
from chorus.panel.model import PanelModel
from chorus.panel.theme import Appearance
from chorus.panel.widgets.line_pane import LinePane, Pieces, StyledLine
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, cut, pad

ORDER = ("waiting", "working", "idle", "gone")
MAX_SESSION_LINES = 4
# In a narrower panel the state is a symbol only.
MIN_STATE_WORD_WIDTH = 36


class SessionsBar(LinePane, can_focus=False):
    class Picked(Message):
        def __init__(self, session: str) -> None:
            super().__init__()
            self.session = session

    def __init__(self, appearance: Appearance, model: PanelModel, *, id: str | None = None) -> None:
        super().__init__(appearance, id=id)
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
        name, title = session_name(session, self._model), sanitize(session.title)
        count = self._model.open_counts[session.id]
        label = f" {STATE_WORDS[state]}" if width >= MIN_STATE_WORD_WIDTH else ""
        right = f"  {count} open " if count else " "
        room = width - 2 - cell_width(label) - cell_width(right)
        if title and title != name and room > cell_width(name) + 12:
            title = cut(title, room - cell_width(name) - 2)
            left: Pieces = [(name, "strong"), (pad(f"  {title}", room - cell_width(name)), "muted")]
        else:
            left = [(pad(name, room), "strong")]
        count_style = "open" if count else "muted"
        return [(f"{STATE_SYMBOLS[state]} ", state), *left, (label, state), (right, count_style)]

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
        return [
            ("· ", "muted"),
            ("no session yet", "muted"),
            ("  start one: ", "muted"),
            ("chorus claude", "command"),
        ]


def plan_sessions(model: PanelModel) -> list[SessionInfo]:
    """List sessions, those that wait first; those that are gone only while they have open actions."""
    prompted = {prompt.session for prompt in model.prompts.values()}
    # A prompt on a screen is known earlier than the session's state, and also where no hook reports it.
    present = [replace(s, state="waiting") if s.id in prompted else s for s in model.sessions.values()]
    by_origin: dict[str, SessionInfo] = {}
    for session in sorted(present, key=_rank):
        origin = model.origin_of(session.id)
        # A session that continues under another id is shown once: with its first id, which its actions have,
        # and its latest state.
        first = model.sessions.get(origin, session)
        latest = by_origin.get(origin, session)
        by_origin[origin] = replace(first, id=origin, state=latest.state, pane=latest.pane)
    known = [s for s in by_origin.values() if s.state != "gone" or model.open_counts[s.id]]
    return sorted(known, key=_rank)


def _rank(session: SessionInfo) -> int:
    return ORDER.index(session.state) if session.state in ORDER else len(ORDER)


def session_name(session: SessionInfo, model: PanelModel) -> str:
    """Return the lane's name without its prefix, else the title, else the start of the id."""
    if lane := model.lane_of(session.id):
        return sanitize(short_lane_name(lane))
    return sanitize(session.title) or sanitize(session.id[:8])
