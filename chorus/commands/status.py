"""`chorus status`: show what the watcher is watching. `chorus` alone: show the status and the next step."""

from __future__ import annotations

import os

from chorus.commands.access.history import read_lanes
from chorus.commands.access.prompts import read_pending
from chorus.commands.access.short_status import render_short
from chorus.commands.access.usage import describe_use
from chorus.commands.access.watcher import read_status
from chorus.commands.parser.options import add_here_option
from chorus.errors import ExitCode
from chorus.output import print_json, print_out
from chorus.system.files.git_files import label_of
from chorus.wire.home import NotARepository, find_home, find_work_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from chorus.model.api.json_api import PromptJson, SessionJson, StatusJson

ABOUT = "Never starts a watcher. Exits with 3 if none is running, except with --short."
EXAMPLES = (
    ("chorus status", "sessions, open actions and pending prompts"),
    ("chorus status --short", "for tmux: set -g status-right '#(chorus status --short)'"),
)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="also list sessions that have ended")
    add_here_option(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument(
        "--short",
        action="store_true",
        help="print a few characters for tmux's status line, or nothing if there is nothing to do",
    )


def run(args: Namespace) -> ExitCode:
    try:
        status = read_status(find_home(os.getcwd()))
    except NotARepository:
        if args.short:
            return ExitCode.OK
        raise
    if args.here:
        _narrow(status)
    if args.short:
        if short := render_short(status["prompts"], status["open"]):
            print_out(short)
        return ExitCode.OK
    if args.json:
        print_json(status)
    else:
        print_out(*render(status, ended=args.all))
    return ExitCode.OK if status["watcher"] else ExitCode.NOT_FOUND


def _narrow(status: StatusJson) -> None:
    """Narrow the status to the current work tree."""
    here = str(find_work_tree(os.getcwd())[0])
    name = label_of(here)
    lanes = read_lanes(here=True) if status["watcher"] else []
    status["prompts"] = count_prompts(read_pending() or [], status["sessions"], name)
    status["work_trees"] = [root for root in status["work_trees"] if root == here]
    status["sessions"] = [one for one in status["sessions"] if one.get("worktree") == name]
    status["lanes"], status["open"] = len(lanes), sum(lane["open"] for lane in lanes)


def count_prompts(
    pending: Sequence[PromptJson], sessions: Sequence[SessionJson], work_tree: str | None
) -> int:
    """Count the prompts of the work tree with this name, and those of unknown sessions."""
    elsewhere = {one["id"] for one in sessions if (one.get("worktree") or work_tree) != work_tree}
    return sum(prompt["session"] not in elsewhere for prompt in pending)


def show_overview() -> bool:
    """Print the status and the likely next step. Return False, without output, outside a repository."""
    try:
        home = find_home(os.getcwd())
    except NotARepository:
        return False
    status = read_status(home)
    print_out(*render(status, ended=False), "", *suggest_next(status, used=os.path.exists(home.file(""))))
    print_out("`chorus --help` lists all commands.")
    return True


def render(status: StatusJson, *, ended: bool) -> list[str]:
    watcher = status["watcher"]
    if watcher is None:
        return ["no watcher is running for this repository", "nothing is recorded until one starts"]
    lines = [f"watcher {watcher['pid']} for {watcher['repository']}, running since {watcher['since']}"]
    shown = [session for session in status["sessions"] if ended or session["state"] != "gone"]
    joint = len(status["work_trees"]) > 1
    for session in shown:
        where = f" in pane {session['pane']}" if session["pane"] else ""
        where += f" ({session.get('run')})" if session.get("run") else ""
        where += (
            " (read from the screen, because another program pipes this pane)"
            if session.get("from_screen")
            else ""
        )
        where += f" from {session.get('capture')}" if session.get("capture") else ""
        where += f" in {session.get('worktree')}" if joint and session.get("worktree") else ""
        state = "ended" if session["state"] == "gone" else session["state"]
        lines.append(f"  {state:<8} {session['id'][:8]}{where}  {session['title']}".rstrip())
        lines += [f"           {detail}" for detail in describe_session(session)]
    if hidden := len(status["sessions"]) - len(shown):
        lines.append(f"  {hidden} ended (`chorus status --all` lists them)")
    actions, prompts = _count(status["open"], "open action"), _count(status["prompts"], "prompt")
    lines.append(f"{actions}, {prompts} waiting")
    lines += [f"problem: {problem}" for problem in status["problems"]]
    return lines


def describe_session(session: SessionJson) -> list[str]:
    parts = [part for part in (session.get("model"), session.get("mode")) if part]
    if turns := session.get("turns"):
        parts.append(_count(turns, "turn"))
    parts += describe_use(session)
    if source := session.get("source"):
        is_open = session.get("capture") and session["state"] != "gone"
        heard = f", last event {session['last']}" if is_open else ""
        parts.append(f"read from {source}{heard}")
    lines = [" · ".join(parts)] if parts else []
    if about := _describe_client(session):
        lines.append(about)
    if gaps := session.get("gaps"):
        lines.append(f"output was cleared or scrolled away before it was read: {_count(gaps, 'time')}")
    if limit := session.get("limit"):
        lines.append(f"rate limit: {limit}")
    if failed := session.get("failed"):
        lines.append(f"{_count(failed, 'turn')} failed (`chorus log --turns`)")
    if error := session.get("error"):
        lines.append(f"error: {error}")
    return lines


def _describe_client(session: SessionJson) -> str:
    account, parts = session.get("account") or {}, []
    names = [account.get(key) for key in ("email", "organization", "subscriptionType", "apiKeySource")]
    if known := [str(name) for name in names if name and name != "none"]:
        parts.append("account " + ", ".join(known))
    if models := session.get("models"):
        parts.append("models " + ", ".join(models))
    if commands := session.get("commands"):
        parts.append(_count(len(commands), "command"))
    return " · ".join(parts)


def suggest_next(status: StatusJson, *, used: bool) -> list[str]:
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
        steps.append(("chorus log --open", "list the open actions"))
    if not any(session["state"] != "gone" for session in status["sessions"]):
        steps.append(("chorus claude", "start Claude Code with Chorus watching"))
        steps.append(("chorus attach", "watch a session that is already running in tmux"))
    return _render_steps(steps or [("chorus panel", "follow the sessions in the side panel")])


def _render_steps(steps: list[tuple[str, str]]) -> list[str]:
    width = max(len(command) for command, _ in steps) + 2
    return ["next:", *(f"  {command:<{width}}{meaning}" for command, meaning in steps), ""]


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")
