"""`chorus status`: what the agent watches right now. Never starts one."""

import argparse
from pathlib import Path
from typing import Any

from chorus.errors import ExitCode
from chorus.output import print_json, print_out
from chorus.wire.client import WatcherGone, connect
from chorus.wire.home import NotARepository, find_home

NOT_RUNNING = {"ok": False, "running": False, "sessions": [], "open": 0, "prompts": 0, "problems": []}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="list sessions that have ended as well")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the whole status, for programs")
    form.add_argument(
        "--short",
        action="store_true",
        help="a few characters for tmux's status line; empty when all is quiet",
    )


def run(args: argparse.Namespace) -> ExitCode:
    try:
        status = read_status(Path.cwd())
    except NotARepository:
        if args.short:
            return ExitCode.OK
        raise
    if args.json:
        print_json(status)
    elif args.short:
        if short := render_short(status):
            print_out(short)
    else:
        print_out(render(status, ended=args.all))
    return ExitCode.OK if status["running"] else ExitCode.NOT_FOUND if not args.short else ExitCode.OK


def read_status(directory: Path) -> dict[str, Any]:
    try:
        with connect(find_home(directory)) as connection:
            return {"running": True, **connection.ask("status")}
    except WatcherGone:
        return dict(NOT_RUNNING)


def render_short(status: dict[str, Any]) -> str:
    parts = []
    if status["prompts"]:
        parts.append(f"{status['prompts']} waiting")
    if status["open"]:
        parts.append(f"{status['open']} open")
    return " · ".join(parts)


def render(status: dict[str, Any], *, ended: bool) -> str:
    if not status["running"]:
        return "no agent runs for this repository"
    lines = [f"agent {status['pid']} watches {status['repository']} since {status['since']}"]
    shown = [s for s in status["sessions"] if ended or s["state"] != "gone"]
    for session in shown:
        where = f" in pane {session['pane']}" if session["pane"] else ""
        lines.append(f"  {session['state']:<8} {session['id'][:8]}{where}  {session['title']}".rstrip())
    if hidden := len(status["sessions"]) - len(shown):
        lines.append(f"  {hidden} ended (--all lists them)")
    lines.append(
        f"{_count(status['open'], 'action')} to review, {_count(status['prompts'], 'prompt')} waiting"
    )
    lines += [f"problem: {problem}" for problem in status["problems"]]
    return "\n".join(lines)


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
