"""`chorus show`: one action, with everything that is known of it and its diff."""

import argparse
from collections.abc import Iterator
from typing import Literal

from chorus.commands.access.history import read_action
from chorus.commands.diff import shown_patch
from chorus.commands.terminal.pager import page
from chorus.errors import ExitCode
from chorus.model.json_api import ActionJson
from chorus.output import print_json
from chorus.text.sanitize import printable

FACTS: tuple[
    Literal["tool", "id", "lane", "commit", "session", "turn", "agent", "source", "time", "reason"], ...
] = ("tool", "id", "lane", "commit", "session", "turn", "agent", "source", "time", "reason")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", metavar="ACTION", help="its number, tool_use id or lane commit")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    shown = read_action(args.action)
    if args.json:
        print_json(shown)
    else:
        page(render(shown), "show")
    return ExitCode.OK


def render(shown: ActionJson) -> Iterator[str]:
    yield printable(f"action {shown['n']}  {shown['status']}  {shown['summary']}")
    yield from (printable(f"  {name:<8} {shown[name]}") for name in FACTS if shown[name])
    if shown["message"]:
        yield printable(f"  message  {' '.join(shown['message'].split())}")
    yield from (printable(f"  skipped  {text}") for text in shown["skipped"])
    yield ""
    yield from shown_patch(shown)
