"""Find what a shell text may run, write and read, as far as tree-sitter's grammar shows it.

The result is used to deny and to explain, never to allow: the grammar accepts text that a shell would not.
"""

import re
from dataclasses import dataclass, field

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from chorus.policy.literal import MAX_LENGTH, NotLiteral, parse_literal

# A word's text, or None if it is not known before the shell runs it.
Word = str | None
Command = tuple[Word, ...]

_LANGUAGE = Language(tree_sitter_bash.language())
_COMMANDS = {"command", "declaration_command", "unset_command"}
_NOT_ARGUMENTS = {"variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect"}
_READS = {"<", "<&", "<>"}
_NOT_PLAIN = re.compile(r"[^ -~\t\n]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([\"\\$`\n])")


@dataclass(slots=True)
class ShellScript:
    commands: list[Command] = field(default_factory=list)
    writes: list[Word] = field(default_factory=list)
    reads: list[Word] = field(default_factory=list)


def parse_shell(text: str) -> ShellScript:
    """Parse a shell text. The result is empty if the text is too long and is not literal.

    Too long: more than MAX_LENGTH characters. Literal: `parse_literal` accepts the text.
    """
    script = ShellScript()
    try:
        script.commands += parse_literal(text).commands
    except NotLiteral:
        if len(text) <= MAX_LENGTH:
            _walk(text, script)
    return script


def _walk(text: str, script: ShellScript) -> None:
    """Collect commands and files from the syntax tree of the text, with continued lines joined.

    The grammar's scanner crashes on some characters outside ASCII. So it gets a copy of the text in which
    each such character is an `x`. The words are read from the text itself, at the same positions.
    """
    joined = text.replace("\\\n", "")
    nodes = [Parser(_LANGUAGE).parse(_NOT_PLAIN.sub("x", joined).encode("ascii")).root_node]
    words = _WordReader(joined)
    while nodes:
        node = nodes.pop()
        if node.type in _COMMANDS:
            command = tuple(words.read(child) for child in node.children if child.type not in _NOT_ARGUMENTS)
            script.commands.append(command)
        elif node.type == "file_redirect":
            operator = next((child.type for child in node.children if not child.is_named), ">")
            files = [child for child in node.children if child.is_named and child.type != "file_descriptor"]
            (script.reads if operator in _READS else script.writes).extend(map(words.read, files))
        nodes += reversed(node.children)


class _WordReader:
    def __init__(self, text: str) -> None:
        self._text = text

    def read(self, node: Node) -> Word:
        source = self._text[node.start_byte : node.end_byte]
        match node.type:
            case "command_name" | "concatenation" if node.child_count:
                parts = [self.read(child) for child in node.children]
                return None if None in parts else "".join(part for part in parts if part is not None)
            case "raw_string":
                return source[1:-1]
            case "string":
                literal = all(child.type in {'"', "string_content"} for child in node.children)
                return _ESCAPED_IN_QUOTES.sub(r"\1", source[1:-1]) if literal else None
            case kind if node.child_count == 0 and kind != "ansi_c_string":
                return _ESCAPED.sub(r"\1", source)
            case _:
                return None
