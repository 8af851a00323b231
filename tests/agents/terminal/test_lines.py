"""Objects on lines of their own, as pipes, control mode, `capture-pane -J` and transcripts have them."""

import json
import tracemalloc

import pytest

from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.interface import Document

EVENT = b'{"type":"user","message":{"content":[{"type":"text","text":"a {} b"}]},"uuid":"u1"}'
NEXT = b'{"type":"result","usage":{"input_tokens":1},"uuid":"u2"}'
PLAIN = b'{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool"}}'


def read(data: bytes | str, **how: bool) -> tuple[list[bytes], dict[str, int]]:
    reassembler = Reassembler(**how)
    documents = reassembler.feed(data) + reassembler.close()
    assert all(document.exact for document in documents)
    assert all(document.value == json.loads(document.text) for document in documents)
    return [document.text for document in documents], dict(+reassembler.problems)


both = pytest.mark.parametrize("how", [{"unwrapped": True}, {}], ids=["unwrapped", "unknown"])


def test_a_document_has_its_exact_text_and_its_value() -> None:
    [document] = Reassembler().feed(b'{"a": 1,"b":[]}\r\n')
    assert document == Document(text=b'{"a": 1,"b":[]}', value={"a": 1, "b": []})


def test_an_object_is_returned_with_the_chunk_that_ends_its_line() -> None:
    reassembler = Reassembler(unwrapped=True)
    assert reassembler.feed(EVENT[:20]) == []
    assert reassembler.feed(EVENT[20:]) == []
    assert [d.text for d in reassembler.feed(b"\n" + NEXT)] == [EVENT]
    assert [d.text for d in reassembler.close()] == [NEXT]


def test_a_closed_reassembler_starts_again() -> None:
    reassembler = Reassembler(unwrapped=True)
    reassembler.feed(EVENT[:20])
    reassembler.close()
    assert [d.text for d in reassembler.feed(NEXT + b"\n")] == [NEXT]
    assert reassembler.problems == {"cut-off": 1}


@both
@pytest.mark.parametrize(
    "noise",
    [
        b"\x1b]0;a title {\x07\r\n",
        b"\x1b]0;a title\x1b\\",
        b"\x1b[31mError parsing streaming input line: {\"type\":\"user\"}: no content\x1b[0m\r\n",
        b"\x1b[?1006l\x1b[?1003l\x1b(B\x0f\x1b[>4m\x1b[<u\x1b7\x1b[r\x1b8\x1b]0;\x07\x1b[?25h",
        b"dev@host:~/proj$ claude -p 'say \"{\"'\r\n",
        b"dev@host:~/proj$ ",
        "\x1b[01;32mdev\x1b[00m ❯ ".encode(),
        b"warning: {\r\n",
        b"if (x) { return {}; }\n",
        b"{\n",
        b"}\n",
        b"{ not json }\n",
        b"{'a': 1}\n",
        b'["a",{"b":1}]\n',
        b'  {"indented":1}\n',
        b'{"trailing":1},\n',
        b'{"code":1}.items()\n',
        b'{\n  "name": "x",\n  "list": [\n    {"a": 1}\n  ]\n}\n',
        b"\xff\xfe\x00\n",
        b"\n\n   \n",
        b"50%\r80%\r100%\r",
        b"\xef\xbb\xbf",
        b"\x1bP1000p\x1b\\",
    ],
)  # fmt: skip
def test_noise_is_skipped(noise: bytes, how: dict[str, bool]) -> None:
    texts, _ = read(noise + EVENT + b"\r\n" + noise + NEXT + b"\r\n" + noise, **how)
    assert texts == [EVENT, NEXT]


def test_noise_is_counted_by_rows() -> None:
    _, problems = read(b"one\ntwo {\n\n" + EVENT + b"\nthree\n", unwrapped=True)
    assert problems == {"noise": 3}


@both
def test_a_line_with_more_than_one_object_gives_the_whole_ones(how: dict[str, bool]) -> None:
    assert read(EVENT + NEXT + b"\n", **how)[0] == [EVENT, NEXT]
    assert read(EVENT + b" " + NEXT + b"\n", **how)[0] == [EVENT, NEXT]
    assert read(EVENT + b"dev@host:~$ " + NEXT + b"\n", **how)[0] == [EVENT, NEXT]
    assert read(EVENT + b"dev@host:~$ exit\n", **how) == ([EVENT], {"noise": 1})
    assert read(EVENT + b"\x1b[2K\x1b[A\n", **how)[0] == [EVENT]


@both
def test_control_characters_other_than_titles_and_colours_end_an_object(how: dict[str, bool]) -> None:
    assert read(EVENT[:30] + b"\x1b[31m\x1b]0;t\x07" + EVENT[30:] + b"\n", **how)[0] == [EVENT]
    assert read(EVENT[:30] + b"\x1b[2D" + EVENT[30:] + b"\n" + NEXT + b"\n", **how)[0] == [NEXT]
    assert read(EVENT[:30] + b"\x08" + EVENT[30:] + b"\n" + NEXT + b"\n", **how)[0] == [NEXT]


@both
@pytest.mark.parametrize("between", [b"\n", b"\nTerminated\n", b"", b"dev@host:~$ ", b"\n\x1b[?25h"])
def test_a_cut_off_object_does_not_hide_others(between: bytes, how: dict[str, bool]) -> None:
    for cut in range(2, len(EVENT)):
        texts, problems = read(EVENT[:cut] + between + NEXT + b"\n" + PLAIN + b"\n", **how)
        assert texts == [NEXT, PLAIN], EVENT[:cut]
        assert problems["cut-off"] == 1, EVENT[:cut]


def test_an_object_cut_off_from_its_newline_is_whole() -> None:
    assert read(EVENT + b"\n" + NEXT)[0] == [EVENT, NEXT]


@both
def test_a_part_of_a_cut_off_object_is_not_a_document(how: dict[str, bool]) -> None:
    cut = EVENT.index(b"]}")
    assert read(EVENT[:cut] + b"\n" + NEXT + b"\n", **how) == ([NEXT], {"cut-off": 1})


def test_an_object_right_after_one_cut_off_before_a_value_is_recognized_by_its_uuid() -> None:
    assert read(b'{"a":' + EVENT + b"\n", unwrapped=True) == ([EVENT], {"cut-off": 1})
    assert read(b'{"a":' + PLAIN + b"\n", unwrapped=True) == ([], {"cut-off": 1})
    assert read(b'{"a":[' + EVENT + b",\n", unwrapped=True) == ([], {"cut-off": 1})


def test_an_incomplete_first_row_is_cut_off() -> None:
    assert read(EVENT[40:] + b"\n" + NEXT + b"\n", unwrapped=True) == ([NEXT], {"cut-off": 1})
    assert read(NEXT + b"\n" + EVENT[40:] + b"\n", unwrapped=True) == ([NEXT], {"noise": 1})


@both
def test_text_may_come_as_str_with_escaped_bytes(how: dict[str, bool]) -> None:
    text = '{"a":"é日😀"}'
    halves = text.encode()[:8], text.encode()[8:] + b"\n"
    reassembler = Reassembler(**how)
    for half in halves:
        documents = reassembler.feed(half.decode("utf-8", "surrogateescape"))
    assert [d.value for d in documents] == [{"a": "é日😀"}]


def test_a_lone_surrogate_in_text_is_malformed_but_not_fatal() -> None:
    assert read('{"a":"\ud83d"}\n{"b":1}\n') == ([b'{"b":1}'], {"malformed": 1})


@both
def test_an_object_that_only_the_standard_decoder_accepts_is_returned(how: dict[str, bool]) -> None:
    assert read(b'{"a":"\\ud83d"}\n{"a":1e400}\n', **how)[0] == [b'{"a":"\\ud83d"}', b'{"a":1e400}']


@both
@pytest.mark.parametrize(
    "text", [b'{"a":01}', b'{"a":-Infinity}', b'{"a":tru}', b'{"a":"\xff"}', b'{"a":"\\u12"}']
)
def test_an_object_that_no_decoder_accepts_is_malformed(text: bytes, how: dict[str, bool]) -> None:
    assert read(text + b"\n" + EVENT + b"\n", **how) == ([EVENT], {"malformed": 1})


@both
def test_text_that_is_not_json_is_noise(how: dict[str, bool]) -> None:
    assert read(b'{"a":NaN}\n{"a" 1}\n' + EVENT + b"\n", **how) == ([EVENT], {"noise": 2})


@both
def test_too_deep_nesting_is_noise(how: dict[str, bool]) -> None:
    deep = b'{"a":' + b"[" * 2000 + b"]" * 2000 + b"}"
    assert read(deep + b"\n" + EVENT + b"\n", **how) == ([EVENT], {"noise": 1})
    assert read(b'{"a":' + b"[" * 900 + b"]" * 900 + b"}\n" + EVENT + b"\n", **how)[0][1:] == [EVENT]


@both
def test_an_object_over_the_maximum_size_is_dropped_and_counted(how: dict[str, bool]) -> None:
    big = b'{"a":"' + b"x" * 200_000 + b'"}'
    for size in (1, 1000, 10**6):
        reassembler = Reassembler(max_size=100_000, **how)
        data = EVENT + b"\n" + big + b"\n" + NEXT + b"\n"
        documents = [d for i in range(0, len(data), size) for d in reassembler.feed(data[i : i + size])]
        assert [d.text for d in documents] == [EVENT, NEXT]
        assert reassembler.problems == {"too-long": 1}


def test_an_object_of_exactly_the_maximum_size_is_returned() -> None:
    text = b'{"a":"' + b"x" * 100 + b'"}'
    assert Reassembler(max_size=len(text)).feed(text + b"\n")
    assert not Reassembler(max_size=len(text) - 1).feed(text + b"\n")


def test_an_endless_line_takes_no_memory() -> None:
    reassembler = Reassembler(max_size=100_000)
    tracemalloc.start()
    try:
        for _ in range(2000):
            reassembler.feed(b"x" * 1000)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert [d.text for d in reassembler.feed(b"\n" + EVENT + b"\n")] == [EVENT]
    assert reassembler.problems == {"noise": 1}


def test_a_long_endless_line_cuts_off_an_open_object() -> None:
    reassembler = Reassembler(max_size=1000)
    reassembler.feed(b'{"a":"x\n' + b"y" * 100_000)
    assert reassembler.problems == {"cut-off": 1, "noise": 1}
