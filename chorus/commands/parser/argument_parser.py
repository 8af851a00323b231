"""The argument parser of one command: argparse with examples, and a suggestion for a mistyped option."""

import argparse
from collections.abc import Sequence
from typing import NoReturn

from chorus.errors import ExitCode
from chorus.output import print_err

# The start of argparse's message about an unknown option.
UNKNOWN = "unrecognized arguments: "


class CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        argument, invalid, rest = message.partition(": invalid choice: ")
        if invalid and "|" in argument:  # its metavar names the choices; argparse would add internal ones
            message = argument + invalid + rest.partition(" (choose from")[0]
        word = message.removeprefix(UNKNOWN).split(" ")[0].split("=")[0]
        import difflib  # noqa: PLC0415  only for an error

        near = difflib.get_close_matches(word, self._option_string_actions, n=1)
        suggestion = f"; did you mean {near[0]}?" if message.startswith(UNKNOWN) and near else ""
        print_err(self.format_usage().rstrip("\n"))
        print_err(f"{self.prog}: error: {message}{suggestion}")
        raise SystemExit(ExitCode.USAGE)


def build_parser(
    name: str, summary: str, *, about: str = "", examples: Sequence[tuple[str, str]] = ()
) -> CommandParser:
    """Return the parser of a command, without the command's own arguments."""
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
