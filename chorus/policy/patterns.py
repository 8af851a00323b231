"""Patterns of rules: which commands and which paths they are about.

Receives a pattern and a command's words, or a resolved path. An allow rule must fit for sure. A rule that
makes stricter counts as soon as it could fit: other spelling, other order of flags, a word not known yet.
Never looks at a disk: paths come resolved.
"""

import re
import shlex
import unicodedata
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from chorus.policy.words import Word


class Fit(Enum):
    NO = 0
    PERHAPS = 1
    SURE = 2


@dataclass(frozen=True, slots=True)
class CommandPattern:
    """Words; `*` inside one stands for any text, `*` as the last one for any words or none."""

    words: tuple[str, ...]
    open_end: bool
    text: str = ""  # as it was written

    def allows(self, command: tuple[Word, ...]) -> bool:
        """Every word fits one by one, as it is written; nothing unknown but behind the last one."""
        return self._fits([word.text if word.known else None for word in command])

    def catches(self, command: tuple[Word, ...]) -> Fit:
        """SURE when the words fit, under whatever path; PERHAPS when they could in another form."""
        name, *rest = command
        if not _like(self.words[0].casefold()).fullmatch(_base(name.text)):
            return Fit.NO
        if self._fits([self.words[0], *(word.text if word.known else None for word in rest)]):
            return Fit.SURE
        if any(not word.known for word in rest) or self._fits_loosely([word.text for word in rest]):
            return Fit.PERHAPS
        return Fit.NO

    def _fits(self, words: list[str | None]) -> bool:
        if len(words) < len(self.words) or (len(words) > len(self.words) and not self.open_end):
            return False
        pairs = zip(self.words, words, strict=False)
        return all(word is not None and _like(pattern).fullmatch(word) for pattern, word in pairs)

    def _fits_loosely(self, arguments: list[str]) -> bool:
        """All flags of the pattern are there, in any form, and its other words come in its order."""
        wanted = self.words[1:]
        flags = _flags(arguments)
        if not _flags(list(wanted)) <= flags:
            return False
        others = iter(word.casefold() for word in arguments)
        plain = [word for word in wanted if not word.startswith("-")]
        return all(any(_like(word.casefold()).fullmatch(other) for other in others) for word in plain)


def parse_command_pattern(text: str) -> CommandPattern:
    """Split a pattern as a shell would. Raises ValueError with the reason."""
    words = shlex.split(text)
    if not words:
        raise ValueError("a command pattern needs at least a name")
    open_end = len(words) > 1 and words[-1] == "*"
    return CommandPattern(tuple(words[:-1] if open_end else words), open_end, text)


def path_fits(pattern: str, path: str, root: str, *, strict: bool) -> bool:
    """Whether a resolved path is one the pattern names; relative patterns are about `root`.

    `**` stands for any directories, `*` for anything within one name. A rule that makes stricter takes
    no account of case: on some disks `.ENV` is `.env`.
    """
    whole = pattern if pattern.startswith("/") else f"{root.rstrip('/')}/{pattern}"
    if strict:
        return _path_regex(_folded(whole)).fullmatch(_folded(path)) is not None
    return _path_regex(whole).fullmatch(path) is not None


def path_may_reach(pattern: str, path: str, root: str) -> bool:
    """Whether the path is a directory that holds what the pattern names."""
    whole = pattern if pattern.startswith("/") else f"{root.rstrip('/')}/{pattern}"
    fixed = re.split(r"[*?]", _folded(whole), maxsplit=1)[0]
    return fixed.startswith(_folded(path).rstrip("/") + "/")


@lru_cache(maxsize=512)
def _like(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


@lru_cache(maxsize=512)
def _path_regex(pattern: str) -> re.Pattern[str]:
    pattern = pattern + "**" if pattern.endswith("/") else pattern
    parts = re.split(r"(/\*\*/|\*\*|\*|\?)", pattern)
    meaning = {"/**/": "/(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part, re.escape(part)) for part in parts), re.DOTALL)


def _folded(path: str) -> str:
    """Names that some disk takes for one and the same."""
    return unicodedata.normalize("NFKC", path).casefold()


def _base(name: str) -> str:
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
