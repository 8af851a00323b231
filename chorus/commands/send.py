"""`chorus send`: send a message to a headless session started by `chorus run`, or end it."""

import argparse

from chorus.agents import load_agent
from chorus.commands.access.messages import (
    add_message_options,
    check_message,
    read_image,
    wait_for_turn,
)
from chorus.commands.access.watcher import open_watcher
from chorus.errors import ExitCode, UsageError
from chorus.output import print_json
from chorus.wire.client import Connection

ABOUT = """\
If the agent is working, the client decides when the message reaches it: between two tool
calls, or after the turn."""
EXAMPLES = (
    ("chorus send 'now add tests'", "send the next message"),
    ("chorus send --image shot.png 'what is wrong here?' --wait", "send an image and print the answer"),
    ("chorus send --mode plan", "change the permission mode"),
    ("chorus send --end", "end the session after its current turn"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help="the next message")
    parser.add_argument(
        "--run",
        metavar="NAME",
        help="which headless session: its name, pane or session id (needed if several are running)",
    )
    add_message_options(parser)
    parser.add_argument(
        "--mode",
        choices=load_agent().setup.permission_modes,
        metavar="MODE",
        help="change the permission mode first: " + ", ".join(load_agent().setup.permission_modes),
    )
    parser.add_argument(
        "--end",
        action="store_true",
        help="end the session after its current turn, and wait for its end",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    sends = args.message is not None or bool(args.image)
    if not sends and not args.end and args.mode is None:
        raise UsageError("give a MESSAGE, --image, --mode or --end")
    if not sends and (args.wait or args.follow):
        raise UsageError("--wait and --follow need a MESSAGE")
    if sends:
        check_message(args.message, args.image)
    with open_watcher() as watcher:
        done, reached = ExitCode.OK, None
        if args.mode is not None:
            reached = watcher.ask("mode", run=args.run, mode=args.mode)
        if sends:
            done = _send(watcher, args)
        if args.end:
            reached = watcher.ask("end", run=args.run, wait=True)
    if args.json and not sends:
        print_json(reached)
    return done


def _send(watcher: Connection, args: argparse.Namespace) -> ExitCode:
    if args.wait or args.follow:
        watcher.ask("subscribe")
    images = [read_image(name) for name in args.image]
    sent = watcher.ask("send", run=args.run, message=args.message or "", images=images)
    if args.wait or args.follow:
        return wait_for_turn(watcher, args, sent)
    if args.json:
        print_json(sent)
    return ExitCode.OK
