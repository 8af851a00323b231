"""The text of a shell command as a tree, if the tree says all that the text does.

The grammar is tree-sitter's. It leaves out what it cannot place, reads on over some line ends, and knows
nothing of history: where it and the shell could differ, there is no tree.
"""

import re
import unicodedata

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from chorus.policy.words import Opaque

_LANGUAGE = Language(tree_sitter_bash.language())
# Longer than this nobody reads in a prompt.
_LONGEST = 10_000
_DEEPEST = 100

# Forms in which a newline may stand between two parts.
_SPAN_LINES = {
    "program", "list", "pipeline", "subshell", "compound_statement", "if_statement", "elif_clause",
    "else_clause", "while_statement", "do_group", "command_substitution", "process_substitution",
    "function_definition",
}  # fmt: skip
# `!` followed by a word is history to an interactive shell.
_HISTORY = re.compile(r"![\w!$*?#^\"'-]")


def parse_whole(text: str) -> Node:
    """The tree of the text. Raises Opaque where it cannot be trusted."""
    _check_text(text)
    text = _join_lines(text)
    root = Parser(_LANGUAGE).parse(text.encode("utf-8", "surrogateescape")).root_node
    if root.has_error:
        raise Opaque("the shell grammar does not fit it")
    _check_gaps(root)
    return root


def _check_text(text: str) -> None:
    if len(text) > _LONGEST:
        raise Opaque(f"it is longer than {_LONGEST} characters")
    for character in text:
        if character in " \n\t":
            continue
        if unicodedata.category(character)[0] in "CZ":
            raise Opaque(f"it holds the invisible character U+{ord(character):04X}")
    if _HISTORY.search(text):
        raise Opaque("a `!` may stand for an earlier command")


def _join_lines(text: str) -> str:
    """Undo backslash-newline as the shell does first of all; the grammar gets it wrong between lines.

    Where it may not be one (quotes, comments, here-documents, an escaped backslash), nothing is analysed.
    """
    if "\\\n" not in text:
        return text
    if re.search(r"['#]|<<|\\\\\n", text):
        raise Opaque("where its joined lines end is not clear")
    return text.replace("\\\n", "")


def _check_gaps(node: Node, depth: int = 0) -> None:
    """Nothing but blanks may lie between the parts the grammar names, and they may not nest for ever."""
    if depth > _DEEPEST:
        raise Opaque("it is nested too deeply")
    if node.type in {"string", "heredoc_body", "heredoc_redirect"} or node.child_count == 0:
        return
    text, start = node.text or b"", node.start_byte
    end = start
    for child in node.children:
        gap = text[end - start : child.start_byte - start]
        if gap.strip(_blanks(node, child)):
            raise Opaque(f"the grammar leaves out {gap.decode('utf-8', 'replace')!r}")
        _check_gaps(child, depth + 1)
        end = child.end_byte


def _blanks(node: Node, part: Node) -> bytes:
    """What may stand before this part. A newline ends a command, a test, an assignment; the grammar reads
    on over some."""
    if node.type == "concatenation":
        return b""
    if node.type in _SPAN_LINES or (node.type == "for_statement" and part.type == "do_group"):
        return b" \t\n"
    return b" \t"
