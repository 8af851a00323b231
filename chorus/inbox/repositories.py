"""One repository in the inbox: what is known about it, and how repositories are named.

Answers are checked here, because the watcher may be of another version. Short commands import this module, so
it loads no third-party library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from chorus.errors import NotFound
from chorus.model.review_state import is_open
from chorus.wire.fan_out import Reply, Request
from chorus.wire.home import Home, list_work_trees
from chorus.wire.registry import list_registered

if TYPE_CHECKING:
    from chorus.model.api.json_api import (
        InboxRepositoryJson,
        InboxState,
        LogEntryJson,
        PromptJson,
        SessionJson,
    )


class NoSuchRepository(NotFound):
    hint = "Run `chorus inbox` to list your repositories."


# At most this many open actions are listed; `chorus log --open` in the repository lists all of them.
MAX_ACTIONS = 50


def list_requests(path: Path) -> list[Request]:
    log = {"open": True, "limit": MAX_ACTIONS, "cwd": str(path)}
    return [("status", {}), ("prompts", {}), ("log", log)]


def main_work_tree(home: Home) -> Path:
    """Return the repository's main work tree, else its first linked one.

    If Chorus has recorded no work tree that exists, return the directory that contains the git directory.
    """
    trees = list_work_trees(home)
    return next(iter(trees.values()), home.common_dir.parent)


def name_repositories(paths: Sequence[Path]) -> dict[Path, str]:
    """Return a unique name for each path: its last part, with as many parts before it as are needed."""
    names: dict[Path, str] = {}
    length = 1
    left = list(dict.fromkeys(paths))
    while left:
        short = {path: "/".join(path.parts[-length:]) for path in left}
        count = Counter(short.values())
        names |= {path: name for path, name in short.items() if count[name] == 1 or length >= len(path.parts)}
        left = [path for path in left if path not in names]
        length += 1
    return {path: names[path] for path in paths}


def find_repository(name: str) -> Home:
    """Return the repository that the inbox lists under this name. Raises NoSuchRepository."""
    homes = {main_work_tree(home): home for home in list_registered()}
    names = name_repositories(list(homes))
    for path, known in names.items():
        if known == name:
            return homes[path]
    known_names = f"the inbox lists {', '.join(names.values())}" if names else "the inbox lists no repository"
    raise NoSuchRepository(f"there is no repository {name}; {known_names}")


def repository_json(path: Path, name: str, reply: Reply) -> InboxRepositoryJson:
    status = mapping(reply.answers.get("status"))
    state: InboxState = "watched" if status else "unresponsive" if reply.running else "stopped"
    actions = list_actions(reply.answers.get("log"))
    count = status.get("open")
    return {
        "name": name,
        "path": str(path),
        "state": state,
        "problem": None if state == "stopped" else reply.problem,
        "version": version_of(status),
        "prompts": list_prompts(reply.answers.get("prompts")),
        "sessions": list_sessions(status.get("sessions")),
        "open": count if isinstance(count, int) else len(actions),
        "actions": actions,
    }


def version_of(status: dict[str, Any]) -> str | None:
    version = mapping(status.get("watcher")).get("version")
    return version if isinstance(version, str) else None


def list_prompts(value: object) -> list[PromptJson]:
    """Return the prompts that have all fields needed to show and answer them."""
    prompts = [one for one in _mappings(value) if _texts(one, "id", "fingerprint", "title", "question")]
    return cast("list[PromptJson]", prompts)


def list_sessions(value: object) -> list[SessionJson]:
    sessions = [one for one in _mappings(value) if _texts(one, "id", "state") and one["state"] != "gone"]
    return cast("list[SessionJson]", sessions)


def list_actions(value: object) -> list[LogEntryJson]:
    """Return the log entries that wait for review."""
    entries = [one for one in _mappings(value) if _texts(one, "id", "status", "summary", "time")]
    return cast("list[LogEntryJson]", [one for one in entries if waits_for_review(one)])


def waits_for_review(entry: dict[str, Any]) -> bool:
    reverts = entry.get("reverts")
    return is_open(
        entry["status"],
        entry.get("tool"),
        reverts if isinstance(reverts, list) else (),
        entry.get("within"),
        landed=entry.get("landed") is True,
    )


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _texts(item: dict[str, Any], *names: str) -> bool:
    return all(isinstance(item.get(name), str) for name in names)
