"""Options and arguments that several commands share."""

from __future__ import annotations

TYPE_CHECKING = False  # short commands import this module: no typing, no argparse
if TYPE_CHECKING:
    from argparse import ArgumentParser, _ArgumentGroup


def parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        from argparse import ArgumentTypeError  # noqa: PLC0415  only for an error

        raise ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def add_tmux_options(parser: ArgumentParser | _ArgumentGroup) -> None:
    parser.add_argument("-L", dest="socket_name", metavar="NAME", help="use the tmux server with this name")
    parser.add_argument("-S", dest="socket_path", metavar="PATH", help="use the tmux server at this socket")


def add_here_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--here", action="store_true", help="only this work tree, not the repository's other ones"
    )


def add_turn_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--turn", action="append", default=[], metavar="ID", help="all actions of this turn (repeatable)"
    )


def add_action_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "actions", nargs="*", metavar="ACTION", help="numbers from `chorus log`, tool_use ids or lane commits"
    )
    add_turn_option(parser)
    parser.add_argument("--lane", metavar="NAME", help="all actions of this lane")
