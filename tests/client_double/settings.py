"""The user's settings: of the home, the project, its local file, and `--settings`.

Read again for every event: hooks written while a session runs take effect in it.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The client's own limit for a hook without one.
DEFAULT_TIMEOUT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Hook:
    kind: str  # "command" or "http"
    target: str  # the command line, or the address
    arguments: tuple[str, ...] | None = None  # given: the target is a program, started without a shell
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    headers: tuple[tuple[str, str], ...] = ()
    detached: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    config: Path
    cwd: Path
    extra: str | None  # a file's path, or JSON text

    def hooks(self, event: str, subject: str | None) -> list[Hook]:
        """The hooks of an event that match its subject (a tool, a source, a reason); each once."""
        found: dict[Hook, None] = {}
        for settings in self._read():
            for entry in _entries(settings, event):
                if _matches(entry.get("matcher"), subject):
                    found.update(dict.fromkeys(_parse_hooks(entry)))
        return list(found)

    def permissions(self, list_name: str) -> list[str]:
        """The rules of one list: allow, ask or deny."""
        rules = []
        for settings in self._read():
            permissions = settings.get("permissions")
            if isinstance(permissions, dict):
                rules += [str(rule) for rule in permissions.get(list_name, ())]
        return rules

    def allow(self, rule: str) -> None:
        """Add a rule to the project's local settings, as "don't ask again" does."""
        path = self.cwd / ".claude" / "settings.local.json"
        settings = _load(path) or {}
        settings.setdefault("permissions", {}).setdefault("allow", []).append(rule)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings, indent=2) + "\n")

    def _read(self) -> Iterator[dict[str, Any]]:
        places = [
            self.config / "settings.json",
            self.cwd / ".claude" / "settings.json",
            self.cwd / ".claude" / "settings.local.json",
        ]
        for place in places:
            if settings := _load(place):
                yield settings
        if self.extra is not None:
            is_text = self.extra.lstrip().startswith("{")
            settings = _parse(self.extra) if is_text else _load(Path(self.extra))
            if settings:
                yield settings


def _load(path: Path) -> dict[str, Any] | None:
    try:
        return _parse(path.read_text())
    except OSError:
        return None


def _parse(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _entries(settings: dict[str, Any], event: str) -> list[dict[str, Any]]:
    hooks = settings.get("hooks")
    entries = hooks.get(event) if isinstance(hooks, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _parse_hooks(entry: dict[str, Any]) -> Iterator[Hook]:
    for hook in entry.get("hooks", ()):
        timeout = float(hook.get("timeout", DEFAULT_TIMEOUT_SECONDS))
        headers = tuple((str(name), str(value)) for name, value in hook.get("headers", {}).items())
        if hook.get("type") == "command":
            words = tuple(map(str, hook["args"])) if "args" in hook else None
            yield Hook("command", str(hook["command"]), words, timeout, detached=bool(hook.get("async")))
        elif hook.get("type") == "http":
            yield Hook("http", str(hook["url"]), None, timeout, headers)


def _matches(matcher: object, subject: str | None) -> bool:
    if not isinstance(matcher, str) or matcher in ("", "*") or subject is None:
        return True
    if re.fullmatch(r"[\w|]+", matcher):
        return subject in matcher.split("|")
    try:
        return re.search(matcher, subject) is not None
    except re.error:
        return False
