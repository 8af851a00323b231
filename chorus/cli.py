"""The command line: parser, environment scrub, the one error boundary, exit codes.

A command's module is imported only when it runs, so that `chorus --help` costs no more than Python.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, Protocol

from chorus import __version__
from chorus.errors import ChorusError, ExitCode
from chorus.output import note

# name -> what it does, in the order of the help text. The module is chorus.commands.<name>.
COMMANDS = {
    "claude": "start Claude Code in tmux, watched from its first moment",
    "attach": "watch a client that runs already, or a pane in which one will",
    "run": "start a headless session in a tmux pane",
    "send": "say something more to a headless session, or end it",
    "panel": "show what the sessions did and ask, beside them, and answer",
    "status": "say what the agent watches right now",
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
    "demo": "play a short story in a scratch repository: no account, no network",
    "stop": "end this repository's agent",
}


class Command(Protocol):
    """What every module in chorus.commands offers."""

    def configure(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> ExitCode: ...


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    scrub_environment()
    try:
        return _dispatch(arguments)
    except ChorusError as error:
        note(f"chorus: {error}")
        if error.hint:
            note(f"hint: {error.hint}")
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader (a pager, head) left: not an error of ours. Python would complain while it
        # flushes stdout at exit, so stdout is pointed away first.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except Exception:  # noqa: BLE001  the outermost boundary: a bug is reported, with its versions
        _report_bug()
        return ExitCode.BUG


# What a person wants used, wherever they are.
KEPT_VARIABLES = ("GIT_PAGER", "GIT_EDITOR")


def scrub_environment() -> None:
    """Forget inherited GIT_* variables: inside a git hook they name somebody else's repository."""
    for name in [name for name in os.environ if name.startswith("GIT_") and name not in KEPT_VARIABLES]:
        del os.environ[name]


def _dispatch(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        name, rest = arguments[0], arguments[1:]
        command: Command = importlib.import_module(f"chorus.commands.{name}")
        parser = argparse.ArgumentParser(prog=f"chorus {name}", description=COMMANDS[name].capitalize() + ".")
        command.configure(parser)
        own, passed_on = _split(rest) if getattr(command, "PASSES_ON", False) else (rest, [])
        args = parser.parse_args(own)
        args.passed_on = passed_on
        return command.run(args)
    _top_parser().parse_args(arguments)
    _top_parser().print_help()
    return ExitCode.DONE


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What stands before the first `--`, and what stands after it, for another program."""
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


def _top_parser() -> argparse.ArgumentParser:
    width = max(map(len, COMMANDS)) + 2
    listing = "\n".join(f"  {name:<{width}}{summary}" for name, summary in COMMANDS.items())
    parser = _TopParser(
        prog="chorus",
        usage="chorus [--version] [--help] COMMAND ...",
        description="One commit per tool action of a Claude Code session, and any one of them taken back.",
        epilog=f"commands:\n{listing}\n\n`chorus COMMAND --help` says more about one of them.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"chorus {__version__}")
    parser.add_argument("command", nargs="?", help=argparse.SUPPRESS)
    return parser


class _TopParser(argparse.ArgumentParser):
    def parse_args(self, args: Sequence[str]) -> argparse.Namespace:  # type: ignore[override]
        namespace = super().parse_args(args)
        if namespace.command is not None:
            self.error(f"there is no command {namespace.command!r}; `chorus --help` lists them")
        return namespace

    def error(self, message: str) -> NoReturn:
        note(f"chorus: {message}")
        raise SystemExit(ExitCode.USAGE)


def _report_bug() -> None:
    import platform  # noqa: PLC0415  only a crash pays for these
    import traceback  # noqa: PLC0415

    note(traceback.format_exc().rstrip())
    note(f"chorus: this is a bug (chorus {__version__}, python {platform.python_version()}, {sys.platform})")
