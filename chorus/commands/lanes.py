"""`chorus lanes`: the branches that hold what each session did."""

import argparse

from chorus.commands.history import read_lanes
from chorus.errors import ExitCode
from chorus.output import answer, answer_json, note


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    lanes = read_lanes()
    if args.json:
        answer_json(lanes)
        return ExitCode.DONE
    if not lanes:
        note("chorus: there is no lane: a session gets one with its first change")
        return ExitCode.NOTHING
    width = max(len(lane["name"]) for lane in lanes)
    for lane in lanes:
        base = (lane["base"] or "nothing")[:10]
        answer(f"{lane['name']:<{width}}  {lane['actions']:>4} actions, {lane['open']:>4} open  from {base}")
    return ExitCode.DONE
