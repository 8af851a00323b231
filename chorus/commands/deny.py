"""`chorus deny`: say no to the prompt that waits, with or without words."""

import argparse

from chorus.commands.approve import give_answer
from chorus.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="ID", help="which prompt, as `chorus prompts` names it")
    parser.add_argument("--message", metavar="TEXT", help="tell the model what to do instead")
    parser.add_argument("--fingerprint", metavar="HASH", help="refuse unless the prompt is this very one")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    return give_answer(args, lambda _: {"decision": "deny", "message": args.message})
