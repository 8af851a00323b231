"""Any recording gives its objects and where each was seen."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorus.agents.claude_code.terminal.reassembler import DEFAULT_MAX_SIZE
from chorus.agents.claude_code.terminal.recording import BEGINNING, Recording, unwrap
from chorus.agents.interface import RecordedEvent, Source
from tests.agents.recordings import RECORDINGS

INIT = {"type": "system", "subtype": "init", "session_id": "s"}
LINE = json.dumps(INIT).encode() + b"\n"


def read(chunks: Iterable[bytes], width: int | None = None) -> tuple[list[RecordedEvent], dict[str, int]]:
    recording = Recording(width=width)
    observed = [seen for chunk in chunks for seen in recording.feed(chunk)]
    return observed + recording.close(), dict(recording.problems)


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ({"dir": "in", "ms": 1, "msg": INIT}, Source.CONTROL_IN),
        ({"dir": "out", "ms": 1, "msg": INIT}, Source.CONTROL_OUT),
        ({"dir": "up", "msg": INIT}, Source.STREAM),
        ({"t": 1.0, "stdin": {"hook_event_name": "Stop"}}, Source.HOOK),
        ({"stdin": "text"}, Source.STREAM),
        ({"hook_event_name": "Stop"}, Source.HOOK),
        ({"type": "user", "isSidechain": False}, Source.TRANSCRIPT),
        ({"type": "file-history-snapshot"}, Source.TRANSCRIPT),
        ({"type": ["list"]}, Source.STREAM),
        (INIT, Source.STREAM),
    ],
)
def test_the_source_of_an_object_is_recognized(value: dict[str, object], source: Source) -> None:
    assert unwrap(value)[1] is source


def test_a_stream_is_read_line_by_line_however_it_is_cut() -> None:
    for size in (1, 7, 10_000):
        observed, problems = read(pieces(LINE * 200, size))
        assert (len(observed), problems) == (200, {})


def test_objects_come_as_soon_as_the_kind_of_recording_is_clear() -> None:
    recording = Recording()
    assert recording.feed(LINE) == []
    assert len(recording.feed(LINE * (BEGINNING // len(LINE) + 1))) > 1
    assert len(recording.feed(LINE)) == 1


def test_a_byte_order_mark_is_not_noise() -> None:
    assert read([b"\xef\xbb\xbf" + LINE]) == ([RecordedEvent(INIT, Source.STREAM, "")], {})


@pytest.mark.parametrize("indent", [1, 4])
def test_indented_json_is_read_as_a_whole(indent: int) -> None:
    text = json.dumps({"hook_event_name": "Stop", "note": "two  blanks"}, indent=indent)
    expected = [RecordedEvent({"hook_event_name": "Stop", "note": "two  blanks"}, Source.HOOK, "")]
    assert read([text.encode()]) == (expected, {})
    assert read([text.encode() + b"\n\n" + text.encode() + b"\n"])[0] == expected * 2
    assert (
        read([json.dumps([INIT, 7, INIT], indent=indent).encode()])[0]
        == [RecordedEvent(INIT, Source.STREAM, "")] * 2
    )


def test_long_indented_json_is_read_as_a_whole() -> None:
    text = json.dumps({"hook_event_name": "Stop", "lines": ["x" * 50] * 500}, indent=2).encode()
    observed, problems = read(pieces(text, 1000))
    assert (len(observed), problems) == (1, {})


def test_text_that_only_begins_like_indented_json_is_read_as_rows() -> None:
    observed, problems = read([b"{\nnot json\n" + LINE])
    assert [seen.value for seen in observed] == [INIT]
    assert problems


def test_indented_json_that_is_too_long_is_read_as_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorus.agents.claude_code.terminal.recording.DEFAULT_MAX_SIZE", 10_000)
    observed, _ = read(pieces(b"{\n" + b'"x":1,\n' * 2000 + b"}\n" + LINE, 1000))
    assert [seen.value for seen in observed][-1] == INIT
    assert DEFAULT_MAX_SIZE > 10_000


def test_a_log_of_control_mode_tells_panes_apart() -> None:
    quoted = LINE.replace(b"\n", b"\\015\\012")
    log = b"%begin 1 2 0\n%end 1 2 0\n%output %0 " + quoted + b"\n%output %1 " + quoted + b"\n"
    observed, problems = read([log], width=20)
    assert [(seen.value, seen.channel) for seen in observed] == [(INIT, "%0"), (INIT, "%1")]
    assert problems == {}
    assert len(read([log[log.index(b"%output") :]])[0]) == 2


def test_a_capture_in_rows_needs_the_width() -> None:
    rows = b"\n".join(pieces(LINE.strip(), 20)) + b"\n"
    assert [seen.value for seen in read([rows], width=20)[0]] == [INIT]
    assert read([rows]) == ([], {"unknown-width": 1})


def test_an_empty_recording_has_no_objects() -> None:
    assert read([]) == ([], {})
    assert read([b"\n\n"])[0] == []


@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"{\n", b"[\n", b"%begin 1 2 0\n", b"%output %0 "]),
    st.integers(1, 40),
)
def test_any_bytes_are_read_without_an_error(data: bytes, start: bytes, size: int) -> None:
    read(pieces(start + data, size))


def test_endless_nesting_is_read_without_an_error() -> None:
    assert read([b"[\n" * 100_000])[0] == []


@pytest.mark.parametrize("name", ["w80.control.txt", "w80.pipe-pane.bin", "w80.capture-J.txt"])
def test_captures_of_one_run_give_the_same_objects(name: str) -> None:
    truth = [json.loads(line) for line in (RECORDINGS / "tmux/w80.truth.jsonl").read_text().splitlines()]
    path: Path = RECORDINGS / "tmux" / name
    assert [seen.value for seen in read([path.read_bytes()])[0]] == truth
