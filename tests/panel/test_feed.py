import threading
from collections.abc import Iterator

import pytest

from chorus.panel.state import feed as feed_module
from chorus.panel.state.feed import Feed, FeedReader
from chorus.panel.state.model import PanelModel
from chorus.wire.client import Connection, WatcherNotResponding, connect
from chorus.wire.home import Home
from chorus.wire.protocol import Message
from chorus.wire.watcher_process import NOT_STARTED_HINT
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import entry, prompt
from tests.waiting import wait_for


@pytest.fixture
def reader(watcher: ScriptedWatcher) -> Iterator[FeedReader]:
    watcher.start()
    made = FeedReader(Feed(watcher.home, watcher.home.common_dir.parent, connect_first=connect))
    made.start()
    yield made
    made.stop()
    watcher.stop()


class FedModel:
    """A model that is fed from the reader."""

    def __init__(self, reader: FeedReader) -> None:
        self.reader = reader
        self.model = PanelModel()
        self.messages: list[Message] = []

    def update(self) -> PanelModel:
        for message in self.reader.drain():
            self.messages.append(message)
            self.model.feed(message)
        return self.model


def test_the_feed_gives_the_present_state_and_then_events(
    watcher: ScriptedWatcher, reader: FeedReader
) -> None:
    fed = FedModel(reader)
    wait_for(lambda: fed.update().complete)
    assert len(fed.model.entries) == len(watcher.entries)
    assert (fed.model.link, len(fed.model.sessions)) == ("live", 2)
    watcher.add_action(entry(99))
    watcher.add_prompt(prompt("p5"))
    wait_for(lambda: 99 in fed.update().entries and "p5" in fed.model.prompts)


def test_a_log_of_several_pages_is_read_to_its_end(
    watcher: ScriptedWatcher, reader: FeedReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "PAGE_ENTRIES", 3)
    fed = FedModel(reader)
    wait_for(lambda: fed.update().complete)
    watcher.stop()
    wait_for(lambda: fed.update().link == "lost")
    watcher.requests.clear()
    watcher.start()
    wait_for(lambda: fed.update().link == "live" and fed.model.complete)
    assert [request.get("before") for request in watcher.requests_for("log")] == [None, 42, 39]
    assert sorted(fed.model.entries) == sorted(watcher.entries)


def test_events_during_the_reading_of_the_log_are_not_lost(
    watcher: ScriptedWatcher, reader: FeedReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "PAGE_ENTRIES", 2)
    fed = FedModel(reader)
    wait_for(lambda: fed.update().complete)
    watcher.delay_seconds["log"] = 0.02
    watcher.stop()
    watcher.start()
    asked = len(watcher.requests_for("log"))
    wait_for(lambda: len(watcher.requests_for("log")) > asked)
    watcher.add_prompt(prompt("meanwhile"))
    watcher.add_action(entry(38, status="kept"))
    wait_for(lambda: "meanwhile" in fed.update().prompts)
    assert not fed.model.complete, "the prompt did not wait for the log"
    wait_for(lambda: fed.update().complete)
    assert fed.model.entries[38].status == "kept"


def test_after_a_restart_the_feed_reconnects_and_nothing_is_doubled(
    watcher: ScriptedWatcher, reader: FeedReader
) -> None:
    fed = FedModel(reader)
    wait_for(lambda: fed.update().complete)
    watcher.stop()
    wait_for(lambda: fed.update().link == "lost")
    watcher.entries[100] = entry(100)
    del watcher.entries[37]
    watcher.start()
    wait_for(lambda: fed.update().link == "live" and fed.model.complete)
    assert fed.model.link_text == "reconnected"
    assert sorted(fed.model.entries) == sorted(watcher.entries)


def test_a_watcher_of_another_version_is_reported(watcher: ScriptedWatcher, reader: FeedReader) -> None:
    fed = FedModel(reader)
    wait_for(lambda: fed.update().complete)
    watcher.version = "99.0"
    watcher.stop()
    watcher.start()
    wait_for(lambda: "99.0" in fed.update().link_text)


def test_without_a_watcher_the_feed_waits_until_it_is_stopped(watcher: ScriptedWatcher) -> None:
    feed = Feed(watcher.home, watcher.home.common_dir.parent, connect_first=connect)
    states: list[str] = []

    def read() -> None:
        for message in feed.messages():
            states.append(str(message["state"]))

    reading = threading.Thread(target=read)
    reading.start()
    wait_for(lambda: states == ["connecting", "lost"])
    feed.stop()
    reading.join(5)
    assert not reading.is_alive()
    assert states == ["connecting", "lost"]


def test_a_watcher_that_does_not_start_is_reported_with_the_way_out(watcher: ScriptedWatcher) -> None:
    def connect_first(home: Home) -> Connection:
        raise WatcherNotResponding("the watcher did not start", hint=NOT_STARTED_HINT)

    feed = Feed(watcher.home, watcher.home.common_dir.parent, connect_first=connect_first)
    messages = feed.messages()
    next(messages)
    assert next(messages)["text"] == "the watcher did not start. Read its log, or run `chorus doctor`."


def test_stop_ends_a_feed_that_waits_for_events(watcher: ScriptedWatcher, reader: FeedReader) -> None:
    fed = FedModel(reader)
    wait_for(lambda: fed.update().complete)
    reader.stop()
    wait_for(lambda: not reader._thread.is_alive())
    wait_for(lambda: watcher.subscribers == 0 or None)


def test_many_messages_cause_one_wake_up(watcher: ScriptedWatcher, reader: FeedReader) -> None:
    fed = FedModel(reader)
    wait_for(lambda: fed.update().complete)
    wakes: list[int] = []
    reader.listen(lambda: wakes.append(1))
    for n in range(200, 260):
        watcher.add_action(entry(n))
    wait_for(lambda: len(reader._messages) == 60)
    assert len(wakes) == 1
    assert len(reader.drain()) == 60


def test_an_answer_of_the_wrong_type_is_reported(watcher: ScriptedWatcher, reader: FeedReader) -> None:
    fed = FedModel(reader)
    wait_for(lambda: fed.update().complete)
    watcher._hello = lambda: None  # type: ignore[assignment, method-assign, return-value]  # of the wrong type
    watcher.stop()
    watcher.start()
    wait_for(lambda: "hello" in fed.update().link_text)
    assert fed.model.link == "lost"
