"""Lists of harmless arguments.

With only these arguments, a program runs no other program, and writes only files that the arguments name.
Exceptions are builders, checkers, test runners, and git subcommands that write.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

# Such as `-20`, which means `-n 20`.
_NUMBER_FLAG = re.compile(r"-\d+")
# The value of a short flag in the same word. Anything else could be more flags: `-nO./x`.
_ATTACHED_VALUE = re.compile(r"\d+")


class Effect(Enum):
    READS = "reads"
    # The program writes the files that its arguments name, or runs code in them. So these files must be in
    # the work tree.
    INSIDE = "inside"


class _Form(Enum):
    UNLISTED = 0
    COMPLETE = 1
    NEEDS_VALUE = 2
    OPERAND = 3


@dataclass(frozen=True, slots=True)
class Arguments:
    """The harmless arguments of a program. Any other argument is harmful, even a shortened long flag."""

    flags: frozenset[str]
    valued: frozenset[str]  # flags with a value: `-n 5`, `-n5`, `--lines=5`
    value: re.Pattern[str]
    first_operand: re.Pattern[str]
    operand: re.Pattern[str]
    max_operands: int | None  # None: any number
    effect: Effect
    # With fewer operands than this, the program reads everything below the working directory. If
    # `below_flags` has flags, it does so only with one of them.
    below: int
    below_flags: frozenset[str]
    # The program reads the files in directories that are operands. If `below_flags` has flags, it does so
    # only with one of them.
    reads_directories: bool
    # The program follows links in these directories.
    follows_links: bool
    # Each letter after a single dash is a flag.
    bundles: bool
    # The rule must contain the whole name: `git add *`, not `git *`.
    must_be_named: bool

    def find_unlisted(self, words: tuple[str, ...]) -> str | None:
        operands = 0
        for word, form in self._forms(words):
            if form is _Form.UNLISTED:
                return word
            if form is _Form.OPERAND:
                pattern = self.operand if operands else self.first_operand
                operands += 1
                is_too_many = self.max_operands is not None and operands > self.max_operands
                if is_too_many or pattern.fullmatch(word) is None:
                    return word
        return None

    def reads_below(self, words: tuple[str, ...]) -> bool:
        """True if the command reads everything below the working directory, as if it named `.`."""
        return self._goes_below(words) and len(self.operands(words)) < self.below

    def reads_files_below(self, words: tuple[str, ...]) -> bool:
        """True if the command reads the content of all files in the directories that it names."""
        return self.reads_directories and self._goes_below(words)

    def _goes_below(self, words: tuple[str, ...]) -> bool:
        return not self.below_flags or bool(self.below_flags & _flags_in(words))

    def operands(self, words: tuple[str, ...]) -> list[str]:
        """Return the words that are neither flags nor values of flags."""
        return [word for word, form in self._forms(words) if form is _Form.OPERAND]

    def _forms(self, words: tuple[str, ...]) -> Iterator[tuple[str, _Form]]:
        needs_value = False
        for word in words:
            if word.startswith("-"):
                # A word that looks like a flag may be one, even where a value should follow.
                form = _Form.UNLISTED if needs_value else self._form_of(word)
            elif needs_value:
                form = _Form.COMPLETE if self.value.fullmatch(word) else _Form.UNLISTED
            else:
                form = _Form.OPERAND
            needs_value = form is _Form.NEEDS_VALUE
            yield word, form

    def _form_of(self, word: str) -> _Form:
        name, equals, value = word.partition("=")
        is_long = word.startswith("--")
        if word in self.flags:
            return _Form.COMPLETE
        if equals and name in self.valued and (is_long or not self.bundles):
            return _Form.COMPLETE if self.value.fullmatch(value) else _Form.UNLISTED
        if is_long or not self.bundles:
            return _Form.NEEDS_VALUE if word in self.valued and not is_long else _Form.UNLISTED
        if _NUMBER_FLAG.fullmatch(word) and "-n" in self.valued:
            return _Form.COMPLETE
        return self._form_of_bundle(word)

    def _form_of_bundle(self, word: str) -> _Form:
        for index, letter in enumerate(word[1:], 1):
            if f"-{letter}" in self.valued:
                rest = word[index + 1 :]
                if not rest:
                    return _Form.NEEDS_VALUE
                return _Form.COMPLETE if _ATTACHED_VALUE.fullmatch(rest) else _Form.UNLISTED
            if f"-{letter}" not in self.flags:
                return _Form.UNLISTED
        return _Form.COMPLETE if len(word) > 1 else _Form.UNLISTED


def _flags_in(words: tuple[str, ...]) -> set[str]:
    """Return the flags among the words: long ones as they are, and `-ab` as `-a` and `-b`."""
    found = {word for word in words if word.startswith("--")}
    return found.union(*({f"-{letter}" for letter in word[1:]} for word in words if re.match(r"-[^-]", word)))
