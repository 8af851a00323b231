"""The command line: find the command, run it, report its errors, return the exit code."""

import os
import sys
from collections.abc import Sequence

from chorus import __version__
from chorus.commands.parser.catalog import COMMANDS, GROUPS, load_command, parse
from chorus.errors import ChorusError, ExitCode
from chorus.output import print_err, print_out


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    scrub_environment()
    try:
        return _dispatch(arguments)
    except ChorusError as error:
        print_err(f"chorus: {error}")
        if error.hint:
            print_err("hint: " + error.hint.replace("\n", "\n      "))
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader of stdout (a pager, head) has ended; this is not an error. Python would complain when it
        # flushes stdout at exit, so stdout is redirected first.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except Exception:  # noqa: BLE001  the outermost boundary reports a bug with the versions
        _report_bug()
        return ExitCode.BUG


# The user's choice of programs, valid in every repository.
KEPT_VARIABLES = ("GIT_PAGER", "GIT_EDITOR")


def scrub_environment() -> None:
    """Remove GIT_* variables except KEPT_VARIABLES.

    In a git hook, the removed variables point to the hook's repository.
    """
    for name in [name for name in os.environ if name.startswith("GIT_") and name not in KEPT_VARIABLES]:
        del os.environ[name]


def _dispatch(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        name, rest = arguments[0], arguments[1:]
        command = load_command(name)
        own, passed_on = _split(rest) if getattr(command, "PASSES_ON", False) else (rest, [])
        args = parse(name, command, own)
        args.passed_on = passed_on
        return command.run(args)
    return _run_without_command(arguments)


def _split(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Split at the first `--`: the command's own arguments, and those for another program."""
    index = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:index], arguments[index + 1 :]


def _run_without_command(arguments: Sequence[str]) -> int:
    """Run `chorus`, `chorus --help` and `chorus --version`, without argparse, which is slow to import."""
    if not arguments:
        return _show_overview()
    if len(arguments) > 1 and arguments[0] in ("-h", "--help") and arguments[1] in COMMANDS:
        return _dispatch([arguments[1], "--help"])
    for word in arguments:
        if word == "--version":
            print_out(f"chorus {__version__}")
            return ExitCode.OK
        if word not in ("-h", "--help"):
            kind = "option" if word.startswith("-") else "command"
            print_err(f"chorus: unknown {kind} {word!r}; {_suggest(word)}see `chorus --help`")
            return ExitCode.USAGE
    print_out(*_render_help().split("\n"))
    return ExitCode.OK


def _show_overview() -> int:
    """Inside a repository, show the status and the next step. Elsewhere, show the help."""
    from chorus.commands.status import show_overview  # noqa: PLC0415  loads the connection to the watcher

    if not show_overview():
        print_out(*_render_help().split("\n"))
    return ExitCode.OK


def _suggest(word: str) -> str:
    import difflib  # noqa: PLC0415  only for a mistyped word

    near = difflib.get_close_matches(word, COMMANDS, n=1)
    return f"did you mean `chorus {near[0]}`? " if near else ""


def _render_help() -> str:
    width = max(map(len, COMMANDS)) + 2
    groups = "\n\n".join(
        "\n".join([f"{title}:", *(f"  {name:<{width}}{summary}" for name, summary in commands.items())])
        for title, commands in GROUPS.items()
    )
    return f"""usage: chorus [--version] [--help] COMMAND ...

Chorus commits each action of a Claude Code session to a branch, lets you answer
permission prompts from a side panel, and reverts single actions.

{groups}

options:
  -h, --help    show this help, or `chorus COMMAND --help` for one command
  --version     show the version

Inside a repository, `chorus` alone shows the status and the next step."""


def _report_bug() -> None:
    import platform  # noqa: PLC0415  only for a crash
    import traceback  # noqa: PLC0415  only a crash needs it

    print_err(traceback.format_exc().rstrip())
    print_err(
        f"chorus: this is a bug (chorus {__version__}, python {platform.python_version()}, {sys.platform}); "
        "please report the lines above"
    )
