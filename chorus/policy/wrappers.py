"""Commands that run other commands: `env`, `xargs`, `find -exec`, `sh -c` and the like.

This module finds the commands inside them, so that a rule that denies `rm` also denies `env rm` and
`find -exec rm`. The result is used to deny, never to allow.
"""

import re
from itertools import pairwise

from chorus.policy.shell import Command, ShellScript, Word, parse_shell

_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "mksh"}
_SHELL_TEXT = re.compile(r"-[A-Za-z]*c")
# Program -> its flags that take a value in the next word, and how many words are before the command.
_PREFIXES: dict[str, tuple[frozenset[str], int]] = {
    "env": (frozenset({"-u", "-C", "--unset", "--chdir"}), 0),
    "time": (frozenset({"-o", "-f"}), 0),
    "nice": (frozenset({"-n"}), 0),
    "ionice": (frozenset({"-c", "-n"}), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "timeout": (frozenset({"-s", "-k"}), 1),
    "sudo": (frozenset({"-u", "-g", "-p", "-C", "-h"}), 0),
    "doas": (frozenset({"-u", "-C"}), 0),
    "xargs": (frozenset({"-n", "-P", "-L", "-d", "-I", "-a", "-E", "-s"}), 0),
    "watch": (frozenset({"-n"}), 0),
    "exec": (frozenset({"-a"}), 0),
    "chroot": (frozenset(), 1),
    "flock": (frozenset({"-w", "-E"}), 1),
    **dict.fromkeys(
        ("nohup", "setsid", "command", "builtin", "noglob", "nocorrect", "busybox", "toybox"),
        (frozenset(), 0),
    ),
}
_FIND_RUNS = {"-exec", "-execdir", "-ok", "-okdir"}
# Nobody nests commands more deeply than this.
_MAX_DEPTH = 6


def parse_unwrapped(text: str) -> ShellScript:
    """Everything the text runs, with the commands inside wrappers."""
    found = ShellScript()
    _add_script(found, parse_shell(text), 0)
    return found


def unwrap(command: Command) -> ShellScript:
    """The command, and the commands inside it."""
    found = ShellScript()
    _add_command(found, command, 0)
    return found


def program_name(word: str) -> str:
    return word.rsplit("/", 1)[-1].casefold()


def _add_script(found: ShellScript, script: ShellScript, depth: int) -> None:
    found.writes += script.writes
    found.reads += script.reads
    for command in script.commands:
        _add_command(found, command, depth)


def _add_command(found: ShellScript, command: Command, depth: int) -> None:
    if not command or command[0] is None or depth > _MAX_DEPTH:
        return
    found.commands.append(command)
    base, arguments = program_name(command[0]), command[1:]
    if base in _SHELLS:
        _add_shell(found, arguments, depth)
    elif base == "eval":
        text = " ".join(word for word in arguments if word is not None)
        _add_script(found, parse_shell(text), depth + 1)
    elif base in _PREFIXES:
        _add_command(found, _skip_flags(arguments, *_PREFIXES[base]), depth + 1)
    elif base == "find":
        _add_find(found, arguments, depth)


def _add_shell(found: ShellScript, arguments: Command, depth: int) -> None:
    """Add the commands in TEXT for `sh -c TEXT`."""
    for flag, text in pairwise(arguments):
        if flag is not None and text is not None and _SHELL_TEXT.fullmatch(flag):
            _add_script(found, parse_shell(text), depth + 1)


def _skip_flags(arguments: Command, valued: frozenset[str], skipped: int) -> Command:
    """Return the inner command: what follows the flags, the assignments and `skipped` other words."""
    rest = list(arguments)
    while rest and rest[0] is not None and (rest[0].startswith("-") or "=" in rest[0]):
        del rest[: 2 if rest[0] in valued else 1]
    return tuple(rest[skipped:])


def _add_find(found: ShellScript, arguments: Command, depth: int) -> None:
    start = 0
    while start < len(arguments):
        if arguments[start] in _FIND_RUNS:
            end = _end_of_exec(arguments, start + 1)
            inner: list[Word] = [None if part == "{}" else part for part in arguments[start + 1 : end]]
            _add_command(found, tuple(inner), depth + 1)
            start = end  # another `-exec` before the end is an argument of the first
        start += 1


def _end_of_exec(arguments: Command, start: int) -> int:
    """The position at which the command of `-exec` ends: at a `;`, or at a `+` right after `{}`."""
    for index in range(start, len(arguments)):
        if arguments[index] == ";" or (arguments[index] == "+" and arguments[index - 1] == "{}"):
            return index
    return len(arguments)
