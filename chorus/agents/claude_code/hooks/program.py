"""Find the hook program, and render the settings that make the client run it."""

import json
import os
import re
import shlex
import shutil
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import chorus
from chorus.agents.claude_code.settings.hook_entries import HookGroup, SettingsUnreadable, add_hooks
from chorus.errors import ChorusError
from chorus.model.tools import EDIT_TOOLS, FREQUENT_TOOLS

HOOK_PROGRAM = "chorus-hook"
TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
EVENTS = (
    *TOOL_EVENTS,
    "PermissionRequest",
    "Elicitation",
    "ElicitationResult",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
)
# These events report something already done: the hook leaves its event in the spool, and waits only if there
# is a notice for a session. The client's own `async` option is not used: the hook before the next call could
# overtake an `async` hook. There is no hook for PostToolBatch: transcripts report the same soon enough.
AFTER_EVENTS = ("PostToolUse", "PostToolUseFailure", "Stop", "SubagentStart", "SubagentStop")
AFTER = "after"
# The hook before an edit has an entry of its own: it ends at once if the watcher need not read the file
# first.
EDIT = "edit"
EDITS = sorted(EDIT_TOOLS)
# The hook limits itself to 0.3 s; this limit is for a disk that hangs. It is long because the client shows an
# error when it has to kill a UserPromptSubmit hook.
TIMEOUT_SECONDS = 10
# The command in shared settings. Other users may have Chorus in another place, or not at all. Without Chorus
# the command does nothing.
PORTABLE_COMMAND = f"command -v {HOOK_PROGRAM} >/dev/null 2>&1 || exit 0; exec {HOOK_PROGRAM}"
CHORUS = "chorus"
# A permission hook may wait for the user.
PERMISSION_TIMEOUT_SECONDS = 3600


class HookProgramMissing(ChorusError):
    """The hook program is missing: the installation is incomplete."""

    hint = "Reinstall Chorus."


def find_plugin_directory() -> Path:
    package = Path(chorus.__file__).parent
    for directory in (package / "plugin", package.parent / "hooks"):
        if (directory / HOOK_PROGRAM).is_file():
            return directory
    raise HookProgramMissing(f"the hook program {HOOK_PROGRAM} is missing from {package}")


def find_chorus_program() -> str | None:
    """Return this installation's `chorus` program, else the one on PATH; None if there is none."""
    beside = Path(sysconfig.get_path("scripts")) / "chorus"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("chorus")


def render_hook_groups(hook: Path, chorus: str | None) -> dict[str, list[HookGroup]]:
    return {
        event: [
            _render_group(event, matcher, _render_command(hook, _arguments(kind, chorus)))
            for matcher, kind in _kinds(event)
        ]
        for event in EVENTS
    }


def render_portable_hook_groups() -> dict[str, list[HookGroup]]:
    """Return the hook groups for a shared settings file, which look up the hook program on PATH."""
    return {
        event: [
            _render_group(event, matcher, {"command": " ".join((PORTABLE_COMMAND, *_arguments(kind, None)))})
            for matcher, kind in _kinds(event)
        ]
        for event in EVENTS
    }


def render_settings(user_value: str | None, *, hook: Path, chorus: str | None) -> str:
    """Return a value for `--settings`: the user's value (a file name or JSON) with Chorus's hooks added.

    The client uses only the last `--settings`, so one value must contain both.
    """
    return json.dumps(
        json.loads(add_hooks(_read_settings_value(user_value), render_hook_groups(hook, chorus)))
    )


def split_settings_option(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the arguments without `--settings`, and the last value of that option or None."""
    rest: list[str] = []
    value: str | None = None
    remaining = iter(arguments)
    for argument in remaining:
        if argument == "--":
            return [*rest, argument, *remaining], value
        if argument == "--settings":
            value = next(remaining, None)
        elif argument.startswith("--settings="):
            value = argument.partition("=")[2]
        else:
            rest.append(argument)
    return rest, value


def _kinds(event: str) -> list[tuple[str | None, str | None]]:
    """For each hook group of an event, return its tool pattern and its argument for the hook program.

    The pattern, the argument or both may be None.
    """
    kind = AFTER if event in AFTER_EVENTS else None
    if event == "PreToolUse":
        return [(_any_but(*FREQUENT_TOOLS, *EDITS), None), ("|".join(EDITS), EDIT)]
    return [(_any_but(*FREQUENT_TOOLS) if event in TOOL_EVENTS else None, kind)]


def _any_but(*tools: str) -> str:
    return f"^(?!({'|'.join(tools)})$)"


def _render_group(event: str, matcher: str | None, command: Mapping[str, Any]) -> HookGroup:
    timeout = PERMISSION_TIMEOUT_SECONDS if event == "PermissionRequest" else TIMEOUT_SECONDS
    group: dict[str, Any] = {"hooks": [{"type": "command", **command, "timeout": timeout}]}
    return group if matcher is None else {"matcher": matcher, **group}


def _arguments(kind: str | None, chorus: str | None) -> list[str]:
    if kind is not None:
        return [chorus or CHORUS, kind]
    return [chorus] if chorus else []


def _render_command(hook: Path, arguments: list[str]) -> Mapping[str, Any]:
    """Render the command of a hook, with `args` if possible.

    With `args`, the client starts no shell, which is faster. A client that does not know `args` passes the
    command to a shell. So `args` is used only if the path is executable and needs no quoting.
    """
    plain = re.fullmatch(r"[A-Za-z0-9_./+@%:,-]+", str(hook)) is not None
    if plain and os.access(hook, os.X_OK):
        return {"command": str(hook), "args": arguments}
    return {"command": shlex.join(["sh", str(hook), *arguments])}


def _read_settings_value(value: str | None) -> str | None:
    if value is None:
        return None
    if value.lstrip().startswith("{"):
        return value
    try:
        return Path(value).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsUnreadable(f"cannot read the settings {value}: {error}") from error
