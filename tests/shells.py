"""Random shell scripts with one forbidden word: most of them valid, many nearly so."""

import random
from collections.abc import Iterator

from chorus.policy.shell import ShellScript

SIGNS = [
    " ", "\n", ";", "&", "|", "(", ")", "{", "}", '"', "'", "`", "$", "$(", "\\", "#", " #", "<", ">",
    "<<", "E", "\t", "!", "=", "*", "~", "[", "]", "\\\n", "$'", " evil ", ";evil", "\nevil", "evil",
    "$(evil)", "`evil`", "&&", "||", ";;", "<(", "${", "((", "))", "@", "^", ",", "%", "-", "+", ":",
    "'\"'", "\"'\"", '\\"', "\\'", "\\\\", "<<E\n", "\nE\n", "<<-E", "\n\t", ">&", "&>", "|&", "<<<",
    "if", "fi", "do", "done", "in", "case", "esac", "x=", "CI=1 ",
]  # fmt: skip
WORDS = [
    "a",
    "-x",
    "--y=z",
    "a.b",
    "/t",
    "c:d",
    "evil",
    "ok",
    "$x",
    "${x}",
    "${x:-b}",
    "*",
    "{a,b}",
    "~",
    "$'a'",
]
ODD_WORDS = [
    "$'\\''",
    '$"a"',
    "\\;",
    "a\\ b",
    "a#b",
    "\\#",
    "#",
    "'evil; evil'",
    "'#'",
    "'\"'",
    '"$(evil"',
    '"#"',
    '"\\""',
]
BETWEEN = [" && ", " || ", "; ", "\n", " | ", " & ", ";", "|", " |& "]
DELIMITERS = ["E", "'E'", '"E"', "-E", " E", "\\E"]
BODIES = ["text", "evil", "$x", "$(evil)", "E x", "  E", "\tE", "a\nb", "`evil`", "\\", '"', "'"]


def scripts(chance: random.Random, count: int) -> Iterator[str]:
    for _ in range(count):
        script = _mutated(chance, _statement(chance, 0))
        if "evil" in script and len(script) < 300:
            yield script


def harmless(script: ShellScript) -> bool:
    """Return whether the analysis is complete and finds no program but `ok`."""
    names = [command.words[0] for command in script.commands]
    return not script.not_analysed and bool(names) and all(name.known and name.text == "ok" for name in names)


def _word(chance: random.Random, depth: int) -> str:
    kind = chance.randrange(10)
    if kind < 5 or depth > 3:
        return chance.choice(WORDS)
    if kind < 7:
        return chance.choice(ODD_WORDS)
    if kind == 7:
        return f"$({_statement(chance, depth + 1)})"
    if kind == 8:
        return f'"{chance.choice(["a", "$x", "evil;", "`ok`"])}$({_statement(chance, depth + 1)})"'
    return _word(chance, depth + 1) + _word(chance, depth + 1)


def _command(chance: random.Random, depth: int) -> str:
    words = " ".join(["ok", *(_word(chance, depth) for _ in range(chance.randrange(4)))])
    match chance.randrange(10):
        case 0:
            return words + chance.choice(
                [" >f", " 2>&1", " <f", " &>f", " 2>f >g", " >f a", " <<<a", ' <<< "a b"']
            )
        case 1:
            return chance.choice(["CI=1 ", ">f ", "2>&1 "]) + words
        case _:
            return words


def _statement(chance: random.Random, depth: int) -> str:
    def inner() -> str:
        return _statement(chance, depth + 1)

    kind = 0 if depth > 3 else chance.randrange(14)
    match kind:
        case 5:
            return inner() + chance.choice(BETWEEN) + inner()
        case 6:
            return f"({inner()})"
        case 7:
            return f"{{ {inner()}; }}"
        case 8:
            return f"if {inner()}; then {inner()}; else {inner()}; fi"
        case 9:
            return f"for i in a b; do {inner()}; done"
        case 10:
            rest = chance.choice(["", " | ok", " && ok", " >f", " # x"])
            tail = chance.choice(["", "ok", "evil"])
            return f"ok <<{chance.choice(DELIMITERS)}{rest}\n{chance.choice(BODIES)}\nE\n{tail}"
        case 11:
            return f"f() {{ {inner()}; }}"
        case 12:
            return f"{inner()} # {chance.choice(['c', 'evil', chr(39), chr(34), '$(evil)'])}\n{inner()}"
        case 13:
            return chance.choice(["[ -f a ] && ", "[[ a == b ]]; ", "! ", "[[ -n $x ]] && "]) + inner()
        case _:
            return _command(chance, depth)


def _mutated(chance: random.Random, script: str) -> str:
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(script) + 1)
        match chance.randrange(4):
            case 0:
                script = script[:at] + script[at + chance.randrange(1, 3) :]
            case 1:
                other = chance.randrange(len(script) + 1)
                script = script[:at] + script[min(at, other) : max(at, other)] + script[at:]
            case _:
                script = script[:at] + chance.choice(SIGNS) + script[at:]
    return script
