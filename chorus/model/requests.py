"""The requests the watcher takes: the arguments of each, defined once for the watcher and its callers.

Typed dictionaries from the standard library alone, so that a short command pays for no import. The answers
are the records of `json_api`. The watcher checks the arguments against these records; mypy checks the callers
(`wire.client.Connection.ask`).
"""

from typing import Literal, NotRequired, TypedDict

# An action by its number, its tool_use_id or a lane commit.
ActionName = str | int
Decision = Literal["allow", "allow-always", "deny", "option", "answers"]


class NoArguments(TypedDict):
    """For `hello`, `status`, `stop`, `subscribe`, `sync`, `prompts`, `audit` and `sessions`."""


class WatchArguments(TypedDict):
    """Watch a pane. `run` and `pipe`: it holds a headless session of Chorus, fed through that pipe."""

    socket: str  # of the tmux server
    pane: str
    run: NotRequired[str | None]
    pipe: NotRequired[str | None]


class LendArguments(TypedDict):
    """Remove the hooks from this settings file when the client in this pane has ended.

    `installed`: they were installed for this; otherwise they may be the user's own.
    """

    socket: str
    pane: str
    settings: str
    backups: str
    installed: bool


class SendArguments(TypedDict):
    """Send a message to a headless session; without `run`, to the only one."""

    message: str
    run: NotRequired[str | None]


class EndArguments(TypedDict):
    """Close the input of a headless session; without `run`, of the only one."""

    run: NotRequired[str | None]


class QuestionAnswer(TypedDict):
    """The answer to one question of a prompt: labels of options, or the user's own text."""

    question: str
    labels: NotRequired[list[str]]
    text: NotRequired[str | None]


class AnswerArguments(TypedDict):
    """Answer the prompt that was listed under this id with this fingerprint, and no other."""

    prompt: str
    fingerprint: str
    decision: Decision
    option: NotRequired[str | None]  # the key of the option, for "option"
    message: NotRequired[str | None]
    answers: NotRequired[list[QuestionAnswer]]  # for "answers"
    by: NotRequired[str]


class LanesArguments(TypedDict):
    """`cwd`: a directory in the work tree that is meant; without it, the repository's main one."""

    cwd: NotRequired[str | None]


class LogArguments(TypedDict):
    """Which log entries to list; an argument that is absent or None matches all."""

    cwd: NotRequired[str | None]
    lane: NotRequired[str | None]
    turn: NotRequired[str | None]
    path: NotRequired[str | None]
    tool: NotRequired[str | None]
    status: NotRequired[str | None]
    since: NotRequired[str | None]
    outside: NotRequired[bool]
    open: NotRequired[bool]
    before: NotRequired[int | None]
    limit: NotRequired[int | None]


class ActionArguments(TypedDict):
    """For `show` and `hunks`."""

    action: ActionName
    cwd: NotRequired[str | None]


class RevertArguments(TypedDict):
    cwd: NotRequired[str | None]
    actions: NotRequired[list[ActionName]]
    turn: NotRequired[str | None]
    lane: NotRequired[str | None]
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


class KeepArguments(TypedDict):
    cwd: NotRequired[str | None]
    actions: NotRequired[list[ActionName]]
    turn: NotRequired[str | None]
    lane: NotRequired[str | None]


class LandMessage(TypedDict):
    """The commit message for a group of actions."""

    actions: list[int]
    message: str


class LandArguments(TypedDict):
    """`messages`: one for each commit. If given, only the actions they name are landed."""

    lane: str
    cwd: NotRequired[str | None]
    by: NotRequired[str]
    onto: NotRequired[str | None]
    message: NotRequired[str | None]
    messages: NotRequired[list[LandMessage]]
    dry_run: NotRequired[bool]


class DropArguments(TypedDict):
    """Without a lane, every lane of the work tree."""

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
    "lend": LendArguments,
    "send": SendArguments,
    "end": EndArguments,
    "prompts": NoArguments,
    "answer": AnswerArguments,
    "audit": NoArguments,
    "lanes": LanesArguments,
    "log": LogArguments,
    "show": ActionArguments,
    "hunks": ActionArguments,
    "revert": RevertArguments,
    "redo": RedoArguments,
    "keep": KeepArguments,
    "land": LandArguments,
    "drop": DropArguments,
}
