"""Syntax colours for the lines of a diff, with Pygments.

A hunk is only a part of its file, so the colours are a guess. Pygments is imported at the first use, so that
the panel starts sooner.
"""

import time
from collections.abc import Callable, Iterator

from chorus.panel.widgets.patch import Patch

# A pattern can be very slow on odd text, so blocks are small and the processor time is limited. The elapsed
# time is not limited: on a busy machine all colours come, only later.
MAX_BLOCK_CHARACTERS = 16_000
MAX_CODE_LINE_CHARACTERS = 400
MAX_PROCESSOR_SECONDS = 1.0

# Where a piece of syntax starts and ends in the shown text, and its style.
Spans = list[tuple[int, int, str]]

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


def find_spans(patch: Patch, text_of: Callable[[int], str]) -> dict[int, Spans]:
    """Return the styles of each line that has any. This may take a second: run it in a thread."""
    from pygments.lexers import (  # type: ignore[import-untyped]  # noqa: PLC0415  slow to import
        find_lexer_class_for_filename,
    )

    spans: dict[int, Spans] = {}
    limit = time.thread_time() + MAX_PROCESSOR_SECONDS
    for path, block in _blocks(patch, text_of):
        lexer_class = find_lexer_class_for_filename(path.rpartition("/")[2])
        if not block or lexer_class is None or time.thread_time() > limit:
            continue
        lexer = lexer_class(stripnl=False, ensurenl=True)
        texts = [text_of(index) for index in block]
        tokens = lexer.get_tokens_unprocessed("".join(text + "\n" for text in texts))
        _add_spans(tokens, [len(text) for text in texts], block, spans)
    return spans


def _blocks(patch: Patch, text_of: Callable[[int], str]) -> Iterator[tuple[str, list[int]]]:
    """Yield blocks of each side of each hunk: the path of the file, and the indexes of the lines."""
    path, old, new = "", list[int](), list[int]()
    for index, line in enumerate(patch.lines):
        match line.kind:
            case "file" | "hunk":
                yield from _split_blocks(text_of, path, old, new)
                old, new = [], []
                path = line.text if line.kind == "file" else path
            case "removed":
                old.append(index)
            case "added":
                new.append(index)
            case "context":
                old.append(index)
                new.append(index)
    yield from _split_blocks(text_of, path, old, new)


def _split_blocks(
    text_of: Callable[[int], str], path: str, old: list[int], new: list[int]
) -> Iterator[tuple[str, list[int]]]:
    for side in (old, new):
        block: list[int] = []
        room = MAX_BLOCK_CHARACTERS
        for index in side:
            length = len(text_of(index))
            room -= length
            if length > MAX_CODE_LINE_CHARACTERS or room < 0:
                yield path, block
                block, room = [], MAX_BLOCK_CHARACTERS
            if length <= MAX_CODE_LINE_CHARACTERS:
                block.append(index)
        yield path, block


def _add_spans(
    tokens: Iterator[tuple[int, object, str]], lengths: list[int], block: list[int], spans: dict[int, Spans]
) -> None:
    """Add the styles of a block's lines to `spans`.

    `tokens`: the tokens of the joined lines, each of which ends with a newline. `lengths`: the lengths of the
    lines. `block`: the indexes of the lines.
    """
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
