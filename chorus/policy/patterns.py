"""Patterns of policy rules for commands and resolved paths.

A rule that allows must match with certainty. A rule that denies or asks counts as soon as it could match.
"""

import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from chorus.policy.shell import Command
from chorus.policy.wrappers import program_name


class PatternMatch(Enum):
    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


# Flags that many programs take in a short and a long form, and the same in upper case.
_SHORT_FORMS = {
    "--recursive": "-r",
    "--force": "-f",
    "--all": "-a",
    "--delete": "-d",
    "--interactive": "-i",
    "--quiet": "-q",
    "--verbose": "-v",
    "--output": "-o",
    "-R": "-r",
}
# Characters that HFS+ ignores in a name.
_IGNORED = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
_MIN_ABBREVIATION = len("--xx")
_PATH_WILDCARD = re.compile(r"[*?]")


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """The words of a command. `*` in a word matches any text.

    If the last of several words is `*`, it matches any number of words, also none.
    """

    words: tuple[str, ...]
    open_end: bool
    text: str = ""  # as it was written

    @property
    def is_exact(self) -> bool:
        return not self.open_end and not any("*" in word for word in self.words)

    def names(self, words: tuple[str, ...]) -> bool:
        """True if the pattern begins with exactly these words."""
        return self.words[: len(words)] == words

    def allows(self, command: tuple[str, ...]) -> bool:
        """True if each word matches the pattern's word at the same place.

        The command may have further words only if the pattern ends in the word `*`.
        """
        return self._matches(command)

    def restricts(self, command: Command) -> PatternMatch:
        """Return how surely the pattern matches, for a rule that denies or asks.

        The path of the program does not matter, nor the form and order of its flags.
        """
        name, *rest = command
        if name is None or not _wildcard_regex(self.words[0].casefold()).fullmatch(program_name(name)):
            return PatternMatch.NO
        known = [word for word in rest if word is not None]
        if self._matches((self.words[0], *rest)) or self._matches_reordered(known, len(rest)):
            return PatternMatch.CERTAIN
        if len(known) < len(rest) or self._matches_loosely(known):
            return PatternMatch.POSSIBLE
        return PatternMatch.NO

    def _matches(self, words: Command) -> bool:
        if len(words) < len(self.words) or (len(words) > len(self.words) and not self.open_end):
            return False
        pairs = zip(self.words, words, strict=False)
        return all(word is not None and _wildcard_regex(pattern).fullmatch(word) for pattern, word in pairs)

    def _matches_reordered(self, arguments: list[str], count: int) -> bool:
        """True if the arguments have the pattern's flags in any order, and its other words in the same order.

        Further arguments, and unknown ones, are accepted only if the pattern ends in `*`. `count`: the number
        of all arguments, unknown ones included.
        """
        wanted, given = _flags(self.words[1:]), _flags(arguments)
        if not all(any(_same_flag(one, other) for other in given) for one in wanted):
            return False
        plain, others = _operands(self.words[1:]), _operands(arguments)
        return CommandPattern(("", *plain), self.open_end)._matches(("", *others)) and (
            self.open_end or (len(given) == len(wanted) and count == len(arguments))
        )

    def _matches_loosely(self, arguments: list[str]) -> bool:
        """True if the arguments have similar flags in any order, and similar words in the pattern's order."""
        wanted, given = _flags(self.words[1:]), _flags(arguments)
        if not all(any(_similar_flag(one, other) for other in given) for one in wanted):
            return False
        others = iter(word.casefold() for word in arguments)
        return all(
            any(_similar_word(word.casefold(), other) for other in others)
            for word in _operands(self.words[1:])
        )


def parse_command_pattern(text: str) -> CommandPattern:
    """Split a pattern as a shell does. Raises ValueError with the reason."""
    words = shlex.split(text)
    if not words:
        raise ValueError("a command pattern needs at least a name")
    open_end = len(words) > 1 and words[-1] == "*"
    return CommandPattern(tuple(words[:-1] if open_end else words), open_end, text)


def path_matches(pattern: str, path: str, root: str, *, strict: bool) -> bool:
    """True if a resolved path matches the pattern. A relative pattern is below `root`.

    `**` matches any text, `*` any text within one name, and `?` one character. A pattern that ends in "/"
    matches everything below the directory. `strict`: names also match if some file system treats them as
    equal, such as `.ENV` and `.env`.
    """
    if strict:
        return _path_regex(_whole_pattern(pattern, root, strict=True)).fullmatch(normalize(path)) is not None
    return _path_regex(_whole_pattern(pattern, root, strict=False)).fullmatch(path) is not None


def pattern_is_below(pattern: str, path: str, root: str) -> bool:
    """True if the path is a directory above all files that the pattern names."""
    return normalize(path).rstrip("/") in _directories_above(_whole_pattern(pattern, root, strict=True))


def pattern_reaches_below(pattern: str, path: str, root: str) -> bool:
    """True if the pattern could name something below this directory."""
    whole = _whole_pattern(pattern, root, strict=True)
    whole += "**" if whole.endswith("/") else ""
    fixed, any_depth, _ = whole.partition("**")
    wanted, given = fixed.split("/")[: -1 if any_depth else None], normalize(path).rstrip("/").split("/")
    if not any_depth and len(given) >= len(wanted):
        return False
    return all(_path_regex(name).fullmatch(other) for name, other in zip(wanted, given, strict=False))


def resolve_pattern(pattern: str, root: str, resolve: Callable[[str], str | None]) -> str:
    """Return the absolute pattern; links before its first wildcard are followed if possible."""
    whole = _whole_pattern(pattern, root, strict=False)
    wildcard = _PATH_WILDCARD.search(whole)
    end = len(whole) if wildcard is None else whole.rindex("/", 0, wildcard.start())
    found = resolve(whole[:end] or "/")
    return whole if found is None else found.rstrip("/") + whole[len(whole[:end].rstrip("/")) :]


class GuardedPaths:
    """Checks a path against many patterns at once.

    A directory above a pattern's first wildcard is a match too.
    """

    def __init__(self, patterns: Iterable[str], root: str) -> None:
        wholes = [_whole_pattern(pattern, root, strict=True) for pattern in patterns]
        self._regex = re.compile(
            "|".join(_path_regex(whole).pattern for whole in wholes) or r"(?!)", re.DOTALL
        )
        self._above = frozenset[str]().union(*map(_directories_above, wholes))

    def may_concern(self, path: str) -> bool:
        plain = normalize(path)
        return plain.rstrip("/") in self._above or self._regex.fullmatch(plain) is not None


@lru_cache(maxsize=512)
def _directories_above(whole: str) -> frozenset[str]:
    """Return the directories above an absolute pattern, up to its first wildcard. "" is the root."""
    fixed = _PATH_WILDCARD.split(whole, maxsplit=1)[0]
    return frozenset(fixed[: slash.start()] for slash in re.finditer("/", fixed))


@lru_cache(maxsize=512)
def _whole_pattern(pattern: str, root: str, *, strict: bool) -> str:
    whole = pattern if pattern.startswith("/") else f"{root.rstrip('/')}/{pattern}"
    return normalize(whole) if strict else whole


@lru_cache(maxsize=512)
def _wildcard_regex(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


@lru_cache(maxsize=512)
def _path_regex(pattern: str) -> re.Pattern[str]:
    pattern = pattern + "**" if pattern.endswith("/") else pattern
    parts = re.split(r"(/\*\*/|\*\*|\*|\?)", pattern)
    meaning = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts), re.DOTALL)


def normalize(path: str) -> str:
    """Normalize a path: names that some file system treats as equal become equal."""
    shown = unicodedata.normalize("NFKC", path).translate(_IGNORED).casefold()
    return unicodedata.normalize("NFKC", shown)


def _flags(words: Iterable[str]) -> set[str]:
    """Return the flags: `--a=b` as `--a`, `-ab` as `-a` and `-b`, known long flags in short form."""
    found: set[str] = set()
    for word in words:
        if word.startswith("--"):
            found.add(word.partition("=")[0])
        elif word.startswith("-"):
            found |= {f"-{letter}" for letter in word[1:]}
    return {_SHORT_FORMS.get(flag, flag) for flag in found - {"--"}}


def _operands(words: Iterable[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _same_flag(wanted: str, given: str) -> bool:
    """True for the same flag in its short, long or abbreviated form."""
    if len(given) < _MIN_ABBREVIATION or not given.startswith("--"):
        return _wildcard_regex(wanted).fullmatch(given) is not None
    long_forms = [wanted, *(long for long, short in _SHORT_FORMS.items() if short == wanted)]
    return any(_wildcard_regex(form).fullmatch(given) or form.startswith(given) for form in long_forms)


def _similar_word(wanted: str, given: str) -> bool:
    """True if the words match, or `given` is an abbreviation: `npm pub` means `npm publish`."""
    return bool(_wildcard_regex(wanted).fullmatch(given) or (given and wanted.startswith(given)))


def _similar_flag(wanted: str, given: str) -> bool:
    """True if one flag begins with the other; a single letter is compared with the first letter only."""
    one, other = wanted.lstrip("-").casefold(), given.lstrip("-").casefold()
    if min(len(one), len(other)) == 1:
        return one[0] == other[0]
    return one.startswith(other) or other.startswith(one)
