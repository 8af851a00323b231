"""Random shell texts, and a place where real shells run those the policy allows."""

import os
import posixpath
import random
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chorus.policy.command_verdict import judge_shell
from chorus.policy.context import PolicyContext
from chorus.policy.literal import NotLiteral, parse_literal
from chorus.policy.rules import parse_policy

# Broad rules, as users write them. `ok` and `./tool` are trusted with any arguments.
ALLOWED = [
    "git log *", "git status *", "git diff *", "ls *", "cat *", "grep *", "touch *", "cd *", "echo *",
    "printf *", "test *", "npm run *", "make *", "find *", "sort *", "uniq *", "pwd", "true", "head *",
    "command -v *", "which *", "type *", "sed *", "wc *", "mkdir *",
]  # fmt: skip
TRUSTED = ["ok *", "./tool *", "src/tool *"]
POLICY = parse_policy(
    {
        "rule": [
            *({"decision": "allow", "command": command} for command in ALLOWED),
            *({"decision": "allow", "command": command, "arguments": "any"} for command in TRUSTED),
            {"decision": "deny", "command": "rm -rf *"},
        ]
    }
)
# Programs that only record what they are called with. No other is to be found.
RECORDED = [
    "ok", "git", "ls", "cat", "grep", "touch", "npm", "make", "find", "sort", "uniq", "head", "sed",
    "wc", "mkdir", "evil", "rm", "sh", "env", "xargs", "tee", "curl", "time", "sleep", "a", "b", "x",
    "G", "then", "do", "if", "in",
]  # fmt: skip
ROOT = "/r"

NAMES = [
    "ok", "ok", "ok", "git log", "git status", "git diff", "ls", "cat", "grep", "touch", "echo",
    "printf", "test -f", "npm run", "make", "find", "sort", "uniq", "pwd", "true", "head", "./tool",
    "src/tool", "command -v", "which", "type", "cd src &&", "cd ./src/deep &&", "sed -n", "wc",
    "mkdir -p", "rm -rf", "evil", "time", "exec", "-", "noglob", "repeat 2", "x=1", "[", "[[", "!",
    "=ok", "~", "a=b ok", "env", "builtin", "eval", ".", "print", "cd -", "cd", "pushd src", "if",
    "then", "{", "(", "function",
]  # fmt: skip
WORDS = [
    "a", "b.txt", "-x", "-n", "--y=z", "--stat", "-la", "a.b", "src/a", "./a", "c:d", "evil", "ok",
    "1", "2", "a,b", "a@b", "%1", "+x", "..", "-", "--", "a:b:c", "x+y", "50%", "HEAD", "in", "do",
    "then", "if", "fi", "G", "1,5p", "-5", "@", ":", "_", "+", "%", "1..3", "a%%b", "-o", "-exec",
    "--output=f", "-ok",
]  # fmt: skip
QUOTED = [
    "'a b'", '"a b"', "'evil; evil'", '"evil && evil"', "'|evil'", "'>f'", '">f"', "'#'", "'*'",
    '"{a,b}"', "'\"'", '"\'"', "'('", "'a\nb'", '"a\nevil"', "''", '""', "'~'", "'=ok'", "'é'", '"日本"',
    "'a'b", 'a"b"c', "--f='x y'", '-m"x;evil"', "'[a]'", "'x=1'", "'\t'", '"&"', "'<f'", "'^'",
    "'evil'",
]  # fmt: skip
HOSTILE = [
    "$x", "`evil`", "$(evil)", '"$(evil)"', "\\;", "a\\ b", "*", "?", "[a]", "{a,b}", "~", "=ok",
    "a=b", "--a==ok", "--a=~", "$'a'", "!!", "!x", "<(evil)", ">(evil)", "#c", "a#b", "a(b)", "^a",
    "a^b", "a~b", "*(e:evil:)", "''''", "'a''b'", '"`evil`"', '"$x"', '"\\`"', "'\\'", "'$x'",
    "'`evil`'", "$", '"$"', "é", "a\u00a0b", "a\rb", "a\x0bb", "\x01", "\u2028", ">f", "2>f", "<a",
    "&", "&>f", ">&f", "<<E",
]  # fmt: skip
REDIRECTIONS = [
    "2>&1", ">/dev/null", "> /dev/null", "2>/dev/null", "1>/dev/null", ">/dev/null 2>&1", ">f", ">&2",
    "2>&1>f", "3>/dev/null", "12>&1", ">/dev/nullx", "2>&12", ">|f", ">>f", "<f", "2>& 1",
    "&>/dev/null",
]  # fmt: skip
BETWEEN = [
    " && ", " || ", "; ", "\n", " | ", ";", "|", "&&", "||", ";\n", " &&\n", " |\n ", "\n\n", "\t|\t",
]  # fmt: skip
HOSTILE_BETWEEN = [
    " & ", "&", " |& ", ";;", " ; ; ", "\n;", "| |", "&&&", "|||", ";&", ";|", "\r\n", "\\\n", " #x\n",
]  # fmt: skip
SIGNS = [
    " ", "\n", ";", "&", "|", "(", ")", "{", "}", '"', "'", "`", "$", "$(", "\\", "#", " #", "<", ">",
    "<<", "\t", "!", "=", "*", "~", "[", "]", "\\\n", "$'", " evil ", ";evil", "\nevil", "evil",
    "$(evil)", "`evil`", "&&", "||", ";;", "<(", "${", "((", "))", "@", "^", ",", "%", "-", "+", ":",
    "'\"'", "\"'\"", '\\"', "\\'", "\\\\", ">&", "&>", "|&", "<<<", " if ", " fi", "do ", "done",
    " in ", "x=", "CI=1 ", "''", '""', "2>", "1", " 2>&1", ">/dev/null", "\r", "\u00a0", "é", "=ok",
    "-", ". ", "/",
]  # fmt: skip


def scripts(chance: random.Random, count: int) -> Iterator[str]:
    """Texts in the small grammar, near it, and far from it."""
    for _ in range(count):
        # How hostile this one is: most have one odd part or none, so that a good share can be allowed.
        odd = chance.choice((0.0, 0.03, 0.1, 0.4))
        text = _command(chance, odd)
        for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
            text += chance.choice(HOSTILE_BETWEEN if chance.random() < odd else BETWEEN) + _command(
                chance, odd
            )
        yield _mutate(chance, text) if chance.random() < 0.5 else text


def _command(chance: random.Random, odd: float) -> str:
    words = [chance.choice(NAMES if chance.random() < odd else NAMES[:31])]
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        kind = chance.random()
        words.append(chance.choice(HOSTILE if kind < odd else QUOTED if kind < odd + 0.4 else WORDS))
    if chance.random() < 0.15:
        words.append(chance.choice(REDIRECTIONS if chance.random() < odd + 0.1 else REDIRECTIONS[:6]))
    return chance.choice((" ", " ", "  ", "\t")).join(words)


def _mutate(chance: random.Random, text: str) -> str:
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(4):
            case 0:
                text = text[:at] + text[at + chance.randrange(1, 3) :]
            case 1:
                other = chance.randrange(len(text) + 1)
                text = text[:at] + text[min(at, other) : max(at, other)] + text[at:]
            case _:
                text = text[:at] + chance.choice(SIGNS) + text[at:]
    return text


def is_allowed(text: str) -> bool:
    context = PolicyContext(
        POLICY, ROOT, lambda named: posixpath.normpath(posixpath.join(ROOT, named)), lambda _: ROOT
    )
    return all(finding.decision == "allow" for finding in judge_shell(context, text))


# Shells, as they are and with options a user may have set that change how a text is read.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile"], "shopt -s extglob globstar nullglob autocd; set -H"),
    "dash": (["dash"], ":"),
    "zsh": (["zsh", "-f"], "setopt extendedglob rcquotes magicequalsubst kshglob nullglob autocd banghist"),
}
PROGRAM = """#!/bin/sh
printf '%s\\001' "$CHORUS_START$CHORUS_TEXT" "$PWD" "$0" "$@" >> "$CHORUS_LOG"
"""


@dataclass(slots=True)
class Counts:
    """How much was run, by shell: texts and programs they started."""

    texts: dict[str, int] = field(default_factory=dict)
    programs: dict[str, int] = field(default_factory=dict)


class Violation(AssertionError):
    """A shell did something that the policy did not read in the text."""


class Scratch:
    """A directory with recording programs and nothing else on PATH."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._bin, self._work, self._log = place / "bin", place / "work", place / "log"
        self.shells = [shell for shell in SHELLS if shutil.which(shell)]
        for folder in (self._bin, self._work / "src" / "deep", place / "home"):
            folder.mkdir(parents=True)
        for program in (
            *(self._bin / name for name in RECORDED),
            *(self._work / name for name in ("tool", "src/tool", "src/deep/tool", "evil", "src/evil")),
        ):
            program.write_text(PROGRAM, encoding="utf-8")
            program.chmod(0o755)
        for name in ("a", "b.txt", "-exec", "src/a"):
            (self._work / name).write_text("", encoding="utf-8")
        self._before = self._files()
        self._batches = 0

    def check(self, texts: list[str], counts: Counts) -> None:
        """Run the texts with every shell, every other batch with other options. Raises Violation."""
        self._batches += 1
        for shell in self.shells:
            options = SHELLS[shell][1] if self._batches % 2 else ":"
            started = self._run(shell, options, texts)
            if self._files() != self._before:
                self._blame(shell, options, texts)
            self._compare(shell, texts, started)
            counts.programs[shell] = counts.programs.get(shell, 0) + len(started)
            counts.texts[shell] = counts.texts.get(shell, 0) + len(texts)

    def _run(self, shell: str, options: str, texts: Iterable[str]) -> list[tuple[int, str, list[str]]]:
        """What each text started: its number, the directory, the words."""
        driver = self.place / "driver"
        lines = [options]
        for number, text in enumerate(texts):
            quoted = "'" + text.replace("'", "'\\''") + "'"
            lines.append(f"( CHORUS_TEXT={number}; eval {quoted} ) </dev/null >/dev/null 2>&1")
        driver.write_bytes("\n".join(lines).encode())
        self._log.write_bytes(b"")
        environment = {
            "PATH": str(self._bin), "HOME": str(self.place / "home"), "LC_ALL": "C.UTF-8", "x": "evil",
            "CHORUS_LOG": str(self._log), "CHORUS_START": "\2", "CHORUS_TEXT": "", "IFS": " \t\n;e",
        }  # fmt: skip
        subprocess.run(
            [shutil.which(shell) or shell, *SHELLS[shell][0][1:], str(driver)],
            env=environment,
            cwd=self._work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=600,
            check=False,
        )
        started = []
        for record in self._log.read_text(encoding="utf-8").split("\2")[1:]:
            text, directory, program, *arguments = record.split("\1")[:-1]
            name = program.removeprefix(f"{self._bin}/")
            started.append((int(text), os.path.relpath(directory, self._work), [name, *arguments]))
        return started

    def _compare(self, shell: str, texts: list[str], started: list[tuple[int, str, list[str]]]) -> None:
        ran: dict[int, list[tuple[str, list[str]]]] = {}
        for number, directory, words in started:
            ran.setdefault(number, []).append((directory, words))
        for number, text in enumerate(texts):
            directory, commands = _expected(text)
            for place, words in ran.get(number, []):
                if place != directory or words not in commands:
                    raise Violation(f"{shell} ran {words} in {place} for {text!r}")
            if commands[0][0] in RECORDED and (directory, commands[0]) not in ran.get(number, []):
                raise Violation(f"{shell} did not run {commands[0]} for {text!r}")

    def _blame(self, shell: str, options: str, texts: list[str]) -> None:
        """Find the text that changed a file."""
        for path in self._files() - self._before:
            (self._work / path).unlink()
        for text in texts:
            self._run(shell, options, [text])
            if self._files() != self._before:
                raise Violation(f"{shell} changed {self._files() ^ self._before} for {text!r}")
        raise Violation(f"{shell} changed files in a batch")

    def _files(self) -> set[str]:
        return {str(path.relative_to(self._work)) for path in self._work.rglob("*")}


def _expected(text: str) -> tuple[str, list[list[str]]]:
    """The directory and the commands, as the policy reads them."""
    try:
        commands = [list(command) for command in parse_literal(text).commands]
    except NotLiteral as problem:
        raise Violation(f"{text!r} was allowed, though it is not literal: {problem}") from problem
    if commands[0][0] == "cd":
        return os.path.normpath(commands[0][1]), commands
    return ".", commands
