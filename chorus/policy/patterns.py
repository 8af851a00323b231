"""Patterns of policy rules for commands and resolved paths.

A rule that allows must match with certainty. A rule that restricts counts as soon as it could match: with
other spelling, flags in another order, a word not known yet.
"""

import re
import shlex
import unicodedata
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from chorus.policy.shell_syntax import Word


class PatternMatch(Enum):
    NO = 0
    POSSIBLE = 1
    CERTAIN = 2


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """The words of a command. `*` in a word matches any text; as the last word, any words or none."""

    words: tuple[str, ...]
    open_end: bool
    text: str = ""  # as it was written

    def allows(self, command: tuple[Word, ...]) -> bool:
        """Whether every word matches as written; only words behind the last one may be unknown."""
        return self._matches([word.text if word.known else None for word in command])

    def restricts(self, command: tuple[Word, ...]) -> PatternMatch:
        """CERTAIN if the words match, whatever path the program has; POSSIBLE if another form could."""
        name, *rest = command
        if not _wildcard_regex(self.words[0].casefold()).fullmatch(_program_name(name.text)):
            return PatternMatch.NO
        if self._matches([self.words[0], *(word.text if word.known else None for word in rest)]):
            return PatternMatch.CERTAIN
        if any(not word.known for word in rest) or self._matches_loosely([word.text for word in rest]):
            return PatternMatch.POSSIBLE
        return PatternMatch.NO

    def _matches(self, words: list[str | None]) -> bool:
        if len(words) < len(self.words) or (len(words) > len(self.words) and not self.open_end):
            return False
        pairs = zip(self.words, words, strict=False)
        return all(word is not None and _wildcard_regex(pattern).fullmatch(word) for pattern, word in pairs)

    def _matches_loosely(self, arguments: list[str]) -> bool:
        """Whether all flags of the pattern are there, in any form, and its other words in its order."""
        wanted = self.words[1:]
        flags = _flags(arguments)
        if not _flags(list(wanted)) <= flags:
            return False
        others = iter(word.casefold() for word in arguments)
        plain = [word for word in wanted if not word.startswith("-")]
        return all(
            any(_wildcard_regex(word.casefold()).fullmatch(other) for other in others) for word in plain
        )


def parse_command_pattern(text: str) -> CommandPattern:
    """Split a pattern as a shell does. Raises ValueError with the reason."""
    words = shlex.split(text)
    if not words:
        raise ValueError("a command pattern needs at least a name")
    open_end = len(words) > 1 and words[-1] == "*"
    return CommandPattern(tuple(words[:-1] if open_end else words), open_end, text)


def path_matches(pattern: str, path: str, root: str, *, strict: bool) -> bool:
    """Whether a resolved path matches the pattern; relative patterns are below `root`.

    `**` matches any directories, `*` anything within one name. A rule that restricts ignores case: on some
    file systems `.ENV` is `.env`.
    """
    whole = pattern if pattern.startswith("/") else f"{root.rstrip('/')}/{pattern}"
    if strict:
        return _path_regex(_normalized(whole)).fullmatch(_normalized(path)) is not None
    return _path_regex(whole).fullmatch(path) is not None


def pattern_is_below(pattern: str, path: str, root: str) -> bool:
    """Whether the path is a directory that contains what the pattern names."""
    whole = pattern if pattern.startswith("/") else f"{root.rstrip('/')}/{pattern}"
    fixed = re.split(r"[*?]", _normalized(whole), maxsplit=1)[0]
    return fixed.startswith(_normalized(path).rstrip("/") + "/")


@lru_cache(maxsize=512)
def _wildcard_regex(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


@lru_cache(maxsize=512)
def _path_regex(pattern: str) -> re.Pattern[str]:
    pattern = pattern + "**" if pattern.endswith("/") else pattern
    parts = re.split(r"(/\*\*/|\*\*|\*|\?)", pattern)
    meaning = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts), re.DOTALL)


def _normalized(path: str) -> str:
    """Normalize a name, so that names which some file system treats as equal become equal."""
    return unicodedata.normalize("NFKC", path).casefold()


def _program_name(name: str) -> str:
    return name.rsplit("/", 1)[-1].casefold()


def _flags(words: list[str]) -> set[str]:
    """Long flags without their values; short ones letter by letter."""
    found: set[str] = set()
    for word in words:
        if word.startswith("--"):
            found.add(word.partition("=")[0])
        elif word.startswith("-"):
            found |= {f"-{letter}" for letter in word[1:]}
    return found
