"""The width of a capture is found out, and the rows that no event was read from are listed."""

import pytest

from chorus.agents.claude_code.terminal import recording
from chorus.agents.claude_code.terminal.capture_rows import find_unused_rows, guess_widths
from chorus.agents.claude_code.terminal.recording import Recording
from tests.agents.terminal.tmux_rows import capture

LINES = ['{"type":"text","text":"' + "many words " * 12 + '"}', '{"type":"text","text":"short"}']


def read(data: bytes, width: int | None = None) -> tuple[Recording, int]:
    reader = Recording(width=width)
    events = [*reader.feed(data), *reader.close()]
    return reader, len(events)


@pytest.mark.parametrize("width", [20, 37, 80])
def test_the_width_of_a_wrapped_capture_is_among_the_guesses(width: int) -> None:
    data = capture(LINES, width).encode()
    reader, _ = read(data)
    assert width in reader.guess_widths()
    assert read(data, width)[1] == len(LINES)


def test_text_of_few_rows_has_few_widths() -> None:
    assert guess_widths(b"x\n") == []
    assert guess_widths(b"a" * 30 + b"\nrest\n") == [30]
    assert guess_widths(b"a" * 30 + b"\n" + b"b" * 30 + b"\nrest\n") == [30, 31]


def test_rows_that_no_event_was_read_from_are_listed() -> None:
    data = b'$ claude\n{"a":1}\n\nnoise\n{"b":\n 2}\nlast\n'
    assert find_unused_rows(data, [b'{"a":1}', b'{"b": 2}']) == [(1, "$ claude"), (4, "noise"), (7, "last")]


def test_two_events_in_one_row_use_it_once() -> None:
    assert find_unused_rows(b'{"a":1}{"b":2}\nx\n', [b'{"a":1}', b'{"b":2}']) == [(2, "x")]


def test_an_event_that_is_not_in_the_rows_uses_none() -> None:
    assert find_unused_rows(b"x", [b'{"a":1}']) == [(1, "x")]


def test_a_recording_lists_its_rows() -> None:
    reader, count = read(b'$ claude\n{"type":"text","text":"x"}\n')
    assert (count, reader.unused_rows()) == (1, [(1, "$ claude")])


@pytest.mark.parametrize("data", [b'{\n "type": "text",\n "text": "x"\n}\n', b"%output %1 {}\\012\n"])
def test_rows_of_indented_json_and_of_control_mode_are_not_listed(data: bytes) -> None:
    assert read(data)[0].unused_rows() == []


def test_a_long_recording_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MAX_KEPT", 10)
    reader, event = Recording(), b'noise\n{"type":"text","text":"x"}\n'
    events = [*reader.feed(event), *reader.feed(event), *reader.close()]
    assert (len(events), reader.unused_rows(), reader.guess_widths()) == (2, [], [])
