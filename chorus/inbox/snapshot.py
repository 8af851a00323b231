"""The inbox at one moment: every repository asked once, with one deadline for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chorus.inbox.repositories import (
    list_requests,
    main_work_tree,
    name_repositories,
    repository_json,
)
from chorus.wire.fan_out import ask_each
from chorus.wire.registry import list_registered

if TYPE_CHECKING:
    from chorus.model.api.json_api import InboxJson

# A watcher answers in milliseconds; while it scans a large work tree, in a second or two.
ALL_SECONDS = 3.0


def read_inbox() -> InboxJson:
    paths = {home: main_work_tree(home) for home in list_registered()}
    requests = {home: list_requests(path) for home, path in paths.items()}
    names = name_repositories(list(paths.values()))
    replies = ask_each(requests, seconds=ALL_SECONDS)
    repositories = [
        repository_json(paths[home], names[paths[home]], reply) for home, reply in replies.items()
    ]
    return {
        "repositories": repositories,
        "prompts": sum(len(one["prompts"]) for one in repositories),
        "open": sum(one["open"] for one in repositories),
    }
