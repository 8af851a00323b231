"""Turns outlive the watcher, and what a new one reads again changes none of them."""

from pathlib import Path
from typing import Any

from chorus.model.api.json_api import EventJson
from chorus.model.ids import SessionId, TurnId
from chorus.model.outcomes import (
    MessageDelivered,
    ModelAnswered,
    Outcome,
    Tokens,
    TurnEnded,
    TurnReported,
    TurnStarted,
)
from chorus.watcher.state.turns import TurnStore

S, T, N = SessionId("s"), TurnId("0b6f-prompt"), TurnId("5")
REPORT = TurnReported(S, T, "Done.", None, "completed", Tokens(10, 5), None, 0.5, 100, 80)
FIRST: list[Outcome] = [TurnStarted(S, T, "hi"), MessageDelivered(S, T, "u"), TurnEnded(S, T), REPORT]
TRANSCRIPT: list[Outcome] = [
    TurnStarted(S, T, "hi"), ModelAnswered(S, T, None, "m", "opus", Tokens(10, 5)), TurnEnded(S, T)
]  # fmt: skip
# A stream that is read again does not name its turns.
STREAM: list[Outcome] = [
    TurnStarted(S, N, None), MessageDelivered(S, N, "u"), TurnEnded(S, N), REPORT._replace(turn=N)
]  # fmt: skip


class Published:
    """A publisher with one subscriber, which keeps every event."""

    subscribers = 1

    def __init__(self) -> None:
        self.events: list[Any] = []

    def publish(self, event: EventJson) -> None:
        self.events.append(event)


def open_store(directory: Path) -> tuple[TurnStore, list[Any]]:
    publisher = Published()
    store = TurnStore(directory / "turns.jsonl", publisher)
    store.load()
    return store, publisher.events


def sums(store: TurnStore) -> dict[str, Any]:
    session: Any = {"id": S}
    store.add_sums(session)
    return {name: session[name] for name in ("turns", "cost_usd", "tokens", "model")}


def test_output_that_a_restarted_watcher_reads_again_is_not_a_second_turn(tmp_path: Path) -> None:
    store, _ = open_store(tmp_path)
    store.feed(FIRST)
    (saved,), taken = store.read(session=None, turn=None), sums(store)
    for _ in range(2):
        store, published = open_store(tmp_path)
        store.feed([*TRANSCRIPT, *STREAM])
        (turn,) = store.read(session=None, turn=None)
        assert turn == {**saved, "model": "opus", "context": 10}
        assert sums(store) == {**taken, "model": "opus"}
        # That it is no new turn is known from its message on.
        assert [event["turn"]["turn"] for event in published].count(N) == 1


def test_a_session_that_does_not_name_its_model_has_that_of_its_last_turn(tmp_path: Path) -> None:
    store, _ = open_store(tmp_path)
    store.feed([*TRANSCRIPT, TurnStarted(S, N, "fails at once")])
    assert sums(store)["model"] == "opus"
    session: Any = {"id": S, "model": "sonnet"}
    store.add_sums(session)
    assert session["model"] == "sonnet"


def test_a_new_message_is_a_new_turn(tmp_path: Path) -> None:
    store, _ = open_store(tmp_path)
    store.feed(FIRST)
    store, _ = open_store(tmp_path)
    store.feed([TurnStarted(S, N, "more"), MessageDelivered(S, N, "v"), TurnEnded(S, N)])
    assert [turn["turn"] for turn in store.read(session=None, turn=None)] == [T, N]
    assert sums(store)["turns"] == 2
