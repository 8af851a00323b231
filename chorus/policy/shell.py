"""A shell command taken apart into everything it would run, write and read.

Receives the text of a command. Gives every simple command in it, wherever it stands (lists, pipelines,
groups, loops, functions, substitutions, here-documents), every file it writes or reads by redirection,
and every part that cannot be analysed. Only forms named here are let through. Pure: nothing is run or
looked up.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from tree_sitter import Node

from chorus.policy.grammar import parse_whole
from chorus.policy.words import Opaque, Word, check_expansion, read_word

# Forms whose parts are statements, with the words and signs that may stand between them.
_CONTAINERS = {
    "program", "list", "pipeline", "subshell", "compound_statement", "negated_command", "if_statement",
    "elif_clause", "else_clause", "while_statement", "do_group", "redirected_statement",
    "command_substitution", "process_substitution", "function_definition", "variable_assignments",
}  # fmt: skip
_BETWEEN = {
    ";", "&", "&&", "||", "|", "|&", "(", ")", "{", "}", "$(", "`", "<(", ">(", "!", "if", "then", "elif",
    "else", "fi", "while", "until", "do", "done", "function", "\n",
}  # fmt: skip
# Not `>&` with a file: bash expands its word twice, so that even quotes do not hold.
_WRITES = {">", ">>", ">|", "&>", "&>>"}
_READS = {"<"}
_TEST_PARTS = {
    "unary_expression", "binary_expression", "test_operator", "extglob_pattern", "word", "number", "string",
    "raw_string", "concatenation", "simple_expansion", "expansion", "command_substitution",
    "=", "==", "!=", "!", "[", "]", "[[", "]]",
}  # fmt: skip
# Tests that look at files and strings. Others do arithmetic, which can run commands.
_TESTS = {"-e", "-f", "-d", "-s", "-r", "-w", "-x", "-h", "-L", "-n", "-z"}
# Variables that change no more than how a program prints. Any other could change what it does.
HARMLESS_VARIABLES = re.compile(
    r"CI|NO_COLOR|FORCE_COLOR|CLICOLOR|LANG|LC_[A-Z]+|TZ|COLUMNS|NODE_ENV|RUST_BACKTRACE"
)
# zsh ties some lower-case names to PATH and its like, so only plain short names may run through a loop.
_LOOP_VARIABLE = re.compile(
    r"[a-z]|[a-z]{1,8}_[a-z]{1,8}|(?:file|item|name|line|dir|test|mod|pkg|word|num)s?"
)
_DOCUMENT_PARTS = {"heredoc_start", "heredoc_body", "heredoc_end", "pipeline", "list"}
_DELIMITER = re.compile(r"(['\"]?)([A-Za-z_]+)\1")
_EXPANDED = re.compile(r"[`$]")


@dataclass(frozen=True, slots=True)
class Simple:
    """One command: its name and arguments."""

    words: tuple[Word, ...]


@dataclass(slots=True)
class Script:
    commands: list[Simple] = field(default_factory=list)
    writes: list[Word] = field(default_factory=list)
    reads: list[Word] = field(default_factory=list)
    opaque: list[str] = field(default_factory=list)


def parse_shell(text: str) -> Script:
    script = Script()
    try:
        root = parse_whole(text)
    except Opaque as problem:
        script.opaque.append(str(problem))
        return script
    _Walk(script).visit(root)
    return script


class _Walk:
    """Goes through the tree once and writes down what it finds."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def visit(self, node: Node) -> None:
        """One statement. What is wrong with it is noted; the rest is analysed all the same."""
        try:
            self._statement(node)
        except Opaque as problem:
            self._script.opaque.append(str(problem))

    def _statement(self, node: Node) -> None:
        match node.type:
            case kind if kind in _CONTAINERS:
                self._parts(node)
            case "command":
                self._command(node)
            case "file_redirect":
                self._redirect(node)
            case "heredoc_redirect" | "herestring_redirect":
                self._here(node)
            case "for_statement":
                self._loop(node)
            case "variable_assignment":
                self._nested(node)
                _check_assignment(node)
            case "test_command":
                self._nested(node)
                _check_test(node)
            case "comment":
                pass
            case kind:
                self._nested(node)
                raise Opaque(f"{kind.replace('_', ' ')} is not analysed")

    def _parts(self, node: Node) -> None:
        for child in node.children:
            if child.is_named:
                if child.type != "word" or node.type != "function_definition":
                    self.visit(child)
            elif child.type not in _BETWEEN:
                raise Opaque(f"`{child.type}` is not analysed")

    def _command(self, node: Node) -> None:
        nodes: list[Node] = []
        for child in node.children:
            if child.type in {"variable_assignment", "file_redirect", "herestring_redirect"}:
                self.visit(child)
            else:
                self._nested(child)
                nodes.append(child)
        if any(one.end_byte == next_one.start_byte for one, next_one in pairwise(nodes)):
            raise Opaque(f"where words end in {_text(node)!r} is not clear")
        self._script.commands.append(Simple(tuple(map(read_word, nodes))))

    def _redirect(self, node: Node) -> None:
        """One sign and one file. The grammar takes a command's later words for files: not analysed."""
        named = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        sign = next(child.type for child in node.children if not child.is_named)
        for child in named:
            self._nested(child)
        if sign == ">&" and len(named) == 1 and named[0].type == "number":
            return
        if len(named) != 1 or sign not in _WRITES | _READS:
            raise Opaque(f"the redirection {_text(node)!r} is not analysed")
        (self._script.writes if sign in _WRITES else self._script.reads).append(read_word(named[0]))

    def _here(self, node: Node) -> None:
        """Text given as input: only what it makes run counts, and what follows it on its line."""
        for child in node.children:
            if child.type in {"pipeline", "list"}:
                self.visit(child)
            elif child.type not in {"heredoc_start", "heredoc_end"}:
                self._nested(child)
        if node.type == "heredoc_redirect":
            _check_document(node)

    def _loop(self, node: Node) -> None:
        name = next(child for child in node.children if child.type == "variable_name")
        for child in node.children:
            if child.type == "do_group":
                self.visit(child)
            elif child.is_named and child is not name:
                self._nested(child)
        if node.children[0].type != "for" or _LOOP_VARIABLE.fullmatch(_text(name)) is None:
            raise Opaque(f"what else the variable {_text(name)!r} changes is not known")

    def _nested(self, node: Node) -> None:
        """Commands inside a word, at any depth."""
        if node.type in {"command_substitution", "process_substitution"}:
            self.visit(node)
            return
        if node.type == "expansion":
            check_expansion(node)
        if node.type == "arithmetic_expansion":
            raise Opaque("arithmetic can run commands and is not analysed")
        for child in node.children:
            self._nested(child)


def _check_document(node: Node) -> None:
    """A here-document with a plain delimiter that ends where the shell would end it."""
    parts = {child.type: _text(child) for child in node.children if child.is_named}
    delimiter = parts.get("heredoc_start", "")
    match = _DELIMITER.fullmatch(delimiter)
    body, end = parts.get("heredoc_body", ""), parts.get("heredoc_end", "")
    # The shell ends it at the first line that is the delimiter.
    early = match is not None and match[2] in (line.lstrip("\t") for line in body.split("\n"))
    if match is None or end != match[2] or early or set(parts) - _DOCUMENT_PARTS:
        raise Opaque(f"the here-document {delimiter!r} is not analysed")
    if not match[1] and _EXPANDED.search(body):
        raise Opaque(f"the here-document {delimiter!r} is filled in before it is used")


def _check_assignment(node: Node) -> None:
    name, sign, *value = node.children
    if HARMLESS_VARIABLES.fullmatch(_text(name)) is None or sign.type != "=":
        raise Opaque(f"what else the variable {_text(name)!r} changes is not known")
    for part in value:
        read_word(part)


def _check_test(node: Node) -> None:
    if node.type not in _TEST_PARTS | {"test_command"}:
        raise Opaque(f"the test {_text(node)!r} is not analysed")
    if node.type == "test_operator" and _text(node) not in _TESTS:
        raise Opaque(f"the test {_text(node)!r} is not analysed")
    for child in (
        node.children if node.type in {"test_command", "unary_expression", "binary_expression"} else []
    ):
        _check_test(child)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")
