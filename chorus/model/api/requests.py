"""The requests the watcher takes: the arguments of each, defined once for the watcher and its callers.

Typed dictionaries from the standard library alone, so that a short command pays for no import. The answers
are the records of `json_api`. The watcher checks the arguments against these records; mypy checks the callers
(`wire.client.Connection.ask`).
"""

from typing import Literal, NotRequired, TypedDict

# An action by its number, its tool_use_id or a lane commit; TREE: before it names its work tree.
ActionName = str | int
Decision = Literal["allow", "allow-always", "deny", "option", "answers"]


class NoArguments(TypedDict):
    """No arguments: `hello`, `status`, `stop`, `subscribe`, `sync`, `prompts`, `audit` and `sessions`."""


class WatchArguments(TypedDict):
    """Watch a pane. `run` and `pipe`: it holds a headless session of Chorus, fed through that pipe."""

    socket: str  # of the tmux server
    pane: str
    run: NotRequired[str | None]
    pipe: NotRequired[str | None]
    servers: NotRequired[list[str]]  # names of the MCP servers registered for it
    resumes: NotRequired[str | None]  # the session that it continues or forks
    panel: NotRequired[list[str] | None]  # the command of a side panel, opened unless one is open


class CaptureArguments(TypedDict):
    """Follow a file into which another program writes what a headless client prints."""

    path: str
    cwd: str  # where the client runs, if its events do not name it
    width: NotRequired[int | None]  # at which the text is wrapped


class TrackHooksArguments(TypedDict):
    """Remove the hooks from this settings file when the client in this pane has ended.

    `installed`: True if Chorus added the hooks for this client; otherwise they may be the user's own.
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
    """Send a message to a headless session; without `run`, to the only one."""

    message: str
    images: NotRequired[list[ImageArgument]]
    run: NotRequired[str | None]


class RunArguments(TypedDict):
    """For `ready` and `interrupt`: a headless session; without `run`, the only one."""

    run: NotRequired[str | None]


class ModeArguments(TypedDict):
    """Change the permission mode of a headless session."""

    mode: str
    run: NotRequired[str | None]


class TurnsArguments(TypedDict):
    """The turns of a session, or of all; `turn`: an id or its beginning."""

    session: NotRequired[str | None]
    turn: NotRequired[str | None]
    cwd: NotRequired[str | None]


class EndArguments(TypedDict):
    """Close the input of a headless session; without `run`, of the only one."""

    run: NotRequired[str | None]
    wait: NotRequired[bool]  # until the client has exited


class QuestionArgument(TypedDict):
    """The answer to one question of a prompt: labels of options, or the user's own text."""

    question: str
    labels: NotRequired[list[str]]
    text: NotRequired[str | None]


class AnswerChoice(TypedDict):
    """The answer to a prompt."""

    decision: Decision
    option: NotRequired[str | None]  # the key of the option, for "option"
    message: NotRequired[str | None]
    answers: NotRequired[list[QuestionArgument]]  # for "answers"


class AnswerArguments(AnswerChoice):
    """Answer the prompt that was listed under this id with this fingerprint, and no other."""

    prompt: str
    fingerprint: str
    by: NotRequired[str]


class LanesArguments(TypedDict):
    """Which work trees to list.

    `cwd`: a directory in the current work tree; by default the repository's main one. `here`: only this work
    tree; otherwise all of the repository.
    """

    cwd: NotRequired[str | None]
    here: NotRequired[bool]


class LogSelection(TypedDict):
    """Which log entries to list; a key that is absent or None matches all."""

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
    """A selection, and whether it is of the current work tree alone."""

    here: NotRequired[bool]


class LogArguments(LogView):
    cwd: NotRequired[str | None]


class ActionArguments(TypedDict):
    """The arguments of `hunks`: one action."""

    action: ActionName
    cwd: NotRequired[str | None]


class ShowArguments(ActionArguments):
    """Show an action. `user_diff`: make the patch with the user's settings for diffs."""

    user_diff: NotRequired[bool]


class BlameArguments(TypedDict):
    """Which actions wrote the lines of a file, or one line of it, counted from 1."""

    path: str  # absolute
    line: NotRequired[int | None]
    cwd: NotRequired[str | None]


class NoteArguments(TypedDict):
    """Write a note. `line`: of the file as the action left it; `path`: which file, if it changed several."""

    action: ActionName
    text: str
    path: NotRequired[str | None]
    line: NotRequired[int | None]
    cwd: NotRequired[str | None]


class NotesArguments(TypedDict):
    """For `notes`, `send_notes`, `drop_notes` and `address_notes`: these notes, or all."""

    notes: NotRequired[list[int]]
    cwd: NotRequired[str | None]
    here: NotRequired[bool]


class PullRequestArguments(TypedDict):
    lane: str
    cwd: NotRequired[str | None]


class KeepArguments(TypedDict):
    """Which actions are meant: those named, those of a turn, those of a lane."""

    cwd: NotRequired[str | None]
    actions: NotRequired[list[ActionName]]
    turn: NotRequired[str | None]
    turns: NotRequired[list[str]]
    lane: NotRequired[str | None]
    undo: NotRequired[bool]  # open them again


class RevertArguments(KeepArguments):
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
    """The commit message for a group of actions."""

    actions: list[int]
    message: str


class NamedMessage(TypedDict):
    """The commit message for a turn, or for an action if each has its own commit."""

    name: str
    message: str


class LandArguments(TypedDict):
    """Land actions of a lane; without `actions` and `turns`, all of them.

    `messages`: one for each commit. If given, only the actions they name are landed. `fixup`: fold everything
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
    """Drop or restore a lane; without one, every lane of the work tree."""

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
