"""`chorus status`: what the watcher watches right now. Never starts one."""

import argparse
from pathlib import Path

from chorus.errors import ExitCode
from chorus.model.json_api import StatusJson
from chorus.output import print_json, print_out
from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import NotARepository, find_home

NOT_RUNNING: StatusJson = {
    "watcher": None,
    "ok": False,
    "work_trees": [],
    "sessions": [],
    "lanes": 0,
    "open": 0,
    "prompts": 0,
    "problems": [],
}


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
    return ExitCode.OK if status["watcher"] or args.short else ExitCode.NOT_FOUND


def read_status(directory: Path) -> StatusJson:
    try:
        with connect(find_home(directory)) as connection:
            status: StatusJson = connection.ask("status")
            return status
    except WatcherNotRunning:
        return NOT_RUNNING


def render_short(status: StatusJson) -> str:
    parts = []
    if status["prompts"]:
        parts.append(f"{status['prompts']} waiting")
    if status["open"]:
        parts.append(f"{status['open']} open")
    return " · ".join(parts)


def render(status: StatusJson, *, ended: bool) -> str:
    watcher = status["watcher"]
    if watcher is None:
        return "no watcher runs for this repository"
    lines = [f"watcher {watcher['pid']} watches {watcher['repository']} since {watcher['since']}"]
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
