"""Parse a shell command into everything it would run, write and read.

Gives every simple command in it, also in lists, pipelines, groups, loops, functions, substitutions and
here-documents, every file it writes or reads by redirection, and every part that cannot be analysed. Only
forms named here are analysed. Pure: nothing is run or looked up.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from tree_sitter import Node

from chorus.policy.shell_syntax import CannotAnalyse, Word, check_expansion, node_text, parse_tree, read_word

# Forms whose parts are statements, and the tokens that may be between them.
_CONTAINERS = {
    "program", "list", "pipeline", "subshell", "compound_statement", "negated_command", "if_statement",
    "elif_clause", "else_clause", "while_statement", "do_group", "redirected_statement",
    "command_substitution", "process_substitution", "function_definition", "variable_assignments",
}  # fmt: skip
_SEPARATING_TOKENS = {
    ";", "&", "&&", "||", "|", "|&", "(", ")", "{", "}", "$(", "`", "<(", ">(", "!", "if", "then", "elif",
    "else", "fi", "while", "until", "do", "done", "function", "\n",
}  # fmt: skip
# Not `>&` with a file: bash expands its word twice, so that quotes do not protect it.
_WRITES = {">", ">>", ">|", "&>", "&>>"}
_READS = {"<"}
_TEST_PARTS = {
    "unary_expression", "binary_expression", "test_operator", "extglob_pattern", "word", "number", "string",
    "raw_string", "concatenation", "simple_expansion", "expansion", "command_substitution",
    "=", "==", "!=", "!", "[", "]", "[[", "]]",
}  # fmt: skip
# Tests of files and strings. Others do arithmetic, which can run commands.
_TESTS = {"-e", "-f", "-d", "-s", "-r", "-w", "-x", "-h", "-L", "-n", "-z"}
# Variables that only change how a program prints. Any other could change what it does.
HARMLESS_VARIABLES = re.compile(
    r"CI|NO_COLOR|FORCE_COLOR|CLICOLOR|LANG|LC_[A-Z]+|TZ|COLUMNS|NODE_ENV|RUST_BACKTRACE"
)
# zsh ties some lower-case names to PATH and the like, so only plain short names may be loop variables.
_LOOP_VARIABLE = re.compile(
    r"[a-z]|[a-z]{1,8}_[a-z]{1,8}|(?:file|item|name|line|dir|test|mod|pkg|word|num)s?"
)
_HERE_DOCUMENT_PARTS = {"heredoc_start", "heredoc_body", "heredoc_end", "pipeline", "list"}
_DELIMITER = re.compile(r"(['\"]?)([A-Za-z_]+)\1")
_EXPANDED = re.compile(r"[`$]")


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A command name and its arguments."""

    words: tuple[Word, ...]


@dataclass(slots=True)
class ShellScript:
    commands: list[SimpleCommand] = field(default_factory=list)
    writes: list[Word] = field(default_factory=list)
    reads: list[Word] = field(default_factory=list)
    not_analysed: list[str] = field(default_factory=list)


def parse_shell(text: str) -> ShellScript:
    script = ShellScript()
    try:
        root = parse_tree(text)
    except CannotAnalyse as problem:
        script.not_analysed.append(str(problem))
        return script
    _Walker(script).visit(root)
    return script


class _Walker:
    """Walk the tree once and collect what it contains."""

    def __init__(self, script: ShellScript) -> None:
        self._script = script

    def visit(self, node: Node) -> None:
        """Collect one statement. A part that cannot be analysed is noted, and the rest still analysed."""
        try:
            self._visit_statement(node)
        except CannotAnalyse as problem:
            self._script.not_analysed.append(str(problem))

    def _visit_statement(self, node: Node) -> None:
        match node.type:
            case kind if kind in _CONTAINERS:
                self._visit_parts(node)
            case "command":
                self._visit_command(node)
            case "file_redirect":
                self._visit_redirect(node)
            case "heredoc_redirect" | "herestring_redirect":
                self._visit_here_text(node)
            case "for_statement":
                self._visit_loop(node)
            case "variable_assignment":
                self._visit_nested(node)
                _check_assignment(node)
            case "test_command":
                self._visit_nested(node)
                _check_test(node)
            case "comment":
                pass
            case kind:
                self._visit_nested(node)
                raise CannotAnalyse(f"{kind.replace('_', ' ')} is not analysed")

    def _visit_parts(self, node: Node) -> None:
        for child in node.children:
            if child.is_named:
                if child.type != "word" or node.type != "function_definition":
                    self.visit(child)
            elif child.type not in _SEPARATING_TOKENS:
                raise CannotAnalyse(f"`{child.type}` is not analysed")

    def _visit_command(self, node: Node) -> None:
        nodes: list[Node] = []
        for child in node.children:
            if child.type in {"variable_assignment", "file_redirect", "herestring_redirect"}:
                self.visit(child)
            else:
                self._visit_nested(child)
                nodes.append(child)
        if any(one.end_byte == next_one.start_byte for one, next_one in pairwise(nodes)):
            raise CannotAnalyse(f"the word boundaries in {node_text(node)!r} are not clear")
        self._script.commands.append(SimpleCommand(tuple(map(read_word, nodes))))

    def _visit_redirect(self, node: Node) -> None:
        """Collect a redirection to one file. If the grammar takes later words for files: not analysed."""
        named = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
        operator = next(child.type for child in node.children if not child.is_named)
        for child in named:
            self._visit_nested(child)
        if operator == ">&" and len(named) == 1 and named[0].type == "number":
            return
        if len(named) != 1 or operator not in _WRITES | _READS:
            raise CannotAnalyse(f"the redirection {node_text(node)!r} is not analysed")
        (self._script.writes if operator in _WRITES else self._script.reads).append(read_word(named[0]))

    def _visit_here_text(self, node: Node) -> None:
        """Collect the commands in a text given as input, and those after it on its line."""
        for child in node.children:
            if child.type in {"pipeline", "list"}:
                self.visit(child)
            elif child.type not in {"heredoc_start", "heredoc_end"}:
                self._visit_nested(child)
        if node.type == "heredoc_redirect":
            _check_here_document(node)

    def _visit_loop(self, node: Node) -> None:
        name = next(child for child in node.children if child.type == "variable_name")
        for child in node.children:
            if child.type == "do_group":
                self.visit(child)
            elif child.is_named and child is not name:
                self._visit_nested(child)
        if node.children[0].type != "for" or _LOOP_VARIABLE.fullmatch(node_text(name)) is None:
            raise CannotAnalyse(f"setting the variable {node_text(name)!r} may change what runs")

    def _visit_nested(self, node: Node) -> None:
        """Collect the commands inside a word, at any depth."""
        if node.type in {"command_substitution", "process_substitution"}:
            self.visit(node)
            return
        if node.type == "expansion":
            check_expansion(node)
        if node.type == "arithmetic_expansion":
            raise CannotAnalyse("arithmetic can run commands and is not analysed")
        for child in node.children:
            self._visit_nested(child)


def _check_here_document(node: Node) -> None:
    """Accept a here-document with a plain delimiter that ends where the shell ends it."""
    parts = {child.type: node_text(child) for child in node.children if child.is_named}
    delimiter = parts.get("heredoc_start", "")
    match = _DELIMITER.fullmatch(delimiter)
    body, end = parts.get("heredoc_body", ""), parts.get("heredoc_end", "")
    # The shell ends it at the first line that equals the delimiter.
    early = match is not None and match[2] in (line.lstrip("\t") for line in body.split("\n"))
    if match is None or end != match[2] or early or set(parts) - _HERE_DOCUMENT_PARTS:
        raise CannotAnalyse(f"the here-document {delimiter!r} is not analysed")
    if not match[1] and _EXPANDED.search(body):
        raise CannotAnalyse(f"the here-document {delimiter!r} contains expansions")


def _check_assignment(node: Node) -> None:
    name, sign, *value = node.children
    if HARMLESS_VARIABLES.fullmatch(node_text(name)) is None or sign.type != "=":
        raise CannotAnalyse(f"setting the variable {node_text(name)!r} may change what runs")
    for part in value:
        read_word(part)


def _check_test(node: Node) -> None:
    if node.type not in _TEST_PARTS | {"test_command"}:
        raise CannotAnalyse(f"the test {node_text(node)!r} is not analysed")
    if node.type == "test_operator" and node_text(node) not in _TESTS:
        raise CannotAnalyse(f"the test {node_text(node)!r} is not analysed")
    for child in (
        node.children if node.type in {"test_command", "unary_expression", "binary_expression"} else []
    ):
        _check_test(child)
