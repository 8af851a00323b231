"""Every recording gives the actions of its checked table, however it is fed."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chorus.agents.claude_code.events import Event, Malformed, Unknown
from chorus.agents.claude_code.pairing import Pairing
from chorus.model.outcomes import SessionLinked
from tests.agents.recordings import (
    FIXTURES,
    RECORDINGS,
    Row,
    actions_of,
    fold,
    in_table,
    read_events,
    run,
    tables,
)

TABLE = tables()
NEWEST = RECORDINGS / "2.1.325"

# One run, seen by several sources. The first is the fullest: its order is the order of the calls.
RUNS = {
    "197 default": ["hooks/headless_default.stdout.jsonl", "hooks/headless_default.hooks.jsonl"],
    "197 bypass": ["hooks/headless_bypass.stdout.jsonl", "hooks/headless_bypass.hooks.jsonl"],
    "197 interactive": [
        "transcripts/interactive_921a675c-9faf-4bcc-af9c-ea0c405fe39d.jsonl",
        "transcripts/interactive_214a4480-99af-47c8-acf3-a8a2202fead1.jsonl",
        "transcripts/interactive_agent-a0a9970b4de1f4d54.jsonl",
        "hooks/interactive.hooks.jsonl",
    ],
    "325 all tools": [
        "2.1.325/headless/bash_edit_diff.jsonl",
        "2.1.325/hooks/bash_edit_diff.hooks.jsonl",
        "2.1.325/transcripts/bash_edit_diff.jsonl",
    ],
    "325 hook denied": ["2.1.325/headless/hook_denied.jsonl", "2.1.325/hooks/hook_denied.hooks.jsonl"],
    "325 killed": ["2.1.325/headless/killed_sigint.jsonl", "2.1.325/hooks/killed_sigint.hooks.jsonl"],
    "325 interactive": [
        "2.1.325/transcripts/interactive.jsonl",
        "2.1.325/transcripts/interactive_cleared.jsonl",
        "2.1.325/transcripts/interactive_agent-a697f6b396a3d7a59.jsonl",
        "2.1.325/hooks/interactive.hooks.jsonl",
    ],
    "325 message while working": [
        "2.1.325/transcripts/message_while_working.jsonl",
        "2.1.325/hooks/message_while_working.hooks.jsonl",
    ],
    "325 fork": [
        "2.1.325/transcripts/resumed.jsonl",
        "2.1.325/headless/resume_first.jsonl",
        "2.1.325/headless/resume_second.jsonl",
        "2.1.325/headless/resume_fork.jsonl",
        "2.1.325/transcripts/forked.jsonl",
        "2.1.325/transcripts/forked_agent-ab92da0fd11eb2c85.jsonl",
    ],
}


def test_every_recording_has_a_table() -> None:
    recorded = {
        path.relative_to(RECORDINGS).as_posix()
        for kind in ("headless", "control", "hooks", "transcripts", "2.1.325")
        for path in (RECORDINGS / kind).rglob("*.json*")
        if not path.name.endswith(".meta.json")
    }
    assert recorded <= set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_a_recording_gives_its_table(name: str) -> None:
    assert list(map(in_table, actions_of(read_events(RECORDINGS / name)).values())) == TABLE[name]


@pytest.mark.parametrize("name", TABLE)
def test_a_recording_fed_twice_over_gives_the_same(name: str) -> None:
    events = read_events(RECORDINGS / name)
    assert list(map(in_table, actions_of(events + events).values())) == TABLE[name]


@pytest.mark.parametrize("name", TABLE)
def test_a_recording_that_continues_after_a_close_gives_the_same(name: str) -> None:
    """The agent loses sight in the middle, gives up what is open, and finds out better later."""
    events = read_events(RECORDINGS / name)
    half = len(events) // 2
    pairing = Pairing()
    outcomes = run(events[:half], pairing) + run(events[half:], pairing)
    assert list(map(in_table, fold(outcomes).values())) == TABLE[name]


@pytest.mark.parametrize("name", TABLE)
def test_repeats_of_earlier_events_change_nothing(name: str) -> None:
    events = read_events(RECORDINGS / name)
    chance = random.Random(name)
    fed: list[Event] = []
    for event in events:
        fed.append(event)
        fed += [chance.choice(fed) for _ in range(chance.randrange(3))]
    assert list(map(in_table, actions_of(fed).values())) == TABLE[name]


@pytest.mark.parametrize("name", TABLE)
def test_nothing_recorded_is_unknown_or_malformed(name: str) -> None:
    strange = [event for event in read_events(RECORDINGS / name) if isinstance(event, Unknown | Malformed)]
    # One recording asks the client for something that does not exist.
    assert [event for event in strange if event.type != "control_request/no_such_thing"] == []  # type: ignore[union-attr]  # these have a type


def _sources(name: str) -> list[list[Event]]:
    return [read_events(RECORDINGS / path) for path in RUNS[name]]


def _facts(rows: dict[str, Row]) -> dict[str, tuple[object, ...]]:
    return {row.id: (row.tool, row.paths, row.status, row.agent, row.session) for row in rows.values()}


@pytest.mark.parametrize("name", RUNS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_sources_may_interleave_and_repeat_in_any_way(name: str, data: st.DataObject) -> None:
    sources = _sources(name)
    straight = _facts(actions_of([event for source in sources for event in source]))
    order = [number for number, source in enumerate(sources) for _ in source]
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    chance.shuffle(order)
    queues = [list(reversed(source)) for source in sources]
    mixed = [queues[number].pop() for number in order]
    again = data.draw(st.integers(0, len(mixed)))
    fed = mixed[:again] + mixed[: again // 2] + mixed[again:]

    assert _facts(actions_of(fed)) == straight


@pytest.mark.parametrize("name", RUNS)
def test_sources_of_one_run_do_not_contradict_each_other(name: str) -> None:
    together = actions_of([event for source in _sources(name) for event in source])
    for events in _sources(name):
        for row in actions_of(events).values():
            known = together[row.id]
            assert (row.tool, row.paths) == (known.tool, known.paths)
            # The transcript alone cannot tell an interrupted command from a refused one.
            assert row.status == known.status or (row.status, known.status) == ("denied", "unfinished")


def test_a_fork_belongs_to_the_session_it_came_from() -> None:
    outcomes = run([event for source in _sources("325 fork") for event in source])
    links = {
        (link.session[:4], link.parent[:4], link.kind) for link in outcomes if isinstance(link, SessionLinked)
    }
    assert ("ec6f", "27fc", "fork") in links
    assert ("27fc", "27fc", "compact") in links


def test_clearing_the_conversation_links_the_new_session_to_the_old() -> None:
    for name in ("197 interactive", "325 interactive"):
        hooks = read_events(RECORDINGS / RUNS[name][-1])
        kinds = [
            (link.kind, link.session != link.parent) for link in run(hooks) if isinstance(link, SessionLinked)
        ]
        assert ("clear", True) in kinds
    written = run(read_events(NEWEST / "transcripts" / "interactive_cleared.jsonl"))
    assert [link.parent[:4] for link in written if isinstance(link, SessionLinked)] == ["0111"]


@pytest.mark.parametrize("path", sorted((FIXTURES / "notes").glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_event_in_the_older_notes_is_understood(path: Path) -> None:
    events = read_events(path)
    assert len(events) == len(path.read_text().splitlines())
    assert [event for event in events if isinstance(event, Unknown | Malformed)] == []
    run(events)


def test_the_tables_are_kept_readable() -> None:
    for path in (FIXTURES / "tables").glob("*.json"):
        assert json.loads(path.read_text())
        assert max(map(len, path.read_text().splitlines())) < 160
