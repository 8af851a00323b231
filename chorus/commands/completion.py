"""`chorus completion`: print a completion script for bash, zsh or fish."""

import argparse

from chorus.commands.parser.completion_scripts import SHELLS
from chorus.commands.parser.reference import read_pages
from chorus.errors import ExitCode
from chorus.output import print_out

ABOUT = "Completes commands, options, lanes, action numbers and files."
PATHS = {
    "bash": "~/.local/share/bash-completion/completions/chorus, or a file that ~/.bashrc sources",
    "zsh": "_chorus, in a directory of your fpath",
    "fish": "~/.config/fish/completions/chorus.fish",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SHELLS), help="your shell")
    paths = "\n".join(f"  {shell:<6}{path}" for shell, path in PATHS.items())
    parser.epilog = f"Save the output where your shell looks for it:\n{paths}"


def run(args: argparse.Namespace) -> ExitCode:
    print_out(*SHELLS[args.shell](read_pages()).rstrip("\n").split("\n"))
    return ExitCode.OK
