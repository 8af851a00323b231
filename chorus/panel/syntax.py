"""Syntax colours for the lines of a diff.

Receives the shown texts of a diff with the path they belong to; gives spans with style names. Works
on what a hunk shows of each side, so colours are a good guess and never more. Imports its library
when it is first used: the panel is on screen before that. Text that is long or costly stays plain.
"""

import time
from collections.abc import Iterator

from chorus.panel.diff_lines import DiffDocument, Spans

# A pattern that goes wild on odd text holds up everything: blocks are small, and time is short.
LARGEST_BLOCK = 16_000
LONGEST_LINE = 400
MOST_SECONDS = 1.0

STYLES = (
    ("Comment", "syntax-comment"),
    ("Literal.String", "syntax-string"),
    ("Literal.Number", "syntax-number"),
    ("Keyword", "syntax-keyword"),
    ("Operator.Word", "syntax-keyword"),
    ("Name.Function", "syntax-name"),
    ("Name.Class", "syntax-name"),
    ("Name.Tag", "syntax-name"),
    ("Name.Decorator", "syntax-builtin"),
    ("Name.Builtin", "syntax-builtin"),
    ("Name.Attribute", "syntax-builtin"),
)


def read_spans(document: DiffDocument) -> dict[int, Spans]:
    """Styles for every line that has any. Meant for a thread: it may take a second."""
    from pygments.lexers import (  # type: ignore[import-untyped]  # noqa: PLC0415  slow to import
        find_lexer_class_for_filename,
    )

    spans: dict[int, Spans] = {}
    deadline = time.monotonic() + MOST_SECONDS
    for path, block in _blocks(document):
        lexer_class = find_lexer_class_for_filename(path.rpartition("/")[2])
        if not block or lexer_class is None or time.monotonic() > deadline:
            continue
        lexer = lexer_class(stripnl=False, ensurenl=True)
        text = "".join(document.text(index) + "\n" for index in block)
        _spread(
            lexer.get_tokens_unprocessed(text), [len(document.text(index)) for index in block], block, spans
        )
    return spans


def _blocks(document: DiffDocument) -> Iterator[tuple[str, list[int]]]:
    """Runs of lines that belong together: what one hunk shows of one side."""
    path, old, new = "", list[int](), list[int]()
    for index, line in enumerate(document.patch.lines):
        match line.kind:
            case "file" | "hunk":
                yield from _worth_reading(document, path, old, new)
                old, new = [], []
                path = line.text if line.kind == "file" else path
            case "removed":
                old.append(index)
            case "added":
                new.append(index)
            case "context":
                old.append(index)
                new.append(index)
    yield from _worth_reading(document, path, old, new)


def _worth_reading(
    document: DiffDocument, path: str, old: list[int], new: list[int]
) -> Iterator[tuple[str, list[int]]]:
    for side in (old, new):
        block: list[int] = []
        room = LARGEST_BLOCK
        for index in side:
            length = len(document.text(index))
            room -= length
            if length > LONGEST_LINE or room < 0:
                yield path, block
                block, room = [], LARGEST_BLOCK
            if length <= LONGEST_LINE:
                block.append(index)
        yield path, block


def _spread(
    tokens: Iterator[tuple[int, object, str]], lengths: list[int], block: list[int], spans: dict[int, Spans]
) -> None:
    """Turn tokens over the joined text into spans of each line."""
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length + 1)
    fresh: dict[int, Spans] = {}
    at = 0
    for start, kind, text in tokens:
        style = _style_of(str(kind))
        position, end = start, start + len(text)
        while style and position < end and at < len(block):
            if position >= starts[at + 1]:
                at += 1
                continue
            stop = min(end, starts[at] + lengths[at])
            if stop > position:
                fresh.setdefault(block[at], []).append((position - starts[at], stop - starts[at], style))
            position = starts[at + 1]
    spans |= fresh


def _style_of(token: str) -> str:
    name = token.removeprefix("Token.")
    return next((style for prefix, style in STYLES if name.startswith(prefix)), "")
