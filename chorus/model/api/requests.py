"""The requests that the watcher takes, and the arguments of each request.

The arguments are typed dictionaries, which need only the standard library, so that short commands start fast.
"""

from typing import Literal, NotRequired, TypedDict

# How an action is named: by its number, its tool_use_id or a lane commit. A prefix `TREE:` names a work tree.
ActionName = str | int
Decision = Literal["allow", "allow-always", "deny", "option", "answers"]


class NoArguments(TypedDict):
    """For requests without arguments."""


class WatchArguments(TypedDict):
    """Watch a pane.

    For a headless session of Chorus, `run` is the session's name and `pipe` the pipe that feeds its client.
    """

    socket: str  # of the tmux server
    pane: str
    run: NotRequired[str | None]
    pipe: NotRequired[str | None]
    servers: NotRequired[list[str]]  # names of the MCP servers registered for the headless session
    resumes: NotRequired[str | None]  # the session that the headless session continues or forks
    panel: NotRequired[list[str] | None]  # the command of a side panel, opened unless one is open


class CaptureArguments(TypedDict):
    """Follow a file into which another program writes what a headless client prints."""

    path: str
    cwd: str  # where the client runs, if its events do not name it
    width: NotRequired[int | None]  # the width at which the text is wrapped


class TrackHooksArguments(TypedDict):
    """Remove the hooks from this settings file once the client in this pane has ended.

    `installed`: True if Chorus added the hooks for this client. If False, they may be the user's own: they
    stay, unless Chorus added them for another client.
    """

    socket: str
    pane: str
    settings: str
    backups: str
    installed: bool


class ImageArgument(TypedDict):
    media_type: str
    data: str  # in base64


class SendArguments(TypedDict):
    """Send a message to the headless session `run`, which may be left out if there is only one."""

    message: str
    images: NotRequired[list[ImageArgument]]
    run: NotRequired[str | None]


class RunArguments(TypedDict):
    """For `ready` and `interrupt`: the headless session `run`, which may be left out if there is only one."""

    run: NotRequired[str | None]


class ModeArguments(TypedDict):
    mode: str
    run: NotRequired[str | None]


class TurnsArguments(TypedDict):
    """List the turns of a session, or of all sessions. `turn`: the id of one turn, or the id's beginning."""

    session: NotRequired[str | None]
    turn: NotRequired[str | None]
    cwd: NotRequired[str | None]


class EndArguments(TypedDict):
    """Close the input of the headless session `run`, which may be left out if there is only one."""

    run: NotRequired[str | None]
    wait: NotRequired[bool]  # answer only when the client has exited


class QuestionArgument(TypedDict):
    question: str
    labels: NotRequired[list[str]]
    text: NotRequired[str | None]


class AnswerChoice(TypedDict):
    decision: Decision
    option: NotRequired[str | None]  # the key of the option, for "option"
    message: NotRequired[str | None]
    answers: NotRequired[list[QuestionArgument]]  # for "answers"


class AnswerArguments(AnswerChoice):
    """Answer the prompt that was listed with this id and this fingerprint, and no other prompt."""

    prompt: str
    fingerprint: str
    by: NotRequired[str]


class LanesArguments(TypedDict):
    """List the lanes of all work trees of the repository.

    `cwd`: a directory in the current work tree. `here`: list only the lanes of the current work tree.
    """

    cwd: NotRequired[str | None]
    here: NotRequired[bool]


class LogSelection(TypedDict):
    """Which log entries to list. A key that is absent or None sets no condition.

    Outside changes are listed only if `outside` is true or `status` is "outside".
    """

    lane: NotRequired[str | None]
    turns: NotRequired[list[str]]  # ids, or the beginnings of ids
    path: NotRequired[str | None]
    tool: NotRequired[str | None]
    status: NotRequired[str | None]
    since: NotRequired[str | None]
    outside: NotRequired[bool]
    open: NotRequired[bool]
    before: NotRequired[int | None]
    limit: NotRequired[int | None]


class LogView(LogSelection):
    """A selection of log entries. `here`: only those of the current work tree."""

    here: NotRequired[bool]


class LogArguments(LogView):
    cwd: NotRequired[str | None]


class ActionArguments(TypedDict):
    """For `hunks`: the action whose hunks to list."""

    action: ActionName
    cwd: NotRequired[str | None]


class ShowArguments(ActionArguments):
    """Show an action. `user_diff`: make the patch with the user's settings for diffs."""

    user_diff: NotRequired[bool]


class BlameArguments(TypedDict):
    """Find the actions that wrote the lines of a file. `line`: only this line, counted from 1."""

    path: str  # absolute
    line: NotRequired[int | None]
    cwd: NotRequired[str | None]


class NoteArguments(TypedDict):
    """Write a note on an action.

    `line`: a line of the file as the action left it. `path`: the file, if the action changed several.
    """

    action: ActionName
    text: str
    path: NotRequired[str | None]
    line: NotRequired[int | None]
    cwd: NotRequired[str | None]


class NotesArguments(TypedDict):
    """Select the notes to list, send, drop or mark as addressed."""

    notes: NotRequired[list[int]]  # their numbers; absent: all notes
    cwd: NotRequired[str | None]
    here: NotRequired[bool]


class PullRequestArguments(TypedDict):
    lane: str
    cwd: NotRequired[str | None]


class ActionSelection(TypedDict):
    cwd: NotRequired[str | None]
    actions: NotRequired[list[ActionName]]
    turn: NotRequired[str | None]
    turns: NotRequired[list[str]]
    lane: NotRequired[str | None]


class KeepArguments(ActionSelection):
    undo: NotRequired[bool]  # reopen kept actions instead


class RevertArguments(ActionSelection):
    path: NotRequired[list[str]]
    hunks: NotRequired[list[int]]
    dry_run: NotRequired[bool]
    with_dependents: NotRequired[bool]
    markers: NotRequired[bool]
    notify: NotRequired[bool]


class RedoArguments(TypedDict):
    actions: list[ActionName]
    cwd: NotRequired[str | None]
    dry_run: NotRequired[bool]
    notify: NotRequired[bool]


class LandMessage(TypedDict):
    actions: list[int]
    message: str


class NamedMessage(TypedDict):
    """The commit message for a turn, or for an action if each action has its own commit."""

    name: str
    message: str


class LandArguments(TypedDict):
    """Land actions of a lane. Without `actions` and `turns`, land all actions that are still to land.

    `messages`: one for each commit; actions that no message names are not landed. `fixup`: fold all changes
    into this commit.
    """

    lane: str
    actions: NotRequired[list[ActionName]]
    turns: NotRequired[list[str]]
    kept: NotRequired[bool]
    hunks: NotRequired[list[int]]
    with_context: NotRequired[bool]
    fixup: NotRequired[str | None]
    named_messages: NotRequired[list[NamedMessage]]
    cwd: NotRequired[str | None]
    by: NotRequired[str]
    onto: NotRequired[str | None]
    message: NotRequired[str | None]
    messages: NotRequired[list[LandMessage]]
    dry_run: NotRequired[bool]


class DropArguments(TypedDict):
    """Drop a lane, or restore a dropped lane. Without `lane`, drop every lane of the work tree."""

    lane: NotRequired[str | None]
    cwd: NotRequired[str | None]
    restore: NotRequired[bool]


# The arguments of each request, by its name.
REQUESTS: dict[str, type] = {
    "hello": NoArguments,
    "status": NoArguments,
    "stop": NoArguments,
    "subscribe": NoArguments,
    "sync": NoArguments,
    "sessions": NoArguments,
    "watch": WatchArguments,
    "capture": CaptureArguments,
    "track_hooks": TrackHooksArguments,
    "send": SendArguments,
    "end": EndArguments,
    "ready": RunArguments,
    "interrupt": RunArguments,
    "mode": ModeArguments,
    "turns": TurnsArguments,
    "prompts": NoArguments,
    "answer": AnswerArguments,
    "audit": NoArguments,
    "lanes": LanesArguments,
    "log": LogArguments,
    "show": ShowArguments,
    "blame": BlameArguments,
    "hunks": ActionArguments,
    "note": NoteArguments,
    "notes": NotesArguments,
    "send_notes": NotesArguments,
    "drop_notes": NotesArguments,
    "address_notes": NotesArguments,
    "pull_request": PullRequestArguments,
    "revert": RevertArguments,
    "redo": RedoArguments,
    "keep": KeepArguments,
    "land": LandArguments,
    "drop": DropArguments,
}
