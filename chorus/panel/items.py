"""What the panel shows, as values: entries, sessions, lanes and prompts. `item_parsing` makes them."""

from dataclasses import dataclass

from chorus.model.review_state import OPEN_STATUS, is_open

# The statuses of actions that changed files; the others are calls that left nothing behind.
CHANGE_STATUSES = frozenset({"committed", "kept", "reverted"})


@dataclass(frozen=True, slots=True)
class Entry:
    # A change no action made has none of its own: it stands a fraction after the action before it.
    n: float
    id: str
    lane: str | None
    session: str
    turn: str
    tool: str
    agent: str | None
    paths: tuple[str, ...]
    status: str
    commit: str | None
    summary: str
    source: str
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
        """Made by no action: nobody's to keep or take back."""
        return self.status == "outside"

    @property
    def open(self) -> bool:
        """Whether it still has to be reviewed."""
        return is_open(self.status, self.tool, self.reverts, self.within, landed=self.landed)

    @property
    def shown(self) -> str:
        """What became of it, in one word: `landed` and `done` (nothing to review) beside the statuses."""
        if self.status not in (OPEN_STATUS, "kept"):
            return self.status
        if self.landed:
            return "landed"
        return self.status if self.open or self.status == "kept" else "done"

    @property
    def group(self) -> tuple[str, str]:
        return (self.session, self.turn)


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    lane: str | None
    state: str
    pane: str | None
    sources: tuple[str, ...]
    title: str
    since: str
    last: str
    parent: str | None = None  # the session it goes on from


@dataclass(frozen=True, slots=True)
class Lane:
    name: str
    ref: str
    session: str
    actions: int
    open: int


@dataclass(frozen=True, slots=True)
class Option:
    key: str
    label: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Prompt:
    id: str
    session: str
    pane: str | None
    kind: str
    tool: str
    title: str
    question: str
    options: tuple[Option, ...]
    fingerprint: str
    since: str
    body: str
    path: str | None
    words: str | None = None  # the key of the option that takes words of one's own

    def option(self, meaning: str) -> Option | None:
        return next((option for option in self.options if option.meaning == meaning), None)
