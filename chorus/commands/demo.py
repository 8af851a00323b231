"""`chorus demo`: play a short demo in a scratch repository, without account or network."""

import argparse
import sys

from chorus.demo.run import play_headless, play_interactive
from chorus.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--headless", action="store_true", help="run without a terminal and check each step")
    parser.add_argument(
        "--real", action="store_true", help="use the installed Claude Code, with a scripted model"
    )


def run(args: argparse.Namespace) -> ExitCode:
    if args.headless or not (sys.stdin.isatty() and sys.stdout.isatty()):
        play_headless(real=args.real)
    else:
        play_interactive(real=args.real)
    return ExitCode.OK
