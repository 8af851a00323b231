"""`chorus show`: one action with its details and its diff, or one turn with its answer."""

from __future__ import annotations

from collections.abc import Iterator

from chorus.commands.access.history import has_several_trees, read_action
from chorus.commands.terminal.pager import page
from chorus.commands.terminal.patch import render_patch
from chorus.errors import ExitCode, NotFound, UsageError
from chorus.model.review_state import render_context, render_undone
from chorus.output import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from chorus.model.api.json_api import ActionJson


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        metavar="ACTION",
        help="its number (or WORKTREE:NUMBER), tool_use id or lane commit; for an outside change, its "
        "timeline commit",
    )
    parser.add_argument(
        "--turn", metavar="ID", help="show a turn instead: its message, answer, duration, tokens and cost"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> ExitCode:
    if args.action is not None and args.turn is not None:
        raise UsageError("give either an ACTION or --turn ID, not both", hint="Leave one out.")
    if args.action is None and args.turn is None:
        raise UsageError("no ACTION or --turn was given", hint="Run `chorus log` to list actions and turns.")
    if args.turn is not None:
        return _show_turn(args)
    action = read_action(args.action, user_diff=not args.json)
    if args.json:
        print_json(action)
    else:
        page(render(action), "show")
    return ExitCode.OK


def _show_turn(args: Namespace) -> ExitCode:
    from chorus.commands.access.turns import read_turns, render_turn  # noqa: PLC0415  not for actions
    from chorus.commands.terminal.git_settings import wants_colour  # noqa: PLC0415  not for actions

    found = read_turns(turn=args.turn)
    if not found:
        raise NotFound(f"no turn {args.turn} is recorded", hint="Run `chorus log --turns` to list the turns.")
    if args.json:
        print_json(found[-1])
    else:
        page(render_turn(found[-1], colour=wants_colour()), "show")
    return ExitCode.OK


def render(action: ActionJson) -> Iterator[str]:
    yield f"action {action['n']}  {action['status']}  {action['summary']}"
    details = {
        "tool": action["tool"],
        "id": action["id"],
        "tree": action["worktree"] if has_several_trees() else None,
        "lane": action["lane"],
        "commit": action["commit"],
        "session": action["session"],
        "turn": action["turn"],
        "agent": action["agent"],
        "source": action["source"],
        "time": action["time"],
        "undone": render_undone(action.get("undone")),
        "reason": action["reason"],
        "command": _one_line(action.get("command")),
        "message": _one_line(action["message"]),
    }
    yield from (f"  {name:<8} {value}" for name, value in details.items() if value)
    contexts = [render_context(one["path"], one["by"], one["lines"]) for one in action.get("context", [])]
    yield from (f"  context  {text}" for text in contexts)
    yield from (f"  skipped  {text}" for text in action["skipped"])
    yield ""
    yield from render_patch(action["patch"])


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
