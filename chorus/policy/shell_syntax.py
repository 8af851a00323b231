"""The syntax tree and the words of a shell command, as far as both can be trusted.

The grammar is tree-sitter's. It skips what it cannot place, reads on over some line ends, and does not know
history expansion: where it and the shell could differ, the command is not analysed. A word is its literal
text, or unknown where the shell would insert something: what a variable, a glob or a substitution becomes
is never guessed.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import reduce
from operator import add

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_LANGUAGE = Language(tree_sitter_bash.language())
# Nobody reads a longer command in a prompt.
_MAX_LENGTH = 10_000
_MAX_DEPTH = 100

# Forms that allow a newline between two parts.
_SPAN_LINES = {
    "program", "list", "pipeline", "subshell", "compound_statement", "if_statement", "elif_clause",
    "else_clause", "while_statement", "do_group", "command_substitution", "process_substitution",
    "function_definition",
}  # fmt: skip
# An interactive shell expands `!` and a word from its history.
_HISTORY = re.compile(r"![\w!$*?#^\"'-]")


def parse_tree(text: str) -> Node:
    """The syntax tree of the text. Raises CannotAnalyse if it cannot be trusted."""
    _check_text(text)
    text = _join_lines(text)
    root = Parser(_LANGUAGE).parse(text.encode("utf-8", "surrogateescape")).root_node
    if root.has_error:
        raise CannotAnalyse("it does not fit the shell grammar")
    _check_structure(root)
    return root


def _check_text(text: str) -> None:
    if len(text) > _MAX_LENGTH:
        raise CannotAnalyse(f"it is longer than {_MAX_LENGTH} characters")
    for character in text:
        if character in " \n\t":
            continue
        if unicodedata.category(character)[0] in "CZ":
            raise CannotAnalyse(f"it contains the invisible character U+{ord(character):04X}")
    if _HISTORY.search(text):
        raise CannotAnalyse("a `!` may insert an earlier command")


def _join_lines(text: str) -> str:
    """Join lines that end in a backslash, as the shell does first; the grammar gets some of them wrong.

    Near quotes, comments, here-documents and escaped backslashes it may not join them: not analysed.
    """
    if "\\\n" not in text:
        return text
    if re.search(r"['#]|<<|\\\\\n", text):
        raise CannotAnalyse("it is not clear which of its lines are joined")
    return text.replace("\\\n", "")


def _check_structure(node: Node, depth: int = 0) -> None:
    """Check that only blanks are between the parts the grammar names, and that nesting is limited."""
    if depth > _MAX_DEPTH:
        raise CannotAnalyse("it is nested too deeply")
    if node.type in {"string", "heredoc_body", "heredoc_redirect"} or node.child_count == 0:
        return
    text, start = node.text or b"", node.start_byte
    end = start
    for child in node.children:
        gap = text[end - start : child.start_byte - start]
        if gap.strip(_blanks(node, child)):
            raise CannotAnalyse(f"the grammar skips {gap.decode('utf-8', 'replace')!r}")
        _check_structure(child, depth + 1)
        end = child.end_byte


def _blanks(node: Node, part: Node) -> bytes:
    """The blanks allowed before this part. A newline ends a command, a test or an assignment, but the grammar
    reads on over some."""
    if node.type == "concatenation":
        return b""
    if node.type in _SPAN_LINES or (node.type == "for_statement" and part.type == "do_group"):
        return b" \t\n"
    return b" \t"


# Characters without a special meaning outside quotes.
_PLAIN = re.compile(r"(?![=~])[\w./:,+@%=-]*")
# The same with those the shell expands to file names or several words (`=` at the start: zsh).
_EXPANDED = re.compile(r"[\w./:,+@%=*?\[\]{}~^!#-]*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([\"\\$`])")
# Begins an expansion inside quotes that the grammar did not see.
_HIDDEN_EXPANSION = re.compile(r"[`$]")
_EXPANSIONS = {"simple_expansion", "expansion", "command_substitution"}
# Only inserts text. Other forms assign, evaluate, or contain commands.
_EXPANSION = re.compile(r"\$\{[A-Za-z_]\w*(?:(?::?[-+]|##?|%%?)[\w./:,@*-]*)?\}")


class CannotAnalyse(Exception):
    """A part of a command cannot be analysed; the message says which."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command; `text` is only valid if it is `known`. One that `splits` may become several."""

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
            return _unquoted(node_text(node))
        case "command_name":
            return read_word(node.children[0])
        case "raw_string":
            return Word(node_text(node)[1:-1])
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
            raise CannotAnalyse(f"{node.type.replace('_', ' ')} is not analysed")


def check_expansion(node: Node) -> None:
    """Accept expansions that only insert text: `${x}`, `${x:-y}`, `${x%.y}` and the like."""
    if _EXPANSION.fullmatch(node_text(node)) is None:
        raise CannotAnalyse(f"the expansion {node_text(node)!r} is not analysed")


def node_text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")


def _unquoted(text: str) -> Word:
    bare = _ESCAPED.sub("", text)
    if _PLAIN.fullmatch(bare):
        return Word(_ESCAPED.sub(r"\1", text))
    if _EXPANDED.fullmatch(bare):
        return UNKNOWN_WORDS
    raise CannotAnalyse(f"the word {text!r} is not analysed")


def _quoted(node: Node) -> Word:
    whole, start = node.text or b"", node.start_byte
    kinds = {child.type for child in node.children} - {'"', "string_content"}
    literal, end = b"", 1
    for child in node.children:
        if child.type in _EXPANSIONS:
            literal += whole[end : child.start_byte - start]
            end = child.end_byte - start
    text = (literal + whole[end:-1]).decode("utf-8", "surrogateescape")
    if kinds - _EXPANSIONS or _HIDDEN_EXPANSION.search(_ESCAPED_IN_QUOTES.sub("", text)):
        raise CannotAnalyse(f"the string {node_text(node)!r} is not analysed")
    if kinds:
        # "$@" is as many words as there are arguments.
        return UNKNOWN_WORDS if b"@" in whole or b"*" in whole else UNKNOWN
    return Word(_ESCAPED_IN_QUOTES.sub(r"\1", text))


def _joined(node: Node) -> Word:
    if node.text == b"{}":
        return Word("{}")
    return reduce(add, map(read_word, node.children))
