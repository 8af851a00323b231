"""`chorus lanes`: the branches that hold each session's actions."""

from __future__ import annotations

from chorus.commands.access.history import read_lanes
from chorus.commands.parser.options import add_here_option
from chorus.errors import ExitCode
from chorus.model.review_state import render_lane_context
from chorus.output import print_err, print_json, print_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = "A lane is a plain branch, chorus/NAME, with one commit per action."


def configure(parser: ArgumentParser) -> None:
    add_here_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> ExitCode:
    lanes = read_lanes(here=args.here)
    if args.json:
        print_json(lanes)
        return ExitCode.OK
    if not lanes:
        print_err("chorus: there are no lanes; a session's lane starts with its first change")
        return ExitCode.NOT_FOUND
    width = max(len(lane["name"]) for lane in lanes)
    trees = {lane["worktree"] for lane in lanes}
    tree_width = max(map(len, trees)) + 2 if len(trees) > 1 else 0
    for lane in lanes:
        base = (lane["base"] or "nothing")[:10]
        tree = f"{lane['worktree']:<{tree_width}}" if tree_width else ""
        counts = f"{lane['actions']:>4} actions, {lane['open']:>4} open"
        print_out(f"{tree}{lane['name']:<{width}}  {counts}  from {base}")
        if context := [(part["path"], part["by"]) for part in lane.get("context", [])]:
            print_out(f"  {render_lane_context(context)}")
    return ExitCode.OK
