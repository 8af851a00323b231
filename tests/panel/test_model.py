from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.panel.state.model import ModelChange, PanelModel
from chorus.panel.widgets.sessions_bar import plan_sessions
from chorus.wire.protocol import Message
from tests.panel.story import entry, lane, outside, prompt, session


def fed(*messages: dict[str, Any]) -> PanelModel:
    model = PanelModel()
    for message in messages:
        model.feed(message)
    return model


def action(n: int, **fields: Any) -> dict[str, Any]:
    return {"event": "action", "entry": entry(n, **fields)}


def test_an_action_is_open_until_it_is_kept_reverted_or_landed() -> None:
    model = fed(
        action(1), action(2), action(3), action(4, reverts=["toolu_00002"]), action(5, within="toolu_00001")
    )
    assert model.open_count == 3
    model.feed(action(1, status="kept"))
    model.feed(action(2, status="reverted"))
    model.feed(action(3, landed=True))
    assert model.open_count == 0


def test_an_outside_change_comes_after_the_action_it_followed() -> None:
    page = [outside("o0"), entry(1), outside("o1"), outside("o2"), entry(2, turn="t2")]
    model = fed({"event": "log", "entries": page, "complete": True})
    model.feed({"event": "action", "entry": outside("o3")})
    again: Message = {"event": "action", "entry": outside("o1")}
    model.feed(again)
    order = [model.entries[n].id for numbers in model.groups.values() for n in numbers]
    assert order == ["o0", "toolu_00001", "o1", "o2", "toolu_00002", "o3"]
    assert [model.entries[n].turn for n in sorted(model.entries)] == ["", "t1", "t1", "t1", "t2", "t2"]
    assert model.open_count == 2
    model.feed({"event": "snapshot"})
    model.feed({"event": "log", "entries": page[1:4], "complete": True})
    assert [model.entries[n].id for n in sorted(model.entries)] == ["toolu_00001", "o1", "o2"]


def test_turns_are_ordered_by_their_first_action() -> None:
    model = fed(action(5, turn="b"), action(2, turn="a"), action(9, turn="a"), action(7, turn="b"))
    assert list(model.groups.items()) == [(("s1", "a"), [2, 9]), (("s1", "b"), [5, 7])]


def test_an_action_that_changes_its_turn_is_removed_from_the_old_one() -> None:
    model = fed(action(1, turn="a"), action(1, turn="b"))
    assert model.groups == {("s1", "b"): [1]}


def test_a_prompt_is_added_changed_and_removed() -> None:
    model = PanelModel()
    assert model.feed({"event": "prompt", "prompt": prompt("p1")}) == ModelChange.PROMPTS
    assert model.feed({"event": "prompt", "prompt": prompt("p1")}) == ModelChange.NOTHING
    assert model.feed({"event": "prompt", "prompt": prompt("p1", fingerprint="new")}) == ModelChange.PROMPTS
    assert model.prompts["p1"].fingerprint == "new"
    assert model.feed({"event": "prompt-gone", "id": "p1", "why": "answered"}) == ModelChange.PROMPTS
    assert model.feed({"event": "prompt-gone", "id": "p1", "why": "answered"}) == ModelChange.NOTHING
    assert not model.prompts


def test_a_snapshot_replaces_what_was_known() -> None:
    model = fed(
        {"event": "prompt", "prompt": prompt("old")},
        {"event": "session", "session": session("old")},
        {"event": "lane", "lane": lane("old")},
        action(1),
        {"event": "snapshot", "sessions": [session("s9")], "lanes": [], "prompts": [prompt("p9")]},
    )
    assert (list(model.sessions), list(model.lanes), list(model.prompts)) == (["s9"], [], ["p9"])
    assert list(model.entries) == [1], "actions stay on screen until the log is read again"


def test_actions_missing_from_a_complete_log_are_removed() -> None:
    model = fed(
        action(1, turn="a"),
        action(2, turn="b"),
        {"event": "snapshot"},
        {"event": "log", "entries": [entry(2, turn="b")], "complete": False},
        action(3, turn="c"),
        {"event": "log", "entries": [], "complete": True},
    )
    assert (list(model.entries), model.complete) == ([2, 3], True)
    assert list(model.groups) == [("s1", "b"), ("s1", "c")]
    assert [model.name_of(f"toolu_0000{n}") for n in (1, 2)] == ["toolu_00001", "2"]


def test_progress_ends_when_all_is_done_or_the_watcher_is_lost() -> None:
    model = fed({"event": "progress", "what": "gc", "done": 1, "total": 3})
    assert model.progress["gc"].done == 1
    model.feed({"event": "progress", "what": "gc", "done": 3, "total": 3})
    assert not model.progress
    model.feed({"event": "progress", "what": "catching up", "done": 1, "total": None})
    model.feed({"event": "link", "state": "lost"})
    assert not model.progress


def test_a_cleared_session_is_shown_beside_the_next_one_while_it_has_open_actions() -> None:
    model = PanelModel()
    model.feed(action(1, session="s1"))
    for name, state, parent in (("s1", "gone", None), ("s2", "gone", "s1"), ("s3", "waiting", "s2")):
        fields = {"id": name, "state": state, "parent": parent, "title": f"job {name}"}
        model.feed({"event": "session", "session": fields})
    model.feed({"event": "lane", "lane": lane("chorus/job", session="s1")})

    assert [(shown.id, shown.state) for shown in plan_sessions(model)] == [("s3", "waiting"), ("s1", "gone")]
    assert model.lane_of("s1") == "chorus/job"
    assert model.lane_of("s3") is None


def test_a_session_with_a_prompt_is_waiting_in_any_reported_state() -> None:
    model = fed(
        {"event": "session", "session": session("s1", state="working")},
        {"event": "session", "session": session("s2", state="working")},
        {"event": "prompt", "prompt": prompt("p1", session="s2")},
    )
    assert [(shown.id, shown.state) for shown in plan_sessions(model)] == [
        ("s2", "waiting"),
        ("s1", "working"),
    ]
    model.feed({"event": "prompt-gone", "id": "p1"})
    assert {shown.state for shown in plan_sessions(model)} == {"working"}


def test_a_session_has_the_lane_it_names_or_the_one_that_names_it() -> None:
    model = fed(
        {"event": "lane", "lane": lane("chorus/x", session="s1")},
        {"event": "session", "session": session("s1", lane=None)},
    )
    assert model.lane_of("s1") == "chorus/x"
    model.feed({"event": "session", "session": session("s1", lane="chorus/y")})
    assert model.lane_of("s1") == "chorus/y"
    assert model.lane_of("unknown") is None


@pytest.mark.parametrize(
    "event", ["action", "prompt", "session", "turn", "lane", "log", "snapshot", "prompt-gone", "later"]
)
@pytest.mark.parametrize("value", [None, 7, "text", [], {}, {"n": "x"}])
def test_a_malformed_message_changes_nothing(event: str, value: object) -> None:
    model = fed(action(1))
    names = ("entry", "prompt", "session", "turn", "lane", "entries", "sessions", "turns", "id")
    model.feed({"event": event, **dict.fromkeys(names, value if value != {} else None)})
    assert model.entries[1].tool == "Edit"


EVENTS = st.lists(
    st.builds(
        lambda n, turn, status: action(n, turn=turn, status=status),
        st.integers(0, 12),
        st.sampled_from("abc"),
        st.sampled_from(["committed", "kept", "reverted"]),
    ),
    max_size=20,
)
# A busy machine is no reason to fail.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@PATIENT
@given(EVENTS)
def test_in_any_order_of_events_each_action_is_in_one_group_in_order(
    events: list[dict[str, Any]],
) -> None:
    model = fed(*events)
    grouped = [n for numbers in model.groups.values() for n in numbers]
    assert sorted(grouped) == sorted(model.entries)
    assert all(numbers == sorted(numbers) for numbers in model.groups.values())
    firsts = [numbers[0] for numbers in model.groups.values()]
    assert firsts == sorted(firsts)


@PATIENT
@given(EVENTS)
def test_a_log_page_that_overlaps_later_events_gives_the_same_state(events: list[dict[str, Any]]) -> None:
    straight = fed(*events)
    page = {"event": "log", "entries": [event["entry"] for event in events], "complete": True}
    assert fed(page, *events).entries == straight.entries


def test_actions_of_other_work_trees_are_marked_and_never_replace_ones_own() -> None:
    model = fed({"event": "snapshot", "here": "main", "sessions": [], "lanes": [], "prompts": []})
    for n, tree in ((1, "main"), (2, "feature"), (1, "feature"), (3, "feature"), (3, "main")):
        model.feed({"event": "action", "entry": {**action(n)["entry"], "worktree": tree}})
    shown = {n: (entry.worktree, entry.elsewhere) for n, entry in model.entries.items()}
    assert shown == {1: ("main", False), 2: ("feature", True), 3: ("main", False)}


def turn(name: str = "t1", **fields: Any) -> dict[str, Any]:
    tokens = {"input": 3, "output": 2, "cache_read": 4, "cache_write": 1}
    about = {"session": "s1", "turn": name, "state": "done", "answer": "Done.", "tokens": tokens, **fields}
    return {"event": "turn", "turn": about}


def test_a_turn_has_its_answer_and_what_it_took() -> None:
    model = fed(action(1))
    assert model.feed(turn("other")) == ModelChange.SESSIONS
    assert (
        model.feed(turn(cost_usd=0.5, duration_ms=20, context=8)) == ModelChange.SESSIONS | ModelChange.QUEUE
    )
    known = model.turns["s1", "t1"]
    assert (known.answer, known.tokens_in, known.tokens_out, known.tokens_cached) == ("Done.", 8, 2, 4)
    assert (known.cost_usd, known.duration_ms, known.context, known.window) == (0.5, 20, 8, None)
    assert list(model.turns) == [("s1", "other"), ("s1", "t1")]


def test_a_snapshot_holds_the_turns() -> None:
    model = fed(turn("old"), {"event": "snapshot", "turns": [turn()["turn"], {"session": "s1"}]})
    assert list(model.turns) == [("s1", "t1")]
