"""Commands that run other commands: `env`, `xargs`, `find -exec`, `sh -c` and the like.

A rule that denies `rm` also denies `env rm`. The commands found here are used to restrict a call, never to
allow it.
"""

import re
from itertools import pairwise

from chorus.policy.shell import Command, ShellScript, Word, parse_shell

_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "rbash", "mksh"}
# A flag with `c`, alone or among others, or a long flag of fish: the shell runs a text.
_SHELL_TEXT = re.compile(r"[-+][A-Za-z]*c[A-Za-z]*|--(?:init-)?command")
# Its value is in the next word: `bash -co pipefail TEXT`.
_SHELL_OPTION = re.compile(r"[-+][A-Za-z]*[oO]")
# Program -> its flags that take a value, in the same word or in the next, and how many words are before the
# command. A flag whose value may be left out takes it only in the same word, and is not listed.
_PREFIXES: dict[str, tuple[frozenset[str], int]] = {
    name: (frozenset(flags.split()), skipped)
    for name, flags, skipped in (
        ("env", "-C --chdir -P -S --split-string -a --argv0 -u --unset", 0),
        ("time", "-f --format -o --output", 0),
        ("nice", "-n --adjustment", 0),
        ("ionice", "-c --class -n --classdata", 0),
        ("stdbuf", "-e --error -i --input -o --output", 0),
        ("timeout", "-k --kill-after -s --signal", 1),
        (
            "sudo",
            "-C --close-from -D --chdir -R --chroot -T --command-timeout -U --other-user -g --group -h --host"
            " -p --prompt -r --role -t --type -u --user",
            0,
        ),
        ("doas", "-C -a -u", 0),
        (
            "xargs",
            "-E -I -J -L -P --max-procs -R -S -a --arg-file -d --delimiter -n --max-args --process-slot-var"
            " -s --max-chars",
            0,
        ),
        ("watch", "-n --interval -q --equexit -s --shotsdir", 0),
        ("exec", "-a", 0),
        ("chroot", "-G -g -u --groups --userspec", 1),
        ("flock", "-E --conflict-exit-code -w --timeout --wait", 1),
        *((name, "", 0) for name in ("nohup", "setsid", "command", "builtin", "noglob", "nocorrect")),
        *((name, "", 0) for name in ("busybox", "toybox")),
    )
}
_SPLIT_TEXT = ("-S", "--split-string")
_FIND_RUNS = {"-exec", "-execdir", "-ok", "-okdir"}
# Nobody nests commands more deeply than this.
_MAX_DEPTH = 6


def parse_unwrapped(text: str) -> ShellScript:
    """Parse a shell text, with the commands inside wrappers."""
    found = ShellScript()
    _add_script(found, parse_shell(text), 0)
    return found


def unwrap(command: Command) -> ShellScript:
    """Return the command and the commands inside it."""
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
        _add_wrapped(found, base, arguments, depth)
    elif base == "find":
        _add_find(found, arguments, depth)


def _add_wrapped(found: ShellScript, base: str, arguments: Command, depth: int) -> None:
    valued, skipped = _PREFIXES[base]
    inner = _skip_flags(arguments, valued, splits=base == "env")[skipped:]
    _add_command(found, inner, depth + 1)
    if base == "watch":  # joins its words to a text for a shell
        script = parse_shell(" ".join('"$x"' if word is None else word for word in inner))
        if script.commands != [inner]:
            _add_script(found, script, depth + 1)
    elif base == "flock" and inner[:1] in (("-c",), ("--command",)):
        _add_shell(found, inner, depth)


def _add_shell(found: ShellScript, arguments: Command, depth: int) -> None:
    """Add the commands in TEXT for `sh -c TEXT`, also with flags in between."""
    words: list[Word] = [""]
    for word in arguments:
        words += word.split("=", 1) if word is not None and word.startswith("--") else [word]
    is_text = False
    for flag, word in pairwise(words):
        if word is None or not (is_text or _SHELL_TEXT.fullmatch(flag or "")):
            is_text = False
            continue
        _add_script(found, parse_shell(word), depth + 1)
        # The text is still to come if this word was a flag, or the value of one.
        is_text = word.startswith(("-", "+")) or _SHELL_OPTION.fullmatch(flag or "") is not None


def _skip_flags(arguments: Command, valued: frozenset[str], *, splits: bool) -> Command:
    """Return the words after the flags and the assignments. With `splits`, split the TEXT of `-S TEXT`."""
    rest = list(arguments)
    while rest and rest[0] is not None and (rest[0].startswith("-") or "=" in rest[0]):
        flag, value = _read_flag(rest.pop(0) or "", valued)
        if flag is not None and value is None and rest:
            value = rest.pop(0)
        if splits and flag in _SPLIT_TEXT and value is not None:
            rest[:0] = _split_words(value)
    return tuple(rest)


def _read_flag(word: str, valued: frozenset[str]) -> tuple[str | None, str | None]:
    """Return the flag in this word that takes a value, and the value.

    The flag is None if the word has no such flag. The value is None if the word does not contain it.
    """
    if word.startswith("--"):
        name, separator, value = word.partition("=")
        flag = next((one for one in sorted(valued) if len(name) > 2 and one.startswith(name)), None)
        return flag, value if separator else None
    for end, letter in enumerate(word[1:], 2) if word.startswith("-") else ():
        if f"-{letter}" in valued:
            return f"-{letter}", word[end:] or None
    return None, None


def _split_words(text: str) -> Command:
    """Split a text as `env -S` does: `\\_` stands for a blank."""
    commands = parse_shell("env " + text.replace("\\_", " ")).commands
    return commands[0][1:] if commands else ()


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
    """Return the position at which the command of `-exec` ends.

    It ends at a `;`, at a `+` right after `{}`, or else at the end of the arguments.
    """
    for index in range(start, len(arguments)):
        if arguments[index] == ";" or (arguments[index] == "+" and arguments[index - 1] == "{}"):
            return index
    return len(arguments)
