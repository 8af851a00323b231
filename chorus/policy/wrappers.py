"""Commands that run other commands: `env`, `xargs`, `find -exec`, `sh -c` and the like.

Replaces each by the commands inside it, and notes where it runs something that is not on its line. This
holds whatever the rules allow: a rule that allows `find` does not allow `find -exec rm`.
"""

import re
from dataclasses import dataclass

from chorus.policy.risks import ALWAYS_ASK, find_risk
from chorus.policy.shell import HARMLESS_VARIABLES, ShellScript, SimpleCommand, parse_shell
from chorus.policy.shell_syntax import UNKNOWN, UNKNOWN_WORDS, Word

_SHELL_FLAGS = re.compile(r"-[eulx]+")
_SHELL_OPTION = re.compile(r"-[eulx]*o")
_SHELL_OPTIONS = {"pipefail", "errexit", "nounset", "xtrace"}
_SHELL_TEXT = re.compile(r"-[eulx]*c")
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "mksh"}


@dataclass(frozen=True, slots=True)
class _Prefix:
    """A command that runs the rest of its line."""

    flags: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()  # flags that take a value
    words: int = 0  # arguments before the command
    always_ask: bool = False


_PREFIXES = {
    "env": _Prefix(),
    "time": _Prefix(flags=frozenset({"-p"})),
    "nohup": _Prefix(),
    "nice": _Prefix(valued=frozenset({"-n"})),
    "ionice": _Prefix(valued=frozenset({"-c", "-n"})),
    "stdbuf": _Prefix(valued=frozenset({"-i", "-o", "-e"})),
    "timeout": _Prefix(valued=frozenset({"-s", "-k"}), flags=frozenset({"--foreground"}), words=1),
    "setsid": _Prefix(flags=frozenset({"-w"})),
    "command": _Prefix(flags=frozenset({"-p"})),
    "builtin": _Prefix(),
    "noglob": _Prefix(),
    "nocorrect": _Prefix(),
    "sudo": _Prefix(
        flags=frozenset({"-n", "-E", "-H", "-S"}), valued=frozenset({"-u", "-g"}), always_ask=True
    ),
    "doas": _Prefix(flags=frozenset({"-n"}), valued=frozenset({"-u"}), always_ask=True),
}
_XARGS = _Prefix(
    flags=frozenset({"-0", "-r", "-t", "--null", "--no-run-if-empty"}),
    valued=frozenset({"-n", "-P", "-L", "-d"}),
)
_FIND_RUNS = {"-exec", "-execdir", "-ok", "-okdir"}
_NAME = re.compile(r"[A-Za-z0-9_./+-]+|\[")
# Nobody nests `sh -c` more deeply than this.
_MAX_DEPTH = 4


def parse_unwrapped(text: str) -> ShellScript:
    """Everything one command line runs, without wrappers, and the reasons why it cannot be judged."""
    found = ShellScript()
    _add_script(found, parse_shell(text), 0)
    return found


def program_name(word: Word) -> str:
    return word.text.rsplit("/", 1)[-1].casefold()


def _add_script(found: ShellScript, script: ShellScript, depth: int) -> None:
    found.writes += script.writes
    found.reads += script.reads
    found.not_analysed += script.not_analysed
    for command in script.commands:
        _add_command(found, command, depth)


def _add_command(found: ShellScript, command: SimpleCommand, depth: int) -> None:
    name, *arguments = command.words
    if not name.known or _NAME.fullmatch(name.text) is None:
        found.not_analysed.append("the name of a command is not plain text")
        return
    base = program_name(name)
    if depth > _MAX_DEPTH:
        found.not_analysed.append("commands are wrapped too deeply")
    elif base in _SHELLS:
        _add_shell(found, command, arguments, depth)
    elif base in _PREFIXES:
        _add_prefixed(found, command, _PREFIXES[base], arguments, depth)
    elif base == "xargs":
        _add_xargs(found, arguments, depth)
    else:
        if base in ALWAYS_ASK:
            found.not_analysed.append(f"the user is always asked about `{base}`")
        if base == "find":
            _add_find(found, arguments, depth)
        if base == "tee":
            found.writes += [word for word in arguments if not word.text.startswith("-")]
        risk = find_risk(base, arguments)
        if risk is not None:
            found.not_analysed.append(risk)
        found.commands.append(command)


def _add_shell(found: ShellScript, command: SimpleCommand, arguments: list[Word], depth: int) -> None:
    """Add the commands in TEXT for `sh -c TEXT`; `sh FILE` is a command like any other."""
    rest = list(arguments)
    while rest and rest[0].known:
        word = rest.pop(0).text
        if _SHELL_FLAGS.fullmatch(word):
            continue
        if _SHELL_OPTION.fullmatch(word) and rest and rest[0].text in _SHELL_OPTIONS:
            rest.pop(0)
        elif _SHELL_TEXT.fullmatch(word) and rest and rest[0].known:
            _add_script(found, parse_shell(rest[0].text), depth + 1)
            return
        elif word.startswith(("-", "+")):
            break
        else:
            found.commands.append(command)
            return
    found.not_analysed.append("the shell runs something that is not on its line")


def _add_prefixed(
    found: ShellScript, command: SimpleCommand, prefix: _Prefix, arguments: list[Word], depth: int
) -> None:
    base = program_name(command.words[0])
    if prefix.always_ask:
        found.not_analysed.append(f"the user is always asked about `{base}`")
    if base == "command" and arguments and arguments[0].text in {"-v", "-V"}:
        found.commands.append(command)
        return
    rest, unclear = _skip_flags(arguments, prefix, assignments=base == "env")
    skipped, inner = rest[: prefix.words], rest[prefix.words :]
    if unclear or not all(word.known for word in skipped):
        found.not_analysed.append(f"it is not clear what `{base}` runs")
    if inner:
        _add_command(found, SimpleCommand(tuple(inner)), depth + 1)
    else:
        found.commands.append(command)


def _skip_flags(
    arguments: list[Word], prefix: _Prefix, *, assignments: bool = False
) -> tuple[list[Word], bool]:
    """The words after the flags, and whether any flag is unclear."""
    rest, unclear = list(arguments), False
    while rest and (rest[0].text.startswith("-") or (assignments and "=" in rest[0].text)):
        word = rest.pop(0)
        taken = [word]
        if word.text in prefix.valued and rest:
            taken.append(rest.pop(0))
        name, equals, _ = word.text.partition("=")
        understood = (
            word.text in prefix.flags
            or word.text[:2] in prefix.valued
            or (assignments and bool(equals) and HARMLESS_VARIABLES.fullmatch(name) is not None)
        )
        unclear = unclear or not understood or not all(part.known for part in taken)
    return rest, unclear


def _add_xargs(found: ShellScript, arguments: list[Word], depth: int) -> None:
    """Add the command that xargs runs, with unknown words at its end."""
    rest, unclear = _skip_flags(arguments, _XARGS)
    if unclear:
        found.not_analysed.append("it is not clear what `xargs` runs")
    inner = (*rest, UNKNOWN_WORDS) if rest else (Word("echo"), UNKNOWN_WORDS)
    _add_command(found, SimpleCommand(inner), depth + 1)


def _add_find(found: ShellScript, arguments: list[Word], depth: int) -> None:
    index = 0
    while index < len(arguments):
        index += 1
        if arguments[index - 1].text not in _FIND_RUNS:
            continue
        start = index
        while index < len(arguments) and arguments[index].text not in {";", "+"}:
            index += 1
        inner = tuple(UNKNOWN if "{}" in word.text else word for word in arguments[start:index])
        if inner:
            _add_command(found, SimpleCommand(inner), depth + 1)
