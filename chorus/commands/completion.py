"""`chorus completion`: what makes bash, zsh or fish complete commands, options and lanes."""

import argparse

from chorus.commands.parser.completion_scripts import SHELLS
from chorus.commands.parser.reference import read_pages
from chorus.errors import ExitCode
from chorus.output import print_out

PLACES = {
    "bash": "~/.local/share/bash-completion/completions/chorus, or a file that ~/.bashrc sources",
    "zsh": "_chorus, in a directory of your fpath",
    "fish": "~/.config/fish/completions/chorus.fish",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=tuple(SHELLS), help="the shell it is for")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    places = "\n".join(f"  {shell:<6}{place}" for shell, place in PLACES.items())
    parser.epilog = f"Put what it prints where your shell looks for it:\n{places}"


def run(args: argparse.Namespace) -> ExitCode:
    print_out(SHELLS[args.shell](read_pages()).rstrip("\n"))
    return ExitCode.OK
