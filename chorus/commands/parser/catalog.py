"""The list of commands, and the code that imports a command and parses its arguments."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing typing takes a third of the time that Python itself needs to start
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Protocol

    from chorus.errors import ExitCode

    class Command(Protocol):
        """A module of chorus.commands. It may also define ABOUT, EXAMPLES and PASSES_ON; see `load`."""

        def configure(self, parser: ArgumentParser) -> None: ...

        def run(self, args: Namespace) -> ExitCode: ...


# group -> command -> summary, in the order of the help text. The module is chorus.commands.<command>.
GROUPS = {
    "start and watch sessions": {
        "claude": "start Claude Code in tmux and watch it",
        "attach": "watch a Claude Code session that is already running in tmux",
        "run": "start a headless session (no terminal interface) in a tmux pane",
        "send": "send a message to a headless session, or end it",
        "interrupt": "interrupt the turn of a headless session",
        "panel": "open the side panel: actions, diffs and prompts of all sessions",
        "inbox": "show prompts, sessions and reviews of all your repositories",
        "status": "show the watcher, its sessions and what is left to review",
        "stop": "stop this repository's watcher",
    },
    "review and revert actions": {
        "log": "list actions, newest first",
        "show": "show one action with its diff",
        "diff": "show the changes of actions",
        "blame": "show which action wrote each line of a file",
        "lanes": "list lanes, the branches that hold each session's actions",
        "revert": "revert actions without touching anything else",
        "redo": "redo reverted actions",
        "keep": "mark actions as reviewed",
        "note": "write a note to the agent about an action or a line of it",
        "notes": "list, send or delete notes to the agent",
        "land": "commit a lane's actions to a branch",
        "pr": "print a lane as a pull request, in Markdown",
        "drop": "delete a lane's branch, or restore it",
    },
    "answer prompts": {
        "prompts": "list pending permission prompts",
        "approve": "approve a pending prompt",
        "deny": "deny a pending prompt",
        "answer": "answer the questions of a pending prompt",
        "policy": "list, add and test the rules that answer prompts for you",
    },
    "set up and maintain": {
        "hooks": "install or uninstall Chorus's hooks in Claude Code's settings",
        "doctor": "check the setup and explain how to fix problems",
        "inspect": "list the actions in a recorded stream, pane capture or transcript",
        "gc": "compact Chorus's store, or remove Chorus from the repository",
        "completion": "print a completion script for bash, zsh or fish",
        "demo": "play a short demo in a scratch repository, offline",
    },
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}


def load_command(name: str) -> Command:
    module = f"chorus.commands.{name}"
    __import__(module)  # importlib would have to be loaded first
    return sys.modules[module]


def parse(name: str, command: Command, arguments: Sequence[str]) -> Namespace:
    """Parse the arguments of a command; exit with a message if they are wrong."""
    from chorus.commands.parser.plain_parser import NotPlain, PlainParser  # noqa: PLC0415  `--help` needs none

    plain = PlainParser()
    try:
        command.configure(plain)  # type: ignore[arg-type]  # it takes the same calls
        args = plain.parse(arguments)
    except NotPlain:
        args = None
    return load(name)[1].parse_args(arguments) if args is None else args


def load(name: str) -> tuple[Command, ArgumentParser]:
    """Import a command's module and build its parser.

    The module may define three constants. ABOUT is a paragraph below the summary. EXAMPLES are pairs of a
    command line and its meaning. PASSES_ON is True if the arguments after `--` go to another program.
    """
    from chorus.commands.parser.argument_parser import build_parser  # noqa: PLC0415  `--help` needs none

    command = load_command(name)
    parser = build_parser(
        name, COMMANDS[name], about=getattr(command, "ABOUT", ""), examples=getattr(command, "EXAMPLES", ())
    )
    command.configure(parser)
    return command, parser
