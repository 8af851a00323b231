from typing import Any

import pytest

from chorus.panel.state.items import NoteInfo, parse_log_item
from chorus.panel.state.model import PanelModel
from chorus.panel.widgets.queue_rows import (
    ActionRow,
    QueueView,
    Scope,
    TurnRow,
    plan_columns,
    plan_rows,
    render_row,
    reviewed_groups,
)
from tests.panel.story import entry


def model_of(*entries: dict[str, Any]) -> PanelModel:
    model = PanelModel()
    model.feed({"event": "log", "entries": list(entries), "complete": True})
    return model


def numbers(model: PanelModel, view: QueueView) -> list[float]:
    return [row.entry.n for row in plan_rows(model, view) if isinstance(row, ActionRow)]


STATUSES = ["committed", "kept", "reverted", "noop", "failed", "denied", "outside"]
EVERY_STATUS = [entry(n, status=status) for n, status in enumerate(STATUSES, 1)]


@pytest.mark.parametrize(
    ("scope", "shown"),
    [(Scope.OPEN, [1]), (Scope.CHANGES, [1, 2, 3]), (Scope.EVERYTHING, [1, 2, 3, 4, 5, 6, 7])],
)
def test_a_scope_shows_its_statuses(scope: Scope, shown: list[int]) -> None:
    assert numbers(model_of(*EVERY_STATUS), QueueView(scope=scope)) == shown


def test_each_turn_has_a_row_with_its_message_and_open_count() -> None:
    model = model_of(entry(1, turn="a"), entry(2, turn="a", status="kept"), entry(3, turn="b", message=None))
    turns = [row for row in plan_rows(model, QueueView()) if isinstance(row, TurnRow)]
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
def test_a_filter_matches_entries_with_all_its_words(needle: str, shown: list[int]) -> None:
    model = model_of(
        entry(1, summary="x", message="m"),
        entry(2, tool="Bash", summary="python parser.py", paths=[], message="m"),
        entry(3, paths=["README.md"], summary="x", message="m"),
    )
    assert numbers(model, QueueView(needle=needle)) == shown


def test_a_folded_turn_hides_its_actions_unless_there_is_a_filter() -> None:
    model = model_of(entry(1, turn="a"), entry(2, turn="b"))
    folded = QueueView(folds={("s1", "a"): True})
    assert numbers(model, folded) == [2]
    folded.needle = "parser"
    assert numbers(model, folded) == [1, 2]


def test_one_session_can_be_shown_alone() -> None:
    model = model_of(entry(1, session="s1"), entry(2, session="s2"))
    assert numbers(model, QueueView(session="s2")) == [2]


def test_reviewed_turns_are_found_except_the_newest() -> None:
    model = model_of(entry(1, turn="a", status="kept"), entry(2, turn="b"), entry(3, turn="c", status="kept"))
    assert reviewed_groups(model) == [("s1", "a")]


@pytest.mark.parametrize(
    ("summary", "shown"),
    [
        ("Revert 7: A warmer word.", "app.py revert 7: A warmer word."),
        ("Redo 8: Revert 7: A warmer word.", "app.py redo 7: A warmer word."),
        ("Revert part of 7: A warmer word.", "app.py revert part of 7: A warmer word."),
        ("Redo 8: Revert part of 7: A warmer word.", "app.py redo part of 7: A warmer word."),
        ("Revert 9: Redo 8: Revert 7: A warmer word.", "app.py revert 7: A warmer word."),
        ("something newer", "app.py revert: something newer"),
    ],
)
def test_a_revert_or_redo_is_shown_with_the_number_of_its_action(summary: str, shown: str) -> None:
    given = entry(10, tool="Revert", paths=["app.py"], summary=summary, reverts=["toolu_7"])
    parsed = parse_log_item(given)
    assert parsed is not None
    row = ActionRow(parsed)
    pieces = render_row(row, plan_columns([row]), 60)
    assert shown in "".join(text for text, _ in pieces)


@pytest.mark.parametrize("width", [60, 100])
def test_the_columns_of_a_row_with_notes_are_those_of_the_others(width: int) -> None:
    model = model_of(entry(1, added=120, removed=None), entry(2, added=3, removed=14))
    rows = [row for row in plan_rows(model, QueueView()) if isinstance(row, ActionRow)]
    note = NoteInfo(1, "toolu_2", "", None, None, "why?", "draft", False, ())
    without, with_notes = (
        "".join(text for text, _ in render_row(row, plan_columns(list(rows)), width, notes))
        for row, notes in zip(rows, ((), (note,)), strict=True)
    )
    summary = rows[0].entry.summary[:8]
    assert without.index(summary) == with_notes.index(summary)
    assert "✎ " in with_notes
    assert len(without) == len(with_notes) == width
    assert without.index("+120") + 2 == with_notes.index("+3")


def test_one_long_name_does_not_take_the_room_of_every_summary() -> None:
    short = [entry(n, paths=[f"{n}.py"]) for n in range(1, 4)]
    model = model_of(*short, entry(4, paths=["a-name-that-is-long.py"]))
    assert plan_columns(plan_rows(model, QueueView())).file == len("1.py")
    one = plan_rows(model_of(entry(1, paths=["a-name-that-is-long.py"])), QueueView())
    assert plan_columns(one).file == 20
