"""The policy on disk: the user's config, and the repository's file that may only make it stricter.

Reads both into one checked policy, resolves paths for it, and appends a rule to the user's config. Appending
leaves every byte before it as it is, and writes nothing that could not be read back.
"""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chorus.config.user_config import REPOSITORY_FILE, BadConfig, read_section, user_config_path
from chorus.policy.rules import Policy, parse_policy
from chorus.system.atomic_file import replace_file
from chorus.system.git_files import find_work_tree


def read_policy(root: Path) -> Policy:
    """The policy for a work tree."""
    return parse_policy(
        read_section(user_config_path(), "policy"), read_section(root / REPOSITORY_FILE, "policy")
    )


def work_tree_of(start: Path) -> Path:
    """The nearest directory upwards that holds `.git`; else where we are."""
    try:
        here = start.resolve()
        return find_work_tree(here) or here
    except (OSError, ValueError) as error:
        raise BadConfig(f"{start} cannot be looked at for a policy: {error}") from error


def path_resolver(working: Path) -> Callable[[str], str | None]:
    """Resolves paths as a process in `working` would: links followed as far as they exist."""

    def resolve(named: str) -> str | None:
        try:
            return str((working / named).resolve())
        except (OSError, ValueError, RuntimeError):
            return None

    return resolve


def append_rule(path: Path, rule: dict[str, str]) -> None:
    """Add `[[policy.rule]]` at the end of the file, creating it if need be."""
    target = path.resolve()
    try:
        old = target.read_text(encoding="utf-8") if target.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"cannot read {target}: {error}") from error
    gap = "" if not old else "\n" if old.endswith("\n") else "\n\n"
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in rule.items()]
    new = f"{old}{gap}[[policy.rule]]\n" + "\n".join(lines) + "\n"
    _check(old, new, rule, target)
    _write(target, new)


def _check(old: str, new: str, rule: dict[str, str], target: Path) -> None:
    """The new text must be the old table with this rule added, and a policy that can be read."""
    try:
        before, after = tomllib.loads(old), tomllib.loads(new)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(
            f"{target} cannot be added to: {error}", hint="Add the rule by hand, where the other ones are."
        ) from error
    rules: list[Any] = before.setdefault("policy", {}).setdefault("rule", [])
    rules.append(rule)
    if before != after:
        raise BadConfig(f"adding a rule to {target} would change something else")
    parse_policy(after["policy"])


def _write(target: Path, text: str) -> None:
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(target, text.encode(), mode=None if target.exists() else 0o600)
    except OSError as error:
        raise BadConfig(f"cannot write {target}: {error}") from error
