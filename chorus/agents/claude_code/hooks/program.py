"""The hook program and the settings that make the client run it.

Finds it in a checkout (`hooks/`) and in an installed wheel (`chorus/plugin/`), and renders the hooks for
one process (`--settings`) or for a settings file.
"""

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
from chorus.model.tools import FREQUENT_TOOLS

HOOK_PROGRAM = "chorus-hook"
TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
EVENTS = (
    *TOOL_EVENTS,
    "PostToolBatch",
    "PermissionRequest",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
)
# The hook limits itself to 0.3 s; this is for a disk that hangs. The client complains on the screen when
# it has to end a UserPromptSubmit hook, so it is long.
TIMEOUT_SECONDS = 10
# For settings that others get as well: each has Chorus elsewhere, or not at all, and then nothing happens.
PORTABLE_COMMAND = f"command -v {HOOK_PROGRAM} >/dev/null 2>&1 || exit 0; exec {HOOK_PROGRAM}"
# A permission hook may wait for a person.
PERMISSION_TIMEOUT_SECONDS = 3600


class HookProgramMissing(ChorusError):
    """The installation is not whole."""

    hint = "Install chorus again."


def find_plugin_directory() -> Path:
    """The plugin's directory."""
    package = Path(chorus.__file__).parent
    for place in (package / "plugin", package.parent / "hooks"):
        if (place / HOOK_PROGRAM).is_file():
            return place
    raise HookProgramMissing(f"the hook program {HOOK_PROGRAM} is missing from {package}")


def find_chorus_program() -> str | None:
    """The `chorus` program of this very installation, for the hook to start the agent with."""
    beside = Path(sysconfig.get_path("scripts")) / "chorus"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("chorus")


def render_hook_groups(hook: Path, chorus: str | None) -> dict[str, HookGroup]:
    """What to run for each event, as the client's settings say it."""
    command = _render_command(hook, chorus)
    return {event: _render_group(event, command) for event in EVENTS}


def render_portable_hook_groups() -> dict[str, HookGroup]:
    """The same for a file that travels: the hook is looked for on PATH."""
    return {event: _render_group(event, {"command": PORTABLE_COMMAND}) for event in EVENTS}


def render_settings(given: str | None, *, hook: Path, chorus: str | None) -> str:
    """The value for `--settings`: our hooks, and what the user gave there, a file or JSON.

    The client takes only the last `--settings`, so both must be in one.
    """
    return json.dumps(json.loads(add_hooks(_read_given(given), render_hook_groups(hook, chorus))))


def split_settings_option(arguments: Sequence[str]) -> tuple[list[str], str | None]:
    """The client's arguments without `--settings`, and the value that counts: the last."""
    rest: list[str] = []
    given: str | None = None
    words = iter(arguments)
    for word in words:
        if word == "--":
            return [*rest, word, *words], given
        if word == "--settings":
            given = next(words, None)
        elif word.startswith("--settings="):
            given = word.partition("=")[2]
        else:
            rest.append(word)
    return rest, given


def _render_group(event: str, command: Mapping[str, Any]) -> HookGroup:
    timeout = PERMISSION_TIMEOUT_SECONDS if event == "PermissionRequest" else TIMEOUT_SECONDS
    group: dict[str, Any] = {"hooks": [{"type": "command", **command, "timeout": timeout}]}
    if event in TOOL_EVENTS:
        group = {"matcher": f"^(?!({'|'.join(FREQUENT_TOOLS)})$)", **group}
    return group


def _render_command(hook: Path, chorus: str | None) -> Mapping[str, Any]:
    """With `args` the client starts the program itself; without, the user's shell does, which costs more.

    A client that does not know `args` gives the command to a shell: so it must be a plain word there too.
    """
    plain = re.fullmatch(r"[A-Za-z0-9_./+@%:,-]+", str(hook)) is not None
    if plain and os.access(hook, os.X_OK):
        return {"command": str(hook), "args": [chorus] if chorus else []}
    words = ["sh", str(hook)] + ([chorus] if chorus else [])
    return {"command": shlex.join(words)}


def _read_given(given: str | None) -> str | None:
    if given is None:
        return None
    if given.lstrip().startswith("{"):
        return given
    try:
        return Path(given).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsUnreadable(f"cannot read the settings {given}: {error}") from error
