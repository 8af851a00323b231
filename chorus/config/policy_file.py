"""Read the policy from the user's config and the repository's file, and append rules to the user's config.

Appending leaves every byte before the new rule as it is.
"""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

from chorus.config.user_config import REPOSITORY_FILE, BadConfig, read_section, user_config_path
from chorus.policy.rules import Policy, parse_policy
from chorus.system.files.atomic_file import replace_file
from chorus.system.files.git_files import find_work_tree


def read_policy(root: Path) -> Policy:
    return parse_policy(
        read_section(user_config_path(), "policy"),
        read_section(root / REPOSITORY_FILE, "policy"),
        expand_home=os.path.expanduser,
    )


def policy_root(start: Path) -> Path:
    """Return the work tree that contains `start`; outside a work tree, `start` itself."""
    try:
        here = start.resolve()
        return Path(find_work_tree(here) or here)
    except (OSError, ValueError) as error:
        raise BadConfig(
            f"cannot find the work tree of {start}: {error}",
            hint="Check that the directory exists and that you can read it.",
        ) from error


def find_git_root(directory: str) -> str | None:
    """Return the work tree that git would find from an absolute path.

    Return None if git finds no repository, or finds a bare repository first. To be safe, a directory with an
    entry called HEAD counts as bare, because git would use the settings in that directory.
    """
    place = directory.rstrip("/")  # a string, because one command may lead to thousands of these calls
    while True:
        if os.path.lexists(f"{place}/.git"):
            return place or "/"
        if not place or os.path.lexists(f"{place}/HEAD"):
            return None
        place = place.rpartition("/")[0]


def append_rule(path: Path, rule: dict[str, str]) -> None:
    """Add a `[[policy.rule]]` at the end of the file; create the file if it is missing."""
    target = path.resolve()
    try:
        # As bytes: reading text would convert its line ends.
        old = target.read_bytes().decode() if target.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(
            f"cannot read {target}: {error}",
            hint="Make it a readable file in UTF-8, then run the command again.",
        ) from error
    gap = "" if not old else "\n" if old.endswith("\n") else "\n\n"
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in rule.items()]
    new = f"{old}{gap}[[policy.rule]]\n" + "\n".join(lines) + "\n"
    _check(old, new, rule, target)
    _write(target, new)


def _check(old: str, new: str, rule: dict[str, str], target: Path) -> None:
    """Raise an error unless `new` parses to the table of `old` plus this rule, and is a valid policy."""
    try:
        before, after = tomllib.loads(old), tomllib.loads(new)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(
            f"cannot append a rule to {target}: {error}", hint="Add the rule by hand, next to the others."
        ) from error
    rules: list[Any] = before.setdefault("policy", {}).setdefault("rule", [])
    rules.append(rule)
    if before != after:
        raise BadConfig(
            f"cannot append a rule to {target} without changing something else in it",
            hint="Add the rule by hand, next to the others.",
        )
    parse_policy(after["policy"])


def _write(target: Path, text: str) -> None:
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise BadConfig(
            f"cannot write the rule to {target}: it has bytes that are not UTF-8",
            hint="Use only UTF-8 text; `*` matches any other bytes of a name.",
        ) from error
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(target, content, mode=None if target.exists() else 0o600)
    except OSError as error:
        raise BadConfig(
            f"cannot write {target}: {error}",
            hint="Make the file and its directory writable, then run the command again.",
        ) from error
