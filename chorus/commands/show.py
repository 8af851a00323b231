"""`chorus show`: one action with its details and its diff."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from chorus.commands.access.history import read_action
from chorus.commands.terminal.pager import page
from chorus.commands.terminal.patch import render_action_patch
from chorus.errors import ExitCode
from chorus.output import print_json
from chorus.text.sanitize import printable

if TYPE_CHECKING:
    from chorus.model.json_api import ActionJson


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", metavar="ACTION", help="its number, tool_use id or lane commit")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    action = read_action(args.action)
    if args.json:
        print_json(action)
    else:
        page(render(action), "show")
    return ExitCode.OK


def render(action: ActionJson) -> Iterator[str]:
    yield printable(f"action {action['n']}  {action['status']}  {action['summary']}")
    details = {
        "tool": action["tool"],
        "id": action["id"],
        "lane": action["lane"],
        "commit": action["commit"],
        "session": action["session"],
        "turn": action["turn"],
        "agent": action["agent"],
        "source": action["source"],
        "time": action["time"],
        "reason": action["reason"],
        "message": " ".join((action["message"] or "").split()),
    }
    yield from (printable(f"  {name:<8} {value}") for name, value in details.items() if value)
    yield from (printable(f"  skipped  {text}") for text in action["skipped"])
    yield ""
    yield from render_action_patch(action)
