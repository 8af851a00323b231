"""`chorus status`: what the watcher is watching. Also `chorus` alone: the status and the next step."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.watcher import read_status
from chorus.errors import ExitCode
from chorus.output import print_json, print_out
from chorus.text.sanitize import printable
from chorus.wire.home import NotARepository, find_home

if TYPE_CHECKING:
    from chorus.model.json_api import StatusJson

ABOUT = "Never starts a watcher. Exits with 3 if none is running."
EXAMPLES = (
    ("chorus status", "sessions, actions to review and pending prompts"),
    ("chorus status --short", "for tmux: set -g status-right '#(chorus status --short)'"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also list sessions that have ended")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument(
        "--short",
        action="store_true",
        help="print a few characters for tmux's status line, or nothing if there is nothing to do",
    )


def run(args: argparse.Namespace) -> ExitCode:
    try:
        status = read_status(find_home(Path.cwd()))
    except NotARepository:
        if args.short:
            return ExitCode.OK
        raise
    if args.short:
        if short := render_short(status):
            print_out(short)
        return ExitCode.OK
    if args.json:
        print_json(status)
    else:
        print_out(render(status, ended=args.all))
    return ExitCode.OK if status["watcher"] else ExitCode.NOT_FOUND


def show_overview() -> bool:
    """Show the status and the likely next step. Returns False, with no output, outside a repository."""
    try:
        home = find_home(Path.cwd())
    except NotARepository:
        return False
    status = read_status(home)
    print_out(render(status, ended=False))
    print_out("")
    for line in suggest_next(status, used=home.root.exists()):
        print_out(line)
    print_out("`chorus --help` lists all commands.")
    return True


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
        return "no watcher is running for this repository"
    lines = [f"watcher {watcher['pid']} for {watcher['repository']}, running since {watcher['since']}"]
    shown = [session for session in status["sessions"] if ended or session["state"] != "gone"]
    for session in shown:
        where = f" in pane {session['pane']}" if session["pane"] else ""
        lines.append(f"  {session['state']:<8} {session['id'][:8]}{where}  {session['title']}".rstrip())
    if hidden := len(status["sessions"]) - len(shown):
        lines.append(f"  {hidden} ended (--all lists them)")
    actions, prompts = _count(status["open"], "action"), _count(status["prompts"], "prompt")
    lines.append(f"{actions} to review, {prompts} waiting")
    lines += [f"problem: {problem}" for problem in status["problems"]]
    return "\n".join(map(printable, lines))


def suggest_next(status: StatusJson, *, used: bool) -> list[str]:
    """Return what to do next, most urgent first, one line each."""
    if status["watcher"] is None:
        steps = [
            ("chorus claude", "start Claude Code with Chorus watching"),
            ("chorus attach", "watch a session that is already running in tmux"),
        ]
        steps.append(
            ("chorus log", "list recorded actions") if used else ("chorus demo", "play a short demo")
        )
        return _render_steps(steps)
    steps = []
    if status["problems"]:
        steps.append(("chorus doctor", "explain the problems and how to fix them"))
    if status["prompts"]:
        steps.append(("chorus prompts", "list the pending prompts; answer with `chorus approve` or `deny`"))
    if status["open"]:
        steps.append(("chorus panel", "review actions and answer prompts in the side panel"))
        steps.append(("chorus log --open", "list the actions to review"))
    if not any(session["state"] != "gone" for session in status["sessions"]):
        steps.append(("chorus claude", "start Claude Code with Chorus watching"))
        steps.append(("chorus attach", "watch a session that is already running in tmux"))
    return _render_steps(steps or [("chorus panel", "follow the sessions in the side panel")])


def _render_steps(steps: list[tuple[str, str]]) -> list[str]:
    width = max(len(command) for command, _ in steps) + 2
    return ["next:", *(f"  {command:<{width}}{meaning}" for command, meaning in steps), ""]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
