"""Count the prompts and open actions of all repositories, for a status line that is drawn often.

Imports little: neither typing nor pathlib, each of which takes a third of the time Python needs to start.
"""

from __future__ import annotations

from chorus.wire.fan_out import Request, ask_each
from chorus.wire.home import Home
from chorus.wire.registry import list_registered

# A status line is drawn again soon, so a slow watcher is left out instead of waited for.
SHORT_SECONDS = 0.5


def read_counts() -> tuple[int, int]:
    """Return how many prompts are pending and how many actions are open."""
    requests: dict[Home, list[Request]] = {home: [("status", {})] for home in list_registered()}
    prompts = actions = 0
    for reply in ask_each(requests, seconds=SHORT_SECONDS).values():
        status = reply.answers.get("status")
        if isinstance(status, dict):
            prompts += _count(status.get("prompts"))
            actions += _count(status.get("open"))
    return prompts, actions


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
