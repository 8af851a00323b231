"""Whole captures: every event once and in order, whatever width each part is wrapped at."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorus.agents.claude_code.terminal.captures import MAX_PARTS, read_capture
from tests.agents.terminal.tmux_rows import capture


def event(number: int, size: int) -> dict[str, Any]:
    return {"type": "text", "uuid": f"u-{number}", "text": "some text " * size, "n": [number, {"k": True}]}


def lines(first: int, count: int, size: int = 12) -> list[str]:
    return [json.dumps(event(number, size)) for number in range(first, first + count)]


def numbers(text: str, *widths: int) -> list[int]:
    return [document.value["n"][0] for document in read_capture(text.encode(), widths)]


def test_a_capture_that_is_not_wrapped_is_read_as_it_is() -> None:
    text = "$ claude\n" + "".join(f"{line}\n" for line in lines(0, 3)) + "$ "
    assert numbers(text) == [0, 1, 2]


@pytest.mark.parametrize("width", [20, 37, 80, 121])
def test_the_width_is_found(width: int) -> None:
    assert numbers(capture(lines(0, 5), width)) == [0, 1, 2, 3, 4]


def test_the_width_that_is_given_is_preferred_to_one_that_is_guessed() -> None:
    # Rows lose the blanks they end in, so the widest row of this one is narrower than the pane.
    value = {"uuid": "u", "n": [7], "text": (" " * 9 + "x") * 8}
    wrapped = capture([json.dumps(value)], 32).encode()
    assert [document.value for document in read_capture(wrapped)] != [value]
    assert [document.value for document in read_capture(wrapped, (32,))] == [value]


def test_parts_that_were_printed_at_different_widths_are_all_read_in_order() -> None:
    text = "".join(
        [
            capture(lines(0, 2), 37),
            "$ some noise\n",
            capture(lines(2, 6), 80),
            "".join(f"{line}\n" for line in lines(8, 2)),
            capture(lines(10, 2), 52),
        ]
    )
    assert numbers(text) == list(range(12))


def test_an_event_that_is_cut_off_at_the_top_or_the_end_hides_no_other() -> None:
    rows = capture(lines(0, 6), 37).split("\n")
    assert numbers("\n".join(rows[1:-3])) == [1, 2, 3, 4]


def test_rows_of_too_many_widths_are_given_up() -> None:
    widths = range(30, 30 + 3 * (MAX_PARTS + 2), 3)
    text = "".join(capture(lines(number, 1), width) for number, width in enumerate(widths))
    found = numbers(text)
    assert found == sorted(set(found))


@given(st.lists(st.tuples(st.sampled_from([20, 37, 80, 121]), st.integers(1, 4)), min_size=1, max_size=3))
def test_no_event_is_ever_read_twice_or_out_of_order(parts: list[tuple[int, int]]) -> None:
    text, first = "", 0
    for width, count in parts:
        text += capture(lines(first, count), width)
        first += count
    found = numbers(text)
    assert found == sorted(set(found))
    assert found == list(range(first)) or len({width for width, _ in parts}) > 1
