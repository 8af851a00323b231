"""The words of a shell command, as far as they are known before it runs.

Receives nodes of the syntax tree. Gives words: text where it is literal, and "unknown" where the shell
would put in something else. Never guesses what a variable, a glob or a substitution becomes.
"""

import re
from dataclasses import dataclass
from functools import reduce
from operator import add

from tree_sitter import Node

# Characters that stand for themselves outside quotes.
_PLAIN = re.compile(r"(?![=~])[\w./:,+@%=-]*")
# Together with what the shell replaces by names of files or by several words (`=` at the start: zsh).
_REPLACED = re.compile(r"[\w./:,+@%=*?\[\]{}~^!#-]*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([\"\\$`])")
# What would begin a command inside quotes, where the grammar sees none.
_COMMAND_SIGN = re.compile(r"[`$]")
_EXPANSIONS = {"simple_expansion", "expansion", "command_substitution"}
# Puts text in and does nothing else. Other forms assign, evaluate, or hold commands.
_EXPANSION = re.compile(r"\$\{[A-Za-z_]\w*(?:(?::?[-+]|##?|%%?)[\w./:,@*-]*)?\}")


class Opaque(Exception):
    """A part of a command that cannot be analysed; the text says which."""


@dataclass(frozen=True, slots=True)
class Word:
    """`text` is what the command gets, if `known`. An unknown word that `splits` may become several."""

    text: str
    known: bool = True
    splits: bool = False

    def __add__(self, other: "Word") -> "Word":
        return Word(self.text + other.text, self.known and other.known, self.splits or other.splits)


UNKNOWN = Word("", known=False)
UNKNOWN_WORDS = Word("", known=False, splits=True)


def read_word(node: Node) -> Word:
    match node.type:
        case "word" | "number" | "command_name" if node.child_count == 0:
            return _unquoted(_text(node))
        case "command_name":
            return read_word(node.children[0])
        case "raw_string":
            return Word(_text(node)[1:-1])
        case "ansi_c_string":
            return UNKNOWN
        case "string":
            return _quoted(node)
        case "concatenation":
            return _joined(node)
        case "simple_expansion" | "expansion" | "command_substitution":
            return UNKNOWN_WORDS
        case "process_substitution":
            return UNKNOWN
        case _:
            raise Opaque(f"{node.type.replace('_', ' ')} is not analysed")


def check_expansion(node: Node) -> None:
    """Let through what only puts text in: `${x}`, `${x:-y}`, `${x%.y}` and the like."""
    if _EXPANSION.fullmatch(_text(node)) is None:
        raise Opaque(f"the expansion {_text(node)!r} is not analysed")


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")


def _unquoted(text: str) -> Word:
    bare = _ESCAPED.sub("", text)
    if _PLAIN.fullmatch(bare):
        return Word(_ESCAPED.sub(r"\1", text))
    if _REPLACED.fullmatch(bare):
        return UNKNOWN_WORDS
    raise Opaque(f"the word {text!r} is not analysed")


def _quoted(node: Node) -> Word:
    whole, start = node.text or b"", node.start_byte
    kinds = {child.type for child in node.children} - {'"', "string_content"}
    literal, end = b"", 1
    for child in node.children:
        if child.type in _EXPANSIONS:
            literal += whole[end : child.start_byte - start]
            end = child.end_byte - start
    text = (literal + whole[end:-1]).decode("utf-8", "surrogateescape")
    if kinds - _EXPANSIONS or _COMMAND_SIGN.search(_ESCAPED_IN_QUOTES.sub("", text)):
        raise Opaque(f"the string {_text(node)!r} is not analysed")
    if kinds:
        # "$@" is as many words as there are arguments.
        return UNKNOWN_WORDS if b"@" in whole or b"*" in whole else UNKNOWN
    return Word(_ESCAPED_IN_QUOTES.sub(r"\1", text))


def _joined(node: Node) -> Word:
    if node.text == b"{}":
        return Word("{}")
    return reduce(add, map(read_word, node.children))
