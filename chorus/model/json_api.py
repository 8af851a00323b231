"""The JSON records of Chorus: what the watcher sends, what `--json` prints and what the panel reads.

Each record is defined here once, as a typed dictionary: at run time it is the decoded JSON itself, so a
short command pays for no conversion. Keys are API: they may be added, but not renamed or removed.
`chorus.model.schema` gives the pydantic validator and the JSON schema of each.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

ActionStatus = Literal[
    "committed", "reverted", "kept", "landed", "undone", "noop", "failed", "denied", "outside"
]
SessionState = Literal["working", "waiting", "idle", "gone"]
OptionMeaning = Literal["allow", "allow-always", "deny", "other"]


class LogEntryJson(TypedDict):
    """One line of the log: an action, a call that changed nothing, or an outside change."""

    n: int | None  # None for an outside change
    id: str | None  # the tool_use_id; None for an outside change
    lane: str | None
    session: str | None
    turn: str | None
    tool: str | None
    agent: str | None  # the sub-agent that made the call; None for the main agent
    paths: list[str]
    files: int | None  # how many; `paths` is empty where there are too many to list
    status: ActionStatus
    commit: str | None
    timeline: str | None  # the timeline commit; None for a call that changed nothing
    summary: str
    source: str | None
    time: str
    added: int | None
    removed: int | None
    message: str | None  # the user's message of the turn
    landed: bool
    reverts: list[str]
    within: str | None  # the action whose record also holds this one's change
    reason: str | None
    skipped: list[str]


class EditJson(TypedDict):
    """One path of an action. Blob ids and modes; None where there is no file."""

    path: str
    before: str | None
    after: str | None
    mode_before: int | None
    mode_after: int | None


class ActionJson(LogEntryJson):
    """What `show` gives: the log entry with its edits and its patch."""

    edits: list[EditJson]
    patch: str


class LaneJson(TypedDict):
    name: str
    ref: str
    base: str | None
    tip: str
    session: str | None
    actions: int
    open: int


class SessionJson(TypedDict):
    id: str
    state: SessionState
    cwd: str | None
    title: str
    transcript: str | None
    pane: str | None
    server: str | None  # the socket of the tmux server the pane is on
    client: str | None  # the client's process, by number and start time
    parent: str | None  # the session it continues
    sources: list[str]
    since: str
    last: str


class OptionJson(TypedDict):
    key: str
    label: str
    meaning: OptionMeaning


class PromptJson(TypedDict):
    """A pending prompt. `prompts --screen` gives the same without `body`, `input` and `words`."""

    id: str
    session: str | None
    pane: str | None
    kind: str
    tool: str | None
    title: str
    question: str
    options: list[OptionJson]
    fingerprint: str
    since: str | None
    body: NotRequired[str]
    input: NotRequired[Mapping[str, Any] | None]  # the tool's input, in the client's own form
    words: NotRequired[str | None]  # the key of the option that takes the user's own words


class UnreadableScreenJson(TypedDict):
    """A screen that no dialog rule fits, or that shows no dialog."""

    kind: Literal["unknown", "none"]


class WatcherJson(TypedDict):
    """The watcher's own part of the status."""

    pid: int
    version: str
    protocol: int
    repository: str
    since: str


class StatusJson(TypedDict):
    """What the watcher watches right now. `watcher` is None if none is running."""

    watcher: WatcherJson | None
    ok: bool
    work_trees: list[str]
    sessions: list[SessionJson]
    lanes: int
    open: int
    prompts: int
    problems: list[str]


class HunkJson(TypedDict):
    """A part of an action that can be reverted by itself."""

    n: int
    path: str
    patch: str


class RevertJson(TypedDict):
    """What a revert or redo did, or would do."""

    n: int | None  # the number of the revert itself; None for a dry run
    reverted: list[int]
    paths: list[str]
    patch: str
    made: NotRequired[list[int]]
    restored: NotRequired[list[int]]
    notified: NotRequired[list[str]]  # sessions


class KeepJson(TypedDict):
    kept: list[int]


class LandedCommitJson(TypedDict):
    oid: str | None  # None for a dry run
    subject: str
    actions: list[int]
    message: str


class LandJson(TypedDict):
    commits: list[LandedCommitJson]
    onto: str
    present: list[int]  # actions whose change the branch already has
    dry_run: bool


class AnswerJson(TypedDict):
    """How an answer reached the client."""

    key: str | None
    how: str
    verified: bool


class BlameLineJson(TypedDict):
    """One line of a file, with the action that wrote it; None where no action is known."""

    line: int
    text: str
    commit: str | None
    n: int | None
    id: str | None
    tool: str | None
    message: str | None
    session: str | None
    turn: str | None
    time: str | None
    summary: str | None
    lane: str | None


class AuditEntryJson(TypedDict):
    """One answer to a prompt, given or refused."""

    time: str
    prompt: PromptJson
    answer: str
    by: str
    how: str | None
    keys: list[str]
    screen: NotRequired[str | None]
    refused: NotRequired[str | None]


class CheckJson(TypedDict):
    """One check of `doctor`."""

    name: str
    ok: bool
    detail: str
    fix: str | None


class DoctorJson(TypedDict):
    ok: bool
    chorus: str  # the version
    checks: list[CheckJson]


class InspectedActionJson(TypedDict):
    """One action of a recording."""

    id: str
    tool: str
    paths: list[str]
    status: str  # succeeded, failed, denied or unfinished
    agent: str | None
    session: str | None
    turn: str | None


class InspectJson(TypedDict):
    """What `inspect` finds in a recording."""

    actions: list[InspectedActionJson]
    events: int
    unknown: dict[str, int]  # events of unknown types, by type
    problems: dict[str, int]  # what was not understood, by kind


class WatchJson(TypedDict):
    """A pane that is watched now."""

    pane: str
    session: str | None
    client: bool  # whether a client runs in it


class RunJson(TypedDict):
    """The headless session a request reached."""

    run: str
    session: NotRequired[str | None]


class DropJson(TypedDict):
    lanes: list[str]


class ActionEvent(TypedDict):
    """A log entry that is new or has changed."""

    event: Literal["action"]
    entry: LogEntryJson
    work_tree: str


class PromptEvent(TypedDict):
    """A prompt that is new or has changed."""

    event: Literal["prompt"]
    prompt: PromptJson


class PromptGoneEvent(TypedDict):
    """A prompt that is no longer pending."""

    event: Literal["prompt-gone"]
    id: str
    why: str


class SessionEvent(TypedDict):
    """A session that is new or has changed."""

    event: Literal["session"]
    session: SessionJson


class NoticeEvent(TypedDict):
    """A message of the watcher about itself, to be shown to the user."""

    event: Literal["notice"]
    level: Literal["info", "warning"]
    text: str


# What the watcher sends to a connection after `subscribe`.
EventJson = ActionEvent | PromptEvent | PromptGoneEvent | SessionEvent | NoticeEvent
