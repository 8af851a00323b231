"""The small grammar in which a command can be allowed: literal words, read alike by bash, dash and zsh.

The grammar has plain words, quoted words that a shell does not expand, `&&`, `||`, `;`, `|`, line ends, and
three redirections that write no file.
"""

import re
import unicodedata
from dataclasses import dataclass

# Nobody reads a longer command in a prompt.
MAX_LENGTH = 10_000

# These have a meaning even between double quotes (`!` in an interactive shell).
_NEVER_LITERAL = re.compile(r"[`$\\!]")
_BLANK = re.compile(r"[ \t]+")
# They must be words of their own: `a2>&1` and `12>&1` mean something else.
_REDIRECTION = re.compile(r"(?<=[ \t])(?:2>&1|[12]?>[ \t]*/dev/null)(?=[ \t\n;|&]|\Z)")
_SEPARATOR = re.compile(r"&&|\|\||[;|\n]")
_PLAIN = re.compile(r"[A-Za-z0-9_./:,+@%=-]+")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NAME = re.compile(r"(?=.*[A-Za-z])(?:\.{0,2}/)?[A-Za-z0-9_][A-Za-z0-9_.+-]*(?:/[A-Za-z0-9_.+-]+)*")
# The first words that some shell reads as its own syntax, or as a prefix that changes how it reads the rest.
_RESERVED = frozenset(
    """
    if then elif else fi for foreach end in do done while until case esac select repeat function time coproc
    always nocorrect noglob command builtin exec declare typeset local export readonly float integer
    """.split()  # noqa: SIM905  a list of bare words is easier to read than one of quoted ones
)
# Forms of these words that no shell reads in another way.
_HARMLESS_RESERVED = {("command", "-v")}
_CONTINUING = {"&&", "||", "|"}


class NotLiteral(Exception):
    """The text is not in the grammar; the message says why."""


@dataclass(frozen=True, slots=True)
class LiteralScript:
    """The commands in a script. Each command is the words that its program gets."""

    commands: tuple[tuple[str, ...], ...]
    # The separator after each command; the last command may have none. Further line ends are left out.
    separators: tuple[str, ...]


def parse_literal(text: str) -> LiteralScript:
    """Parse a script of literal commands. Raises NotLiteral."""
    _check_characters(text)
    reader = _Reader(text)
    reader.read()
    return LiteralScript(tuple(reader.commands), tuple(reader.separators))


def _check_characters(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise NotLiteral(f"it is longer than {MAX_LENGTH} characters")
    found = _NEVER_LITERAL.search(text)
    if found:
        raise NotLiteral(f"it contains `{found[0]}`: only literal words can be allowed")
    for character in text:
        if character not in " \n\t" and unicodedata.category(character)[0] in "CZ":
            raise NotLiteral(f"it contains the invisible character U+{ord(character):04X}")


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._words: list[str] = []
        self.commands: list[tuple[str, ...]] = []
        self.separators: list[str] = []

    def read(self) -> None:
        while self._text[self._at :]:
            if self._take(_BLANK) or (self._words and self._take(_REDIRECTION)):
                continue
            separator = self._take(_SEPARATOR)
            if separator is None:
                self._words.append(self._take_word())
            else:
                self._end_command(separator)
        if self._words:
            self._add_command()
        elif not self.commands:
            raise NotLiteral("it contains no command")
        elif self.separators[-1] in _CONTINUING:
            raise NotLiteral(f"no command follows the last `{self.separators[-1]}`")

    def _take(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self._text, self._at)
        if match is None:
            return None
        self._at = match.end()
        return match[0]

    def _end_command(self, separator: str) -> None:
        if self._words:
            self._add_command()
            self.separators.append(separator)
        elif separator != "\n":
            raise NotLiteral(f"no command precedes a `{separator}`")

    def _add_command(self) -> None:
        self.commands.append(tuple(self._words))
        name = self._words[0]
        if name in _RESERVED and tuple(self._words[:2]) not in _HARMLESS_RESERVED:
            raise NotLiteral(
                f"it contains `{name}`, a keyword or builtin of the shell: only programs can be allowed"
            )
        self._words.clear()

    def _take_word(self) -> str:
        """Read a word of plain and quoted pieces, but not two quoted pieces in a row.

        zsh may read the two quotes between them as one quote character.
        """
        start, word, quoted = self._at, "", False
        while True:
            plain = self._take(_PLAIN)
            if plain is not None:
                _check_equals(plain, is_first=word == "" and not quoted)
                word, quoted = word + plain, False
                continue
            piece = None if quoted else self._take(_QUOTED)
            if piece is None:
                break
            word, quoted = word + piece[1:-1], True
        self._check_end_of_word(self._text[start : self._at])
        return word

    def _check_end_of_word(self, source: str) -> None:
        rest = self._text[self._at :]
        if rest and _BLANK.match(rest) is None and _SEPARATOR.match(rest) is None:
            raise NotLiteral(_describe_sign(rest[0]))
        if not self._words and _NAME.fullmatch(source) is None:
            raise NotLiteral(f"the name of a command is not a plain word: {source!r}")


def _check_equals(plain: str, *, is_first: bool) -> None:
    """Refuse `=` except in a flag such as `--a=b`.

    `a=b` may set a variable, and zsh may replace `=b` with the path of the program b.
    """
    if "=" in plain and not (is_first and plain.startswith("-") and plain.count("=") == 1):
        raise NotLiteral(
            "it contains `=` outside quotes and not in a flag: only literal words can be allowed"
        )


def _describe_sign(sign: str) -> str:
    if sign in "<>":
        return (
            f"it contains the redirection `{sign}`: "
            "only `2>&1`, `>/dev/null` and `2>/dev/null` can be allowed"
        )
    if sign in "'\"":
        return f"it contains a `{sign}` that is not closed, or two quoted texts side by side"
    return f"it contains `{sign}` outside quotes: only literal words can be allowed"
