"""Who is at work: one line per session with its lane, its state and what is left to look at.

Receives the model; gives a few lines, those that wait for the person first. A click on one shows only
its actions.
"""

from dataclasses import replace

from textual.events import Click
from textual.message import Message

from chorus.model.lane_name import short_lane_name
from chorus.panel.glyphs import STATE, STATE_WORDS
from chorus.panel.items import Session
from chorus.panel.model import Model
from chorus.panel.pane import LinePane, Look, Pieces
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, cut, pad

ORDER = ("waiting", "working", "idle", "gone")
MOST_LINES = 4
# Wide enough for the name, the state in words and the count.
WORDS_FROM = 36


class SessionsBar(LinePane, can_focus=False):
    class Picked(Message):
        def __init__(self, session: str) -> None:
            super().__init__()
            self.session = session

    def __init__(self, look: Look, model: Model, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self._model = model
        self.sessions: list[Session] = []
        self.picked: str | None = None
        self._most = MOST_LINES

    def update_from_model(self, *, picked: str | None) -> None:
        self.picked = picked
        self.sessions = plan_sessions(self._model)
        self._resize()

    def set_room(self, rows: int) -> None:
        self._most = rows
        self._resize()

    def line_count(self) -> int:
        return max(min(len(self.sessions), self._most), 1)

    def line(self, index: int, width: int) -> tuple[Pieces, str]:
        if not self.sessions:
            return self._render_nobody(width), "bar"
        hidden = len(self.sessions) - self._most
        if hidden > 0 and index == self._most - 1:
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

    def _render_session(self, session: Session, width: int) -> Pieces:
        state = session.state if session.state in STATE else "idle"
        name, title = render_name(session, self._model), sanitize(session.title)
        count = self._model.open_counts[session.id]
        words = f" {STATE_WORDS[state]}" if width >= WORDS_FROM else ""
        right = f"  {count} open " if count else " "
        room = width - 2 - cell_width(words) - cell_width(right)
        if title and title != name and room > cell_width(name) + 12:
            title = cut(title, room - cell_width(name) - 2)
            left: Pieces = [(name, "strong"), (pad(f"  {title}", room - cell_width(name)), "muted")]
        else:
            left = [(pad(name, room), "strong")]
        count_style = "open" if count else "muted"
        return [(f"{STATE[state]} ", state), *left, (words, state), (right, count_style)]

    def _render_short(self, sessions: list[Session], width: int) -> Pieces:
        pieces: Pieces = []
        room = width - 6
        for index, session in enumerate(sessions):
            name = render_name(session, self._model)
            if cell_width(name) + 4 > room:
                return [*pieces, (f"+{len(sessions) - index}", "muted")]
            state = session.state if session.state in STATE else "idle"
            pieces += [(f"{STATE[state]} ", state), (f"{name}  ", "strong")]
            room -= cell_width(name) + 4
        return pieces

    def _render_nobody(self, width: int) -> Pieces:
        if self._model.link != "live":
            return [("· ", "muted"), (cut("looking for the agent", width - 2), "muted")]
        return [
            ("· ", "muted"),
            ("no session yet", "muted"),
            ("  start one: ", "muted"),
            ("chorus claude", "command"),
        ]


def plan_sessions(model: Model) -> list[Session]:
    """Those that wait first, then those at work; the ones that are gone while something of them is open."""
    asked = {prompt.session for prompt in model.prompts.values()}
    # What stands on a screen is known before, and where, no hook tells of it.
    present = [replace(s, state="waiting") if s.id in asked else s for s in model.sessions.values()]
    one_each: dict[str, Session] = {}
    for session in sorted(present, key=_rank):
        origin = model.origin_of(session.id)
        # One that goes on under another name is one still: by the name its actions go by, as it is now.
        first = model.sessions.get(origin, session)
        lively = one_each.get(origin, session)
        one_each[origin] = replace(first, id=origin, state=lively.state, pane=lively.pane)
    known = [s for s in one_each.values() if s.state != "gone" or model.open_counts[s.id]]
    return sorted(known, key=_rank)


def _rank(session: Session) -> int:
    return ORDER.index(session.state) if session.state in ORDER else len(ORDER)


def render_name(session: Session, model: Model) -> str:
    """The lane's name without its prefix, else the title, else the start of the id."""
    if lane := model.lane_of(session.id):
        return sanitize(short_lane_name(lane))
    return sanitize(session.title) or sanitize(session.id[:8])
