"""Decide whether a call runs, asks or is refused: permission mode, rules, and what a command touches.

Deliberately small: enough commands are known to give every dialog its occasion.
"""

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from tests.client_double.session import Session
from tests.client_double.settings import Settings
from tests.client_double.values import Call, Json

EDITS = {"Edit", "Write", "NotebookEdit"}
# Tools that never ask: they only read, or are part of the conversation.
FREE = {"Read", "ToolSearch", "EnterPlanMode"}
QUESTIONS = {"AskUserQuestion", "ExitPlanMode"}
READERS = {"cat", "cd", "echo", "grep", "head", "ls", "pwd", "sleep", "tail", "true", "wc"}
PATH_WRITERS = {"chmod", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "sed", "touch"}


class Concern(Enum):
    """Why a command must ask."""

    NONE = "none"
    WRITES = "writes"  # to a path that can be named
    UNKNOWN = "unknown"
    EXPANSION = "expansion"  # a variable hides what it does


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision about a call before it runs."""

    ask: bool
    decision: Json = field(default_factory=dict)
    concern: Concern = Concern.NONE
    suggestions: tuple[Json, ...] = ()
    directory: Path | None = None
    rule: str | None = None  # what "don't ask again" would allow
    reason: str = ""


ALLOWED: Json = {"decision": "accept", "source": "config"}
ALLOWED_BY_MODE: Json = {**ALLOWED, "reason_type": "mode"}
ALLOWED_BY_RULE: Json = {**ALLOWED, "reason_type": "rule"}
SET_ACCEPT_EDITS: Json = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


@dataclass(slots=True)
class Permissions:
    session: Session
    settings: Settings
    allowed_tools: tuple[str, ...] = ()
    directories: set[Path] = field(default_factory=set)

    def judge(self, call: Call) -> Verdict:
        mode = self.session.mode
        if call.tool in ("Agent", "Task"):
            return Verdict(False, ALLOWED)
        if call.tool in FREE or (mode == "bypassPermissions" and call.tool not in QUESTIONS):
            return Verdict(False, ALLOWED_BY_MODE)
        if self._ruled(call):
            return Verdict(False, ALLOWED_BY_RULE)
        if call.tool in EDITS:
            return self._judge_edit(call, mode)
        if call.tool == "Bash":
            return self._judge_command(str(call.input.get("command", "")), mode)
        rule = f"WebFetch(domain:{_domain(call.input)})" if call.tool == "WebFetch" else call.tool
        return Verdict(True, rule=rule, suggestions=() if call.tool in QUESTIONS else (_add_rule(rule),))

    def _judge_edit(self, call: Call, mode: str) -> Verdict:
        path = target_of(call)
        inside = path is not None and self._reaches(path)
        if mode in ("acceptEdits", "auto") and inside:
            return Verdict(False, ALLOWED_BY_MODE)
        suggestions = [SET_ACCEPT_EDITS]
        if not inside and path is not None:
            suggestions.append(_add_directory(path.parent))
        reason = f"Claude requested permissions to write to {path}, but you haven't granted it yet."
        directory = None if inside or path is None else path.parent
        return Verdict(True, suggestions=tuple(suggestions), directory=directory, reason=reason)

    def _judge_command(self, command: str, mode: str) -> Verdict:
        concern, written = read_concern(command, self.session.cwd)
        if mode == "auto" or concern is Concern.NONE:
            return Verdict(False, ALLOWED_BY_MODE)
        if concern is Concern.WRITES and written is not None:
            directory = written if written.is_dir() else written.parent
            if directory in self.directories or (mode == "acceptEdits" and self._reaches(written)):
                return Verdict(False, ALLOWED_BY_MODE)
            both = (_add_directory(directory), SET_ACCEPT_EDITS)
            reason = f"{command.split(maxsplit=1)[0]} in '{written}' needs approval."
            return Verdict(True, {}, concern, both, directory=directory, reason=reason)
        rule = None if concern is Concern.EXPANSION else f"Bash({_prefix(command)})"
        suggestions = (_add_rule(rule),) if rule else ()
        return Verdict(True, {}, concern, suggestions, rule=rule, reason="This command requires approval")

    def _reaches(self, path: Path) -> bool:
        return any(path.is_relative_to(place) for place in (self.session.cwd, *self.directories))

    def _ruled(self, call: Call) -> bool:
        for rule in (*self.allowed_tools, *self.settings.permissions("allow")):
            name, _, content = rule.rstrip(")").partition("(")
            if name != call.tool:
                continue
            wanted = content.removesuffix("*").removesuffix(":").rstrip()
            if call.tool == "WebFetch" and content:
                return content == f"domain:{_domain(call.input)}"
            if not wanted or str(call.input.get("command", "")).startswith(wanted):
                return True
        return False


def target_of(call: Call) -> Path | None:
    """The file a call names."""
    name = call.input.get("file_path") or call.input.get("notebook_path")
    return Path(str(name)) if name else None


def read_concern(command: str, cwd: Path) -> tuple[Concern, Path | None]:
    """Why a command must ask, and the path it writes to where one can be named."""
    body = re.sub(r"<<-?\s*'(\w+)'\n.*?\n\1\b", "", command, flags=re.DOTALL)
    if re.search(r"[$`]", body):
        return Concern.EXPANSION, None
    written: Path | None = None
    for part in re.split(r"&&|\|\||[;|\n]", body):
        try:
            words = shlex.split(part)
        except ValueError:
            return Concern.UNKNOWN, None
        if not words:
            continue
        redirected = re.search(r">\s*([^\s&>]+)", part)
        if redirected:
            written = cwd / redirected[1]
        elif words[0] in PATH_WRITERS:
            named = [word for word in words[1:] if not word.startswith("-")]
            written = cwd / named[-1] if named else cwd
        elif words[0] not in READERS:
            return Concern.UNKNOWN, None
    return (Concern.WRITES, Path(os.path.normpath(written))) if written else (Concern.NONE, None)


def _prefix(command: str) -> str:
    """The rule of "don't ask again": the program and its subcommand, with any arguments."""
    words = command.split()
    if len(words) > 1 and re.search(r"[./]", words[1]):
        return f"{words[0]} *"
    return f"{' '.join(words[:2])} *" if len(words) > 2 else command


def _domain(arguments: Mapping[str, Any]) -> str:
    return re.sub(r"^\w+://([^/:]+).*", r"\1", str(arguments.get("url", "")))


def _add_directory(directory: Path) -> Json:
    return {"type": "addDirectories", "directories": [str(directory)], "destination": "session"}


def _add_rule(rule: str) -> Json:
    name, _, content = rule.rstrip(")").partition("(")
    named = {"toolName": name, **({"ruleContent": content} if content else {})}
    return {"type": "addRules", "rules": [named], "behavior": "allow", "destination": "localSettings"}
