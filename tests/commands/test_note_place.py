"""Where `chorus note` puts a note: an action, or a line of one of its files."""

import pytest

from chorus.commands.note import parse_note_place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12", ("12", None, None)),
        ("12:40", ("12", None, 40)),
        ("12:src/cart.py:40", ("12", "src/cart.py", 40)),
        ("12:a:b:40", ("12", "a:b", 40)),
        ("feature:12", ("feature:12", None, None)),
        ("feature:12:40", ("feature:12", None, 40)),
        ("feature:12:src/cart.py:40", ("feature:12", "src/cart.py", 40)),
        ("toolu_1:src/cart.py:40", ("toolu_1", "src/cart.py", 40)),
    ],
)
def test_the_place_of_a_note_is_parsed(text: str, place: tuple[str, str | None, int | None]) -> None:
    assert parse_note_place(text) == place
