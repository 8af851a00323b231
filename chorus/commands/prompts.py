"""`chorus prompts`: what waits for an answer in the watched panes, or what a captured screen asks."""

import argparse
import sys
from pathlib import Path

from chorus.agents.claude_code.dialogs.reader import ScreenReading, explain_reading, read_screen
from chorus.agents.claude_code.dialogs.rules import read_prompt_rules
from chorus.commands.access.prompts import read_pending, render_pending
from chorus.commands.parser.argument_parser import parse_count
from chorus.config.user_config import read_user_section
from chorus.errors import ExitCode, NotFound
from chorus.model.prompt import NoPrompt, Prompt, UnknownPrompt, screen_reading_json
from chorus.output import print_err, print_json, print_out
from chorus.text.sanitize import printable


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--screen", metavar="FILE", help="read this captured screen (`-`: stdin) instead of the live panes"
    )
    parser.add_argument(
        "--width", type=parse_count, metavar="N", help="the pane's width; else the widest row tells"
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--explain", action="store_true", help="say which rule fits, and why others do not")


def run(args: argparse.Namespace) -> ExitCode:
    if args.screen is None:
        return list_waiting(as_json=args.json)
    rules = read_prompt_rules(read_user_section("prompts"))
    reading = read_screen(_captured(args.screen), rules, width=args.width)
    if args.explain:
        for line in explain_reading(reading):
            print_err(line)
    if args.json:
        print_json(screen_reading_json(reading.found))
    else:
        print_out(_render(reading))
    return ExitCode.OK


def list_waiting(*, as_json: bool) -> ExitCode:
    waiting = read_pending()
    if as_json:
        print_json(waiting)
    elif waiting:
        print_out("\n".join(printable(line) for line in render_pending(waiting).splitlines()))
    else:
        print_err("chorus: nothing waits for an answer")
        return ExitCode.NOT_FOUND
    return ExitCode.OK


def _captured(name: str) -> str:
    """The file's text. Undecodable bytes are kept: they can only make a screen unknown."""
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    try:
        return Path(name).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise NotFound(f"cannot read {name}: {error.strerror}") from error


def _render(reading: ScreenReading) -> str:
    match reading.found:
        case UnknownPrompt(reason):
            return f"unknown: {reason}"
        case NoPrompt(reason):
            return f"none: {reason}"
        case Prompt() as prompt:
            lines = [f"{prompt.id}  {prompt.kind}  {prompt.title}", f"  {prompt.question}"]
            return "\n".join([*lines, *(f"  {o.key:<5} {o.label}  [{o.meaning}]" for o in prompt.options)])
