"""`chorus prompts`: what waits for an answer in the watched panes, or what a captured screen asks."""

import argparse
import sys
from pathlib import Path

from chorus.agents.claude_code.dialogs.reader import Reading, explain, read_screen
from chorus.commands.parsing import parse_count
from chorus.commands.waiting import read_waiting, render_waiting
from chorus.config.user_file import read_prompt_rules
from chorus.errors import ExitCode, NothingThere
from chorus.model.prompt import Nothing, Prompt, Unknown, prompt_json
from chorus.output import answer, answer_json, inert, note


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
    reading = read_screen(_captured(args.screen), read_prompt_rules(), width=args.width)
    if args.explain:
        for line in explain(reading):
            note(line)
    if args.json:
        answer_json(prompt_json(reading.found))
    else:
        answer(_render(reading))
    return ExitCode.DONE


def list_waiting(*, as_json: bool) -> ExitCode:
    waiting = read_waiting()
    if as_json:
        answer_json(waiting)
    elif waiting:
        answer("\n".join(inert(line) for line in render_waiting(waiting).splitlines()))
    else:
        note("chorus: nothing waits for an answer")
        return ExitCode.NOTHING
    return ExitCode.DONE


def _captured(name: str) -> str:
    """The file's text. Undecodable bytes are kept: they can only make a screen unknown."""
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    try:
        return Path(name).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise NothingThere(f"cannot read {name}: {error.strerror}") from error


def _render(reading: Reading) -> str:
    match reading.found:
        case Unknown(reason):
            return f"unknown: {reason}"
        case Nothing(reason):
            return f"none: {reason}"
        case Prompt() as prompt:
            lines = [f"{prompt.id}  {prompt.kind}  {prompt.title}", f"  {prompt.question}"]
            return "\n".join([*lines, *(f"  {o.key:<5} {o.label}  [{o.meaning}]" for o in prompt.options)])
