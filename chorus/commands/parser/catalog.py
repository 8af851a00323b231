"""The commands there are, and each one's module and parser, loaded when asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from chorus.errors import ExitCode

# name -> what it does, in the order of the help text. The module is chorus.commands.<name>.
COMMANDS = {
    "claude": "start Claude Code in tmux, watched from its first moment",
    "attach": "watch a client that runs already, or a pane in which one will",
    "run": "start a headless session in a tmux pane",
    "send": "say something more to a headless session, or end it",
    "panel": "show what the sessions did and ask, beside them, and answer",
    "status": "say what the watcher watches right now",
    "lanes": "list the branches that hold what each session did",
    "log": "list what the agent did, action by action",
    "show": "show one action with its diff",
    "diff": "show what actions changed",
    "revert": "take actions back, and nothing else",
    "redo": "bring back what was reverted",
    "keep": "mark actions as reviewed",
    "land": "make clean commits of a lane on a branch of yours",
    "drop": "remove a lane's branch, or bring it back",
    "blame": "say which action wrote a line",
    "prompts": "show what the client asks, and which key answers what",
    "approve": "say yes to a prompt that waits",
    "deny": "say no to a prompt that waits",
    "answer": "answer the questions of a prompt that waits",
    "policy": "say which tool calls need no person",
    "hooks": "put Chorus's hooks into the client's settings, take them out, say where they are",
    "inspect": "show what Chorus makes of a recorded stream, pane capture or transcript",
    "doctor": "say what is healthy, what is not covered, and how to mend it",
    "gc": "make Chorus's own store small, or take Chorus out of the repository",
    "completion": "print what makes your shell complete commands, options and lanes",
    "demo": "play a short story in a scratch repository: no account, no network",
    "stop": "end this repository's watcher",
}


class Command(Protocol):
    """What every module in chorus.commands offers."""

    def configure(self, parser: "ArgumentParser") -> None: ...

    def run(self, args: "Namespace") -> "ExitCode": ...


def load(name: str) -> tuple[Command, "ArgumentParser"]:
    """A command's module and its parser."""
    from chorus.commands.parser.argument_parser import Parser  # noqa: PLC0415  the list of commands is shown without it

    command: Command = import_module(f"chorus.commands.{name}")
    summary = COMMANDS[name]
    parser = Parser(prog=f"chorus {name}", description=f"{summary[0].upper()}{summary[1:]}.")
    command.configure(parser)
    return command, parser
