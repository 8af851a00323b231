"""The parser of one command: argparse, which also says what a mistyped option was likely meant to be."""

import argparse
import difflib
from typing import NoReturn

# How argparse begins to say that there is no such option.
UNKNOWN = "unrecognized arguments: "


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        word = message.removeprefix(UNKNOWN).split(" ")[0].split("=")[0]
        near = difflib.get_close_matches(word, self._option_string_actions, n=1)
        suggestion = f"; did you mean {near[0]}?" if message.startswith(UNKNOWN) and near else ""
        super().error(f"{message}{suggestion}")


def parse_count(text: str) -> int:
    """A number of things: at least one."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)
