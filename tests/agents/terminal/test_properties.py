"""Any objects, at any width, cut anywhere, among any noise: none false, none lost, none altered."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.interface import Document
from tests.agents.terminal.tmux_rows import capture, is_ambiguous

# Blanks, braces, quotes, backslashes and wide characters, where a seam or a quote matters.
ALPHABET = st.one_of(st.sampled_from('  {}[]":,\\n日本😀é'), st.characters(exclude_categories=["Cs"]))
# What a pane shows as printed; the rest tmux drops or joins, and no capture can bring it back.
SHOWN = st.one_of(
    st.sampled_from('  {}[]":,\\n日本😀é'),
    st.characters(max_codepoint=0x24F, exclude_categories=["Cc", "Cf", "Mn"]),
)


def objects(alphabet: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    text = st.text(alphabet, max_size=60)
    leaves = (
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63)
        | st.floats(allow_nan=False, allow_infinity=False)
        | text
    )
    values = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
        max_leaves=12,
    )
    return st.dictionaries(text, values, max_size=5)


def lines(alphabet: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    compact, spaced = (",", ":"), (", ", ": ")
    return st.builds(
        lambda value, separators: json.dumps(value, ensure_ascii=False, separators=separators).replace(
            "\x7f", "\\u007f"
        ),
        objects(alphabet),
        st.sampled_from([compact, spaced]),
    )


NOISE = st.sampled_from(
    [
        "dev@host:~/proj$ claude -p 'go'",
        "\x1b[31mError: {\"type\": not found\x1b[0m",
        "\x1b]0;title {\x07",
        "{",
        "}",
        "{ x }",
        "{'a': 1}",
        "[{",
        "  {\"a\": 1}",
        "Terminated",
        "",
        "日本 {",
    ]
)  # fmt: skip


def read(data: bytes, cuts: list[int], **how: int | bool) -> tuple[list[Document], dict[str, int]]:
    reassembler = Reassembler(**how)  # type: ignore[arg-type]  # options of any kind
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    documents = [d for a, b in pairwise(edges) for d in reassembler.feed(data[a:b])]
    documents += reassembler.close()
    return documents, dict(+reassembler.problems)


CUTS = st.lists(st.integers(0, 2**20), max_size=8)


@settings(max_examples=150, deadline=None)
@given(
    printed=st.lists(st.one_of(lines(ALPHABET), NOISE), max_size=8),
    cuts=CUTS,
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_on_lines(printed: list[str], cuts: list[int], end: str) -> None:
    data = "".join(line + end for line in printed).encode()
    documents, _ = read(data, cuts, unwrapped=True)
    assert [d.text.decode() for d in documents] == [line for line in printed if is_object(line)]
    assert all(d.exact and d.value == json.loads(d.text) for d in documents)


@settings(max_examples=150, deadline=None)
@given(printed=st.lists(st.one_of(lines(ALPHABET), NOISE), max_size=8), cuts=CUTS)
def test_on_lines_that_may_be_rows(printed: list[str], cuts: list[int]) -> None:
    documents, problems = read("".join(line + "\n" for line in printed).encode(), cuts)
    whole = [line for line in printed if is_object(line)]
    given_texts = [d.text.decode() for d in documents]
    assert is_part(given_texts, whole)
    assert len(whole) - len(given_texts) <= problems.get("ambiguous-wrap", 0) + problems.get(
        "unknown-width", 0
    )


@settings(max_examples=200, deadline=None)
@given(
    printed=st.lists(st.one_of(lines(SHOWN), NOISE), max_size=8),
    width=st.integers(20, 300),
    cuts=CUTS,
    keep_blanks=st.booleans(),
)
def test_in_rows(printed: list[str], width: int, cuts: list[int], keep_blanks: bool) -> None:
    shown = capture([without_escapes(line) for line in printed], width, keep_blanks=keep_blanks).encode()
    documents, problems = read(shown, cuts, width=width)
    whole = [line for line in printed if is_object(line)]
    given_texts = [d.text.decode() for d in documents]
    assert is_part(given_texts, whole)
    lost = len(whole) - len(given_texts)
    assert lost <= problems.get("ambiguous-wrap", 0) + problems.get("wrong-width", 0)
    unclear = any(is_ambiguous(line, width) for line in whole)
    assert lost == 0 or unclear or keep_blanks or problems


@settings(max_examples=100, deadline=None)
@given(
    cut=lines(SHOWN),
    at=st.integers(1, 2**20),
    following=st.lists(lines(SHOWN), min_size=1, max_size=3),
    width=st.integers(2, 120),
)
def test_behind_one_that_was_cut_off(cut: str, at: int, following: list[str], width: int) -> None:
    printed = [cut[: 1 + at % len(cut)], *following]
    whole = [line for line in printed if is_object(line)]
    on_lines, _ = read("".join(line + "\n" for line in printed).encode(), [], unwrapped=True)
    assert [d.text.decode() for d in on_lines] == whole
    in_rows, _ = read(capture(printed, width).encode(), [], width=width)
    assert is_part([d.text.decode() for d in in_rows], whole)
    unknown, _ = read(capture(printed, width).encode(), [])
    assert is_part([d.text.decode() for d in unknown], whole)


@settings(max_examples=150, deadline=None)
@given(
    data=st.binary(max_size=300),
    cuts=CUTS,
    width=st.sampled_from([None, 2, 20]),
    max_size=st.sampled_from([10, 10**6]),
)
def test_any_bytes_are_read_without_an_error(
    data: bytes, cuts: list[int], width: int | None, max_size: int
) -> None:
    reassembler = Reassembler(width=width, max_size=max_size)
    reassembler.feed(data)
    reassembler.close()
    reassembler = Reassembler(unwrapped=True, max_size=max_size)
    documents = reassembler.feed(data) + reassembler.close()
    assert all(d.text in data for d in documents)


def is_object(line: str) -> bool:
    try:
        return line.startswith("{") and isinstance(json.loads(line), dict)
    except ValueError:
        return False


def is_part(some: list[str], of: list[str]) -> bool:
    """Whether these are all in the other list, in its order."""
    rest = iter(of)
    return all(item in rest for item in some)


def without_escapes(line: str) -> str:
    return line.replace("\x1b[31m", "").replace("\x1b[0m", "").replace("\x1b]0;title {\x07", "")
