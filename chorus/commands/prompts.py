"""`chorus prompts`: the pending prompts of all sessions, or the prompt on a captured screen."""

from __future__ import annotations

import sys

from chorus.commands.access.prompts import read_pending, render_pending
from chorus.commands.parser.options import parse_count
from chorus.errors import ExitCode, NotFound, UsageError
from chorus.output import print_err, print_json, print_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

ABOUT = """\
Lists each prompt with its id, its options, and what each option means. Answer with
`chorus approve`, `chorus deny` or `chorus answer`."""
EXAMPLES = (
    ("chorus prompts", "list pending prompts"),
    ("tmux capture-pane -p | chorus prompts --screen -", "read the prompt on a screen"),
)


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--screen",
        metavar="FILE",
        help="list the prompt on this captured screen instead of the pending ones (- for stdin)",
    )
    parser.add_argument(
        "--width",
        type=parse_count,
        metavar="N",
        help="the captured pane's width (default: the widest row)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="with --screen: show which rule recognises the dialog, and why the others do not",
    )


def run(args: Namespace) -> ExitCode:
    if args.screen is not None:
        return read_screen_file(args)
    for option, given in (("--width", args.width is not None), ("--explain", args.explain)):
        if given:
            raise UsageError(f"{option} needs --screen FILE")
    return list_pending(as_json=args.json)


def list_pending(*, as_json: bool) -> ExitCode:
    pending = read_pending()
    if pending is None:
        print_err("chorus: no watcher is running for this repository, so no prompt is seen")
        print_err("hint: Watch a running session with `chorus attach`, or start one with `chorus claude`.")
    if as_json:
        print_json(pending or [])
    elif pending:
        for line in render_pending(pending):
            print_out(line)
    elif pending is not None:
        print_err("chorus: no prompt is pending")
    return ExitCode.OK if pending or as_json else ExitCode.NOT_FOUND


def read_screen_file(args: Namespace) -> ExitCode:
    # Listing pending prompts needs none of these, and they load pydantic.
    from chorus.agents import load_agent  # noqa: PLC0415  as above
    from chorus.config.user_config import read_user_section  # noqa: PLC0415  as above
    from chorus.model.prompt import NoPrompt, UnknownPrompt, screen_reading_json  # noqa: PLC0415  as above

    reader = load_agent().prompts.screen_reader(read_user_section("prompts"))
    text = _read_capture(args.screen)
    if args.explain:
        for line in reader.explain(text, width=args.width):
            print_err(line)
    found = reader.read(text, width=args.width)
    if args.json:
        print_json(screen_reading_json(found))
    elif isinstance(found, UnknownPrompt):
        print_out(f"unknown: {found.reason}")
    elif isinstance(found, NoPrompt):
        print_out(f"none: {found.reason}")
    else:
        print_out(f"{found.id}  {found.kind}  {found.title}", f"  {found.question}")
        for option in found.options:
            print_out(f"  {option.key:<5} {option.label}  [{option.meaning}]")
    return ExitCode.OK


def _read_capture(name: str) -> str:
    """Return the text of a file, or of stdin for `-`. Keep bytes that are not UTF-8 as surrogates."""
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    try:
        with open(name, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise NotFound(f"cannot read {name}: {error.strerror}") from error
