"""`chorus deny`: deny a pending prompt, with or without a message to the agent."""

import argparse

from chorus.commands.access.answers import add_prompt_arguments, give_answer
from chorus.errors import ExitCode

EXAMPLES = (
    ("chorus deny ID", "deny"),
    ("chorus deny ID --message 'use rg'", "deny, and tell the agent what to do instead"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    add_prompt_arguments(parser)
    parser.add_argument("--message", metavar="TEXT", help="tell the agent what to do instead")


def run(args: argparse.Namespace) -> ExitCode:
    return give_answer(args, lambda _: {"decision": "deny", "message": args.message})
