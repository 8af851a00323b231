"""The JSON records of Chorus: what the watcher sends, what `--json` prints and what the panel reads.

Each record is a typed dictionary, so short commands spend no time on converting the decoded JSON. The keys
are a public API: keys may be added, but not renamed or removed.
"""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from chorus.model.action import ActionStatus, UndoneBy

SessionState = Literal["working", "waiting", "idle", "gone"]
NoteState = Literal["draft", "sent", "addressed"]
OptionMeaning = Literal["allow", "allow-always", "deny", "other"]


class UndoneJson(TypedDict):
    """How much of an action's change is no longer in the work tree, and what removed it."""

    by: UndoneBy
    whole: bool  # nothing of it is left: the status is `undone`
    lines: int  # how many of its lines are gone
    of: int  # how many lines it changed in the files where some are gone


class ContextJson(TypedDict):
    """Uncommitted lines of another author that an action changed. The lane has them in a context commit."""

    path: str
    by: int | None  # the action that wrote them; None: the user
    lines: list[int]  # their numbers before the action, from 1; empty: the whole file


class NoteStateJson(TypedDict):
    n: int
    state: NoteState


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
    reverts_part: list[str]  # actions of which it reverts only some hunks
    within: str | None  # the action whose record also holds this one's change
    reason: str | None
    skipped: list[str]
    undone: UndoneJson | None
    worktree: str  # the name of the work tree: `main`, or the one git gave a linked work tree
    context: list[ContextJson]
    command: str | None  # what the shell was given: its first 500 characters; None for other tools
    notes: NotRequired[list[NoteStateJson]]  # the user's notes on it, if there are any


class NoteJson(TypedDict):
    n: int
    action: int | None
    id: str  # the action's tool_use_id
    session: str | None
    lane: str | None
    path: str | None
    line: int | None  # in the file as the action left it; None: the whole action
    text: str
    state: NoteState
    created: str
    sent: str | None
    changed: bool  # its lines have changed since it was written
    at: int | None  # where its lines begin now; None: they are gone
    quote: list[str]  # its lines as they are now
    worktree: str


class PullRequestJson(TypedDict):
    lane: str
    title: str
    body: str


class SentNotesJson(TypedDict):
    sent: list[int]
    now: list[str]  # sessions that received them at once
    queued: list[str]  # sessions that receive them with their next step or message


class EditJson(TypedDict):
    """One edit: the blob ids and modes of a path before and after an action; None if there is no file."""

    path: str
    before: str | None
    after: str | None
    mode_before: int | None
    mode_after: int | None


class ActionJson(LogEntryJson):
    """The answer to `show`: the log entry with its edits and its patch."""

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
    worktree: str  # the work tree of its session
    context: list[ContextJson]  # of all its actions, by path


class TokensJson(TypedDict):
    """The tokens that the model read and wrote. `input` counts neither cache reads nor cache writes."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class SessionSums(TypedDict):
    tokens: TokensJson
    cost_usd: float | None
    context: int | None  # tokens in the model's context
    window: int | None  # how many fit
    turns: int
    failed: int
    retries: int
    duration_ms: int | None


class SessionJson(TypedDict):
    id: str
    state: SessionState
    cwd: str | None
    title: str
    transcript: str | None
    pane: str | None
    server: str | None  # the socket of the tmux server the pane is on
    client: str | None  # the client's process, by pid and start time
    worktree: NotRequired[str | None]  # in `status`: the name of the work tree that `cwd` is in
    # In `status`: its events are read from the screen, because another program pipes its pane.
    from_screen: NotRequired[bool]
    run: NotRequired[str | None]  # in `status`: the name that `chorus send --run` takes
    capture: NotRequired[str | None]  # in `status`: the capture file that its events are read from
    gaps: NotRequired[int]  # in `status`: how often output may have been missed
    parent: str | None  # the session it continues
    sources: list[str]
    since: str
    last: str
    model: NotRequired[str | None]
    mode: NotRequired[str | None]  # the permission mode
    version: NotRequired[str | None]  # of the client
    limit: NotRequired[str | None]  # the account's rate limit, if the client reports one
    error: NotRequired[str | None]  # why the last turn failed, or what is being retried
    tokens: NotRequired[TokensJson]  # of its turns so far
    cost_usd: NotRequired[float | None]
    context: NotRequired[int | None]  # tokens in the model's context
    window: NotRequired[int | None]
    turns: NotRequired[int]
    failed: NotRequired[int]  # how many turns failed
    retries: NotRequired[int]
    duration_ms: NotRequired[int | None]  # of its turns
    # In `status`, where its calls are read from: mod, hooks, pipe, screen or transcript.
    source: NotRequired[str]
    commands: NotRequired[list[str]]  # of a headless session that Chorus started
    models: NotRequired[list[str]]
    account: NotRequired[dict[str, Any]]


class TurnJson(TypedDict):
    """A turn, with its message, the model's answer, its cost and why it failed."""

    session: str
    turn: str
    message: str | None
    messages: list[str]  # in a headless session: ids of the messages it read
    state: str  # running, done or failed
    answer: str | None
    error: str | None  # why it failed
    reason: str | None  # why it ended, in the client's own word
    model: str | None
    mode: str | None  # the permission mode
    tokens: TokensJson
    context: int | None  # tokens in the model's context
    window: int | None  # how many fit
    cost_usd: float | None
    duration_ms: int | None
    api_ms: int | None
    steps: int | None  # as the client counts them: answers of the model and results of tools
    retries: int
    started: str
    ended: str | None


class OptionJson(TypedDict):
    key: str
    label: str
    meaning: OptionMeaning


class PromptJson(TypedDict):
    """A pending prompt. `prompts --screen` prints it without `body`, `input`, `words` and `cut`."""

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
    cut: NotRequired[bool]  # a part of the dialog is not on the pane's screen, and is missing from `body`


class UnreadableScreenJson(TypedDict):
    """A screen with a dialog that no rule matches (`unknown`), or without a dialog (`none`)."""

    kind: Literal["unknown", "none"]


class WatcherJson(TypedDict):
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


InboxState = Literal["watched", "stopped", "unresponsive"]


class InboxRepositoryJson(TypedDict):
    """One repository of the inbox. `problem` says why data of its watcher is missing."""

    name: str  # short, and unique among those listed
    path: str  # its main work tree
    state: InboxState
    problem: str | None
    version: str | None  # of its watcher
    prompts: list[PromptJson]
    sessions: list[SessionJson]  # without those that have ended
    open: int  # how many actions wait for review
    actions: list[LogEntryJson]  # the newest of them, oldest first


class InboxJson(TypedDict):
    """All repositories of this user in which a watcher runs or ran, and the totals over them."""

    repositories: list[InboxRepositoryJson]
    prompts: int
    open: int


class HunkJson(TypedDict):
    n: int
    path: str
    patch: str


class RevertWarningJson(TypedDict):
    """A revert would remove `names` from the file, and a later action seems to use them there."""

    path: str
    names: list[str]
    by: int  # the later action


class RevertJson(TypedDict):
    n: int | None  # the number of the revert itself; None for a dry run
    reverted: list[int]
    paths: list[str]
    patch: str
    made: NotRequired[list[int]]
    restored: NotRequired[list[int]]
    notified: NotRequired[list[str]]  # sessions
    warnings: NotRequired[list[RevertWarningJson]]


class KeepJson(TypedDict):
    kept: list[int]
    reopened: list[int]  # with --undo: no longer kept


class LandedCommitJson(TypedDict):
    oid: str | None  # None for a dry run
    subject: str
    actions: list[int]
    message: str


class LeftActionJson(TypedDict):
    """One place at which an action does not fit the branch."""

    n: int
    commit: str | None  # its lane commit
    path: str
    line: int | None  # in the file on disk; None if the reason is not about lines
    why: Literal["context", "session", "action", "branch", "staged"]
    reason: str
    by: int | None  # the action it builds on


class LandJson(TypedDict):
    commits: list[LandedCommitJson]
    onto: str
    present: list[int]  # actions whose change the branch already has
    dry_run: bool
    left: list[LeftActionJson]
    hints: list[str]  # what to do about what is left
    created: bool  # whether the branch is new
    warnings: list[str]


class AnswerJson(TypedDict):
    """How an answer reached the client."""

    key: str | None
    how: str
    verified: bool


class BlameLineJson(TypedDict):
    """One line of a file, and the action that wrote it. The action's keys are None if no action is known."""

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


class RuleJson(TypedDict):
    decision: str
    tool: str | None
    command: str | None
    path: str | None
    arguments: str | None  # "any": a final * stands for any arguments
    reason: str | None
    source: str  # whose rule it is


class CheckJson(TypedDict):
    name: str
    ok: bool
    detail: str
    fix: str | None


class DoctorJson(TypedDict):
    ok: bool
    chorus: str  # the version
    checks: list[CheckJson]


class InspectedActionJson(TypedDict):
    id: str
    tool: str
    paths: list[str]
    status: str  # succeeded, failed, denied or unfinished
    agent: str | None
    session: str | None
    turn: str | None


class InspectedPromptJson(TypedDict):
    session: str | None
    tool: str | None
    call: str | None  # the call it is about, if it names one
    text: str | None
    answer: str | None  # allow, deny or cancelled; None: the recording does not show it


class UnusedRowJson(TypedDict):
    """A row of a recording from which no event was read."""

    row: int  # from 1
    text: str


class InspectJson(TypedDict):
    """What `inspect` finds in a recording."""

    actions: list[InspectedActionJson]
    events: int
    unknown: dict[str, int]  # events of unknown types, by type
    problems: dict[str, int]  # what was not understood, by kind
    sessions: list[SessionJson]
    turns: list[TurnJson]
    prompts: list[InspectedPromptJson]
    width: int | None  # for a wrapped capture: the width of the pane, as given or as detected
    unused: list[UnusedRowJson]


class WatchJson(TypedDict):
    pane: str
    session: str | None
    client: bool  # whether a client runs in it
    panel_error: NotRequired[str | None]  # why the side panel could not be opened


class CaptureJson(TypedDict):
    capture: str
    events: int  # that were read from it so far
    sessions: list[str]


class RunJson(TypedDict):
    """The answer to a request about a headless session."""

    run: str
    session: NotRequired[str | None]
    message: NotRequired[str]  # the id of the message that was sent
    how: NotRequired[str]  # how the client was interrupted: request, SIGINT or SIGTERM
    code: NotRequired[int | None]  # the client's exit code


class DropJson(TypedDict):
    lanes: list[str]


class GcJson(TypedDict):
    """What `chorus gc` did. Only `--all` sets `brought_home`, `kept` and `lost`."""

    forgotten: NotRequired[int]  # records older than chorus.keepDays
    packed: NotRequired[int]  # objects
    freed_bytes: int
    brought_home: NotRequired[int]  # objects copied to the user's store
    kept: NotRequired[list[str]]  # lanes that no timeline knows; they are plain branches now
    lost: NotRequired[list[str]]  # lanes whose commits were gone


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


class TurnEvent(TypedDict):
    """A turn that is new or has changed."""

    event: Literal["turn"]
    turn: TurnJson


class TextEvent(TypedDict):
    """A piece of the agent's text, as it is written."""

    event: Literal["text"]
    session: str
    turn: str | None
    text: str


class CallEvent(TypedDict):
    """A call that was made or has ended, described in one line."""

    event: Literal["call"]
    session: str
    turn: str | None
    id: str
    text: str  # the tool, and the command or the files
    status: str  # running, succeeded, failed, denied or unfinished
    failure: str | None


class NotesEvent(TypedDict):
    """All notes. Sent when a note is new or has changed."""

    event: Literal["notes"]
    notes: list[NoteJson]


class RunEndedEvent(TypedDict):
    """A headless session that Chorus started has ended."""

    event: Literal["run-ended"]
    run: str
    code: int | None
    how: str  # the exit code or signal, in words
    output: str


class AlertEvent(TypedDict):
    """A message of the watcher about itself, to be shown to the user."""

    event: Literal["alert"]
    level: Literal["info", "warning"]
    text: str


# What the watcher sends to a connection after `subscribe`.
EventJson = (
    ActionEvent
    | PromptEvent
    | PromptGoneEvent
    | SessionEvent
    | TurnEvent
    | TextEvent
    | CallEvent
    | NotesEvent
    | RunEndedEvent
    | AlertEvent
)
