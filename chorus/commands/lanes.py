"""`chorus lanes`: the branches that hold each session's actions."""

import argparse

from chorus.commands.access.history import read_lanes
from chorus.errors import ExitCode
from chorus.output import print_err, print_json, print_out

ABOUT = "A lane is a plain branch, chorus/NAME, with one commit per action."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    lanes = read_lanes()
    if args.json:
        print_json(lanes)
        return ExitCode.OK
    if not lanes:
        print_err("chorus: there are no lanes: a session's lane starts with its first change")
        return ExitCode.NOT_FOUND
    width = max(len(lane["name"]) for lane in lanes)
    for lane in lanes:
        base = (lane["base"] or "nothing")[:10]
        print_out(
            f"{lane['name']:<{width}}  {lane['actions']:>4} actions, {lane['open']:>4} open  from {base}"
        )
    return ExitCode.OK
