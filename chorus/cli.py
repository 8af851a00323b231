"""The command line: parser, environment scrub, the one error boundary, exit codes.

A command's module is imported only when it runs, so that `chorus --help` costs no more than Python.
"""

import os
import sys
from collections.abc import Sequence

from chorus import __version__
from chorus.commands.parser.catalog import COMMANDS, load
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
            print_err(f"hint: {error.hint}")
        return error.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader (a pager, head) left: not an error of ours. Python would complain while it
        # flushes stdout at exit, so stdout is pointed away first.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
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
        command, parser = load(name)
        own, passed_on = _split(rest) if getattr(command, "PASSES_ON", False) else (rest, [])
        args = parser.parse_args(own)
        args.passed_on = passed_on
        return command.run(args)
    return _answer_about_itself(arguments)


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What stands before the first `--`, and what stands after it, for another program."""
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


def _answer_about_itself(arguments: Sequence[str]) -> int:
    """`chorus`, `chorus --help`, `chorus --version`: without argparse, which costs more than the answer."""
    if len(arguments) > 1 and arguments[0] in ("-h", "--help") and arguments[1] in COMMANDS:
        return _dispatch([arguments[1], "--help"])
    for word in arguments:
        if word == "--version":
            print_out(f"chorus {__version__}")
            return ExitCode.OK
        if word not in ("-h", "--help"):
            kind = "option" if word.startswith("-") else "command"
            print_err(f"chorus: there is no {kind} {word!r}; {_suggest(word)}`chorus --help` lists them")
            return ExitCode.USAGE
    print_out(_render_help())
    return ExitCode.OK


def _suggest(word: str) -> str:
    import difflib  # noqa: PLC0415  only who mistypes pays for it

    near = difflib.get_close_matches(word, COMMANDS, n=1)
    return f"did you mean `chorus {near[0]}`? " if near else ""


def _render_help() -> str:
    width = max(map(len, COMMANDS)) + 2
    listing = "\n".join(f"  {name:<{width}}{summary}" for name, summary in COMMANDS.items())
    return f"""usage: chorus [--version] [--help] COMMAND ...

One commit per tool action of a Claude Code session, and any one of them taken back.

options:
  -h, --help    show this text
  --version     show the version

commands:
{listing}

`chorus COMMAND --help` says more about one of them."""


def _report_bug() -> None:
    import platform  # noqa: PLC0415  only a crash pays for these
    import traceback  # noqa: PLC0415

    print_err(traceback.format_exc().rstrip())
    print_err(
        f"chorus: this is a bug (chorus {__version__}, python {platform.python_version()}, {sys.platform})"
    )
