"""The argument parser of one command: argparse with examples, and a suggestion for a mistyped option."""

import argparse
import difflib
from collections.abc import Sequence
from typing import NoReturn

# The start of argparse's message about an unknown option.
UNKNOWN = "unrecognized arguments: "


class CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        word = message.removeprefix(UNKNOWN).split(" ")[0].split("=")[0]
        near = difflib.get_close_matches(word, self._option_string_actions, n=1)
        suggestion = f"; did you mean {near[0]}?" if message.startswith(UNKNOWN) and near else ""
        super().error(f"{message}{suggestion}")


def build_parser(
    name: str, summary: str, *, about: str = "", examples: Sequence[tuple[str, str]] = ()
) -> CommandParser:
    """Return the parser of a command that has no arguments yet."""
    description = f"{summary[0].upper()}{summary[1:]}." + (f"\n\n{about}" if about else "")
    return CommandParser(
        prog=f"chorus {name}",
        description=description,
        epilog=render_examples(examples),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def render_examples(examples: Sequence[tuple[str, str]]) -> str | None:
    if not examples:
        return None
    width = max(len(line) for line, _ in examples) + 2
    return "\n".join(["examples:", *(f"  {line:<{width}}{meaning}" for line, meaning in examples)])


def parse_count(text: str) -> int:
    """Parse a number of things: at least one."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def add_tmux_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the options that choose a tmux server, spelled as tmux spells them."""
    parser.add_argument("-L", dest="socket_name", metavar="NAME", help="use the tmux server with this name")
    parser.add_argument("-S", dest="socket_path", metavar="PATH", help="use the tmux server at this socket")


def add_action_options(parser: argparse.ArgumentParser) -> None:
    """Add the ways to name several actions."""
    parser.add_argument(
        "actions", nargs="*", metavar="ACTION", help="numbers from `chorus log`, tool_use ids or lane commits"
    )
    parser.add_argument("--turn", metavar="ID", help="all actions of this turn")
    parser.add_argument("--lane", metavar="NAME", help="all actions of this lane")
