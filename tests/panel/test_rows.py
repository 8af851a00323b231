from typing import Any

import pytest

from chorus.panel.item_parsing import parse_entry
from chorus.panel.model import Model
from chorus.panel.queue_lines import plan_columns, render_row
from chorus.panel.rows import ActionRow, Scope, TurnRow, View, plan_rows, reviewed_groups
from tests.panel.story import entry


def model_of(*entries: dict[str, Any]) -> Model:
    model = Model()
    model.feed({"event": "log", "entries": list(entries), "complete": True})
    return model


def numbers(model: Model, view: View) -> list[float]:
    return [row.entry.n for row in plan_rows(model, view) if isinstance(row, ActionRow)]


STATUSES = ["committed", "kept", "reverted", "noop", "failed", "denied", "outside"]
EVERY_STATUS = [entry(n, status=status) for n, status in enumerate(STATUSES, 1)]


@pytest.mark.parametrize(
    ("scope", "shown"),
    [(Scope.OPEN, [1]), (Scope.CHANGES, [1, 2, 3]), (Scope.EVERYTHING, [1, 2, 3, 4, 5, 6, 7])],
)
def test_a_scope_shows_its_own(scope: Scope, shown: list[int]) -> None:
    assert numbers(model_of(*EVERY_STATUS), View(scope=scope)) == shown


def test_each_turn_has_a_row_with_its_message_and_what_is_open() -> None:
    model = model_of(entry(1, turn="a"), entry(2, turn="a", status="kept"), entry(3, turn="b", message=None))
    turns = [row for row in plan_rows(model, View()) if isinstance(row, TurnRow)]
    assert [(turn.count, turn.open, bool(turn.message)) for turn in turns] == [(2, 1, True), (1, 1, False)]


@pytest.mark.parametrize(
    ("needle", "shown"),
    [
        ("parser", [1, 2]),
        ("PARSER bash", [2]),
        ("3", [3]),
        ("nothing like it", []),
        ("readme", [3]),
        ("", [1, 2, 3]),
    ],
)
def test_a_filter_wants_every_word_somewhere(needle: str, shown: list[int]) -> None:
    model = model_of(
        entry(1, summary="x", message="m"),
        entry(2, tool="Bash", summary="python parser.py", paths=[], message="m"),
        entry(3, paths=["README.md"], summary="x", message="m"),
    )
    assert numbers(model, View(needle=needle)) == shown


def test_a_folded_turn_shows_its_row_only_and_a_filter_looks_inside() -> None:
    model = model_of(entry(1, turn="a"), entry(2, turn="b"))
    folded = View(folds={("s1", "a"): True})
    assert numbers(model, folded) == [2]
    folded.needle = "parser"
    assert numbers(model, folded) == [1, 2]


def test_one_session_can_be_seen_alone() -> None:
    model = model_of(entry(1, session="s1"), entry(2, session="s2"))
    assert numbers(model, View(session="s2")) == [2]


def test_turns_with_nothing_left_to_do_are_found_but_for_the_newest() -> None:
    model = model_of(entry(1, turn="a", status="kept"), entry(2, turn="b"), entry(3, turn="c", status="kept"))
    assert reviewed_groups(model) == [("s1", "a")]


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("Revert 7: A warmer word.", "taking back 7: app.py"),
        ("Redo 8: Revert 7: A warmer word.", "bringing back 7: app.py"),
        ("Revert 9: Redo 8: Revert 7: A warmer word.", "taking back 7: app.py"),
        ("something newer", "taking back: app.py"),
    ],
)
def test_what_a_person_took_back_or_brought_back_is_named_by_its_number(summary: str, said: str) -> None:
    given = entry(10, tool="Revert", paths=["app.py"], summary=summary, reverts=["toolu_7"])
    parsed = parse_entry(given)
    assert parsed is not None
    row = ActionRow(parsed)
    pieces = render_row(row, plan_columns([row]), 60)
    assert said in "".join(text for text, _ in pieces)
