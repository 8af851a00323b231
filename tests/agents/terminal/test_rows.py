"""Objects wrapped into rows by a pane, with its width known, and without."""

import json
import random

import pytest

from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.line_wrap import JoinedRows, NoWrap
from chorus.agents.interface import Document
from tests.agents.terminal.tmux_rows import capture, is_ambiguous

EVENT = (
    '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","input":{"content":"def f():\\n'
    '        return {}   # a  b\\n"}}]},"uuid":"u1"}'
)
SPACED = json.dumps(json.loads(EVENT))
NEXT = '{"type":"result","result":"{} done","usage":{"input_tokens":1},"uuid":"u2"}'
PLAIN = '{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool"}}'


def read(text: str | bytes, **how: int | bool) -> tuple[list[str], dict[str, int]]:
    reassembler = Reassembler(**how)  # type: ignore[arg-type]  # options of any kind
    documents = reassembler.feed(text) + reassembler.close()
    assert all(document.value == json.loads(document.text) for document in documents)
    return [document.text.decode() for document in documents], dict(+reassembler.problems)


@pytest.mark.parametrize("keep_blanks", [False, True], ids=["plain", "blanks kept"])
def test_rows_are_joined_as_they_were_printed(keep_blanks: bool) -> None:
    lines = [EVENT, NEXT, SPACED, PLAIN, EVENT]
    for width in (3, 7, *range(20, 301)):
        shown = capture(lines, width, keep_blanks=keep_blanks)
        assert read(shown, width=width) == (lines, {}), width


def test_without_a_width_wrapped_objects_are_counted_and_not_returned() -> None:
    lines = [EVENT, NEXT, SPACED, PLAIN]
    for width in range(20, 301):
        texts, problems = read(capture(lines, width))
        assert texts == [line for line in lines if len(line) <= width]
        assert problems.get("unknown-width", 0) == len(lines) - len(texts)


@pytest.mark.parametrize("given", [20, 39, 41, 60, 100, 200])
@pytest.mark.parametrize("letter", ["x", "é"])
def test_a_wrong_width_is_noticed(given: int, letter: str) -> None:
    init = '{"type":"system","text":"' + f"{letter * 30} and so on " * 10 + '"}'
    texts, problems = read(capture([init, EVENT, NEXT, EVENT, SPACED], 40), width=given)
    assert texts == []
    assert problems["wrong-width"] == 5


def test_a_row_that_lost_blanks_does_not_contradict_the_width() -> None:
    line = '{"a":"' + " " * 50 + "x" + " " * 30 + '"}'
    assert read(capture([line], 30), width=30) == ([line], {})


@pytest.mark.parametrize("text", ["x日本", "x 日本", "x  日本", "日本 日本", "é 日"])
def test_a_short_row_before_a_wide_character_is_ambiguous(text: str) -> None:
    for width in range(20, 40):
        line = '{"a":"' + "-" * (width - 8) + text + '"}'
        expected = ([], {"ambiguous-wrap": 1}) if is_ambiguous(line, width) else ([line], {})
        assert read(capture([line], width), width=width) == expected


def test_two_texts_that_look_the_same_are_ambiguous() -> None:
    one, other = '{"a":"1234567890123日"}', '{"a":"1234567890123 日"}'
    assert capture([one], 20) == capture([other], 20)
    assert read(capture([one], 20), width=20) == ([], {"ambiguous-wrap": 1})


def test_kept_blanks_decide_what_a_short_row_means() -> None:
    lines = ['{"a":"1234567890123日"}', '{"a":"123456789012 日"}', '{"a":"1234567890123 日"}']
    shown = capture(lines, 20, keep_blanks=True)
    assert read(shown, width=20) == (lines[1:], {"ambiguous-wrap": 1})
    assert read(shown + shown, width=20) == (lines[1:] + lines, {"ambiguous-wrap": 1})


def test_blanks_are_either_kept_or_lost() -> None:
    kept = capture(['{"a":"1234567890123 5678"}'], 20, keep_blanks=True)
    lost = capture(['{"a":"1234567890123 5678"}'], 20)
    assert read(kept + kept, width=20)[1] == {}
    assert read(lost + lost, width=20)[1] == {}
    assert read(kept + lost, width=20)[1] == {"ambiguous-wrap": 1}
    mixed = '{"a":"1234567890123 \n1234567890123456789\n7"}\n'
    assert read(mixed, width=20) == ([], {"ambiguous-wrap": 1})
    mixed = '{"a":"1234567890123 \n123456789012345678é\n7"}\n'
    assert read(mixed, width=20) == ([], {"ambiguous-wrap": 1})


def test_an_inexact_document_is_returned_on_request_and_marked() -> None:
    reassembler = Reassembler(width=20, allow_inexact=True)
    documents = reassembler.feed(capture(['{"a":"1234567890123日"}', '{"b":1}'], 20)) + reassembler.close()
    assert documents == [
        Document('{"a":"1234567890123日"}'.encode(), {"a": "1234567890123日"}, exact=False),
        Document(b'{"b":1}', {"b": 1}),
    ]
    assert reassembler.problems == {"ambiguous-wrap": 1}


def test_rows_wrapped_by_characters_or_bytes_are_joined_too() -> None:
    line = '{"text":"日本語テキスト 😀 and more, 日本語テキスト  😀 and some more"}'
    for width in range(20, 40):
        by_character = "\n".join(line[i : i + width] for i in range(0, len(line), width))
        assert read(by_character + "\n", width=width) == ([line], {})
        raw = line.encode()
        by_byte = b"\n".join(raw[i : i + width] for i in range(0, len(raw), width))
        # Where every cut happens to fall between characters, the rows are taken for a pane's.
        assert read(by_byte + b"\n", width=width) in (([line], {}), ([], {"ambiguous-wrap": 1}))


def test_a_row_with_as_many_bytes_as_columns_is_ambiguous_only_if_wrapped_by_bytes() -> None:
    row = '{"a":"' + "x" * 10 + "é "  # 18 cells, the last of them lost, so 18 bytes too
    ascii_only, longer = (row + letter * 20 + '"}' for letter in "yé")
    assert read(capture([ascii_only], 18), width=18) == ([], {"ambiguous-wrap": 1})
    assert read(capture([longer], 18), width=18) == ([longer], {})


@pytest.mark.parametrize("width", [20, 33, 80])
@pytest.mark.parametrize("between", ["\n", "\nTerminated\n", "", "\ndev@host:~$ claude -p 'x'\n"])
def test_a_cut_off_object_does_not_hide_others(between: str, width: int) -> None:
    for cut in range(2, len(EVENT)):
        shown = capture((EVENT[:cut] + between + NEXT + "\n" + PLAIN).split("\n"), width)
        texts, problems = read(shown, width=width)
        assert texts == [NEXT, PLAIN], EVENT[:cut]
        assert problems["cut-off"] == 1


@pytest.mark.parametrize("width", [20, 33, 80])
def test_the_rest_of_an_object_whose_beginning_scrolled_away_is_skipped(width: int) -> None:
    rows = capture([EVENT, NEXT, PLAIN], width).splitlines(keepends=True)
    for first in range(1, len(rows)):
        expected = [line for line in (NEXT, PLAIN) if capture([line], width) in "".join(rows[first:])]
        texts, _ = read("".join(rows[first:]), width=width)
        assert texts == expected
        assert set(read("".join(rows[first:]))[0]) <= set(expected)


def test_json_printed_over_several_lines_is_not_a_document() -> None:
    pretty = json.dumps(json.loads(EVENT), indent=2)
    for how in ({}, {"width": 80}, {"unwrapped": True}):
        texts, _ = read(f"{NEXT}\n{pretty}\n{NEXT}\n", **how)
        assert texts == [NEXT, NEXT]
    assert read('{"a":1,\n"b":2}\n' + NEXT + "\n", width=80)[0] == [NEXT]


def test_an_object_that_may_be_a_part_needs_a_uuid_of_its_own() -> None:
    full = '{"type":"text","text":"x"}'
    width = len(full)
    tail = "y" * width
    assert read(f"{tail}\n{full}\n", width=width) == ([], {"noise": 1, "ambiguous-wrap": 1})
    assert read(f"{tail}\n{tail}\n{full}\n") == ([], {"noise": 2, "ambiguous-wrap": 1})
    assert read(f"{tail}\n{full}\n")[0] == [full]
    assert read(f"{tail}\n\n{full}\n", width=width)[0] == [full]
    own = full.replace("text", "uuid")
    assert read(f"{tail}\n{own}\n", width=width)[0] == [own]


def test_an_empty_object_in_a_cut_off_one_may_be_the_end_of_a_string() -> None:
    assert read(f'{{"a":"b\n{{}}\n{NEXT}\n', width=80) == ([NEXT], {"cut-off": 1, "ambiguous-wrap": 1})
    assert read(f'{{"a":"b\n{{}}\n{NEXT}\n', unwrapped=True) == (["{}", NEXT], {"cut-off": 1})
    assert read(f"noise\n{{}}\n{NEXT}\n", width=80)[0] == ["{}", NEXT]


def test_an_object_that_may_be_text_of_a_cut_off_one_needs_a_uuid_too() -> None:
    for odd in ('{",":1}', '{"}":"x"}', '{", ":1}'):
        own = odd[:-1] + ',"uuid":"u"}'
        for how in ({}, {"width": 80}):
            shown = f'{{"a":"b\n{odd}\n{NEXT}\n'
            assert read(shown, **how) == ([NEXT], {"cut-off": 1, "ambiguous-wrap": 1})
            assert read(shown.replace(odd, own), **how) == ([own, NEXT], {"cut-off": 1})
        assert read(shown, unwrapped=True) == ([odd, NEXT], {"cut-off": 1})
    for plain in ('{"":1}', '{" ":1}', '{":":":"}', '{"]":[]}'):
        assert read(f'{{"a":"b\n\n{plain}\n{NEXT}\n', width=80) == ([plain, NEXT], {"cut-off": 1})
        assert read(f'{{"a":"b\n{plain}\n{NEXT}\n') == ([plain, NEXT], {"cut-off": 1})


def test_an_object_after_one_cut_off_before_a_value_is_recognized_by_its_uuid() -> None:
    start = '{"list":['
    for width in (len(start), len(start) + 1):
        assert read(capture([start, NEXT, PLAIN], width), width=width) == ([NEXT, PLAIN], {"cut-off": 1})
        assert read(capture([start, PLAIN, NEXT], width), width=width) == ([NEXT], {"cut-off": 1})
    assert read(capture([start, PLAIN, NEXT], len(start) + 2), width=len(start) + 2)[0] == [PLAIN, NEXT]


def test_an_object_over_the_maximum_size_is_followed_to_its_end() -> None:
    big = '{"a":"' + "x y" * 5000 + '","b":{"c":1}}'
    for width in (20, 80):
        data = capture([NEXT, big, PLAIN, big[:-5], NEXT], width)
        for size in (7, 1000, 10**6):
            reassembler = Reassembler(width=width, max_size=5000)
            documents = [d for i in range(0, len(data), size) for d in reassembler.feed(data[i : i + size])]
            documents += reassembler.close()
            assert [d.text.decode() for d in documents] == [NEXT, PLAIN, NEXT]
            assert reassembler.problems == {"too-long": 2}


def test_rows_may_be_cut_anywhere_and_end_in_carriage_returns() -> None:
    lines = [EVENT, NEXT, SPACED, PLAIN, EVENT]
    data = b"\x1b[0m" + capture(lines, 33).replace("\n", "\r\n").encode()
    chance = random.Random(1)
    for size in (1, 2, 3, 50, 500):
        reassembler = Reassembler(width=33)
        documents: list[Document] = []
        at = 0
        while at < len(data):
            step = chance.randint(1, size)
            documents += reassembler.feed(data[at : at + step])
            at += step
        documents += reassembler.close()
        assert [d.text.decode() for d in documents] == lines
        assert not +reassembler.problems


def test_a_broken_first_key_is_not_read_forever() -> None:
    assert read(b'\x07{\n"\x01\n', width=2) == ([], {"noise": 1})


def test_a_row_may_end_one_object_and_begin_the_next() -> None:
    for width in (20, 33, 80):
        for line in (EVENT + NEXT + PLAIN, "{}" + EVENT + PLAIN + NEXT):
            shown = capture([line], width)
            assert "".join(read(shown, width=width)[0]) == line


def test_a_source_that_never_wraps_ends_its_line_with_every_row() -> None:
    seams = NoWrap()
    assert seams.missing_blanks(b"{", b"}", in_string=True) is None
    assert seams.join_rows(b"{\n}") is None
    seams.learn(JoinedRows(b"{}"))
    assert not seams.contradicts([b"{"])


def test_a_row_far_longer_than_the_pane_is_read_without_an_error() -> None:
    cut_off = '{"a":"' + "x" * 200_000
    assert read(f"{cut_off}\n{NEXT}\n", width=80) == ([NEXT], {"wrong-width": 1})


def test_a_part_of_a_cut_off_object_is_not_found_through_another_part() -> None:
    """Its last row begins with text that looks like an object and breaks off where a real part begins."""
    cut_off = '{"00000":null,"000000000{":{"":null},'
    texts, problems = read(capture([cut_off, NEXT], 2), width=2)
    assert texts == [NEXT]
    assert problems["cut-off"] >= 1


def test_a_start_that_breaks_off_again_is_not_read_forever() -> None:
    """Its last part ends with the row, so the row is read once more: from the part, not from the start."""
    next_starts = '":"cont{"type":"event","event":{"type":"stop","":n,"":""}'
    assert read(f'{{"":"","\n{next_starts}', width=80)[0] == []
    assert read(f'{{"":"","\n{next_starts}\n{NEXT}\n', width=80)[0] == [NEXT]


def test_objects_right_after_each_other_over_rows_are_not_read_forever() -> None:
    for count in (28, 100, 300):
        assert read(capture(['{"a":"b{"a":"c' * count, NEXT], 80), width=80)[0] == [NEXT]


def test_a_row_that_ends_an_object_over_the_maximum_size_may_start_the_next() -> None:
    long = json.dumps({"uuid": "u3", "text": "word " * 40})
    shown = capture(['{"a":"' + "x" * 300, long], 80)
    assert read(shown, width=80, max_size=250) == ([long], {"too-long": 1})


def test_a_possible_part_of_a_cut_off_object_is_counted_with_it_if_rows_cannot_be_joined() -> None:
    shown = capture(['{"list":[', PLAIN, NEXT], 9)
    assert read(shown) == ([], {"cut-off": 1, "unknown-width": 1})
