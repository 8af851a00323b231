import threading
from collections.abc import Iterator

import pytest

from chorus.panel import feed as feed_module
from chorus.panel.feed import Feed, Inbox
from chorus.panel.model import Message, Model
from chorus.wire.client import connect
from tests.panel.agent import ScriptedAgent
from tests.panel.story import entry, prompt
from tests.waiting import wait_for


@pytest.fixture
def inbox(agent: ScriptedAgent) -> Iterator[Inbox]:
    agent.start()
    one = Inbox(Feed(agent.home, agent.home.common_dir.parent, connect_first=connect))
    one.start()
    yield one
    one.stop()
    agent.stop()


class Told:
    """A model that drinks from the inbox."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self.model = Model()
        self.messages: list[Message] = []

    def drink(self) -> Model:
        for message in self.inbox.drain():
            self.messages.append(message)
            self.model.feed(message)
        return self.model


def test_the_feed_says_how_things_stand_and_then_what_happens(agent: ScriptedAgent, inbox: Inbox) -> None:
    told = Told(inbox)
    wait_for(lambda: told.drink().complete)
    assert len(told.model.entries) == len(agent.entries)
    assert (told.model.link, len(told.model.sessions)) == ("live", 2)
    agent.act(entry(99))
    agent.prompt(prompt("p5"))
    wait_for(lambda: 99 in told.drink().entries and "p5" in told.model.prompts)


def test_a_log_of_several_pages_is_read_to_its_end(
    agent: ScriptedAgent, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "PAGE", 3)
    told = Told(inbox)
    wait_for(lambda: told.drink().complete)
    agent.stop()
    wait_for(lambda: told.drink().link == "lost")
    agent.asked.clear()
    agent.start()
    wait_for(lambda: told.drink().link == "live" and told.model.complete)
    assert [request.get("before") for request in agent.asked_to("log")] == [None, 42, 39]
    assert sorted(told.model.entries) == sorted(agent.entries)


def test_what_happens_while_the_log_is_read_is_not_lost(
    agent: ScriptedAgent, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "PAGE", 2)
    told = Told(inbox)
    wait_for(lambda: told.drink().complete)
    agent.delay_seconds["log"] = 0.02
    agent.stop()
    agent.start()
    asked = len(agent.asked_to("log"))
    wait_for(lambda: len(agent.asked_to("log")) > asked)
    agent.prompt(prompt("meanwhile"))
    agent.act(entry(38, status="kept"))
    wait_for(lambda: "meanwhile" in told.drink().prompts)
    assert not told.model.complete, "the prompt did not wait for the log"
    wait_for(lambda: told.drink().complete)
    assert told.model.entries[38].status == "kept"


def test_a_restarted_agent_is_found_again_and_nothing_is_doubled(agent: ScriptedAgent, inbox: Inbox) -> None:
    told = Told(inbox)
    wait_for(lambda: told.drink().complete)
    agent.stop()
    wait_for(lambda: told.drink().link == "lost")
    agent.entries[100] = entry(100)
    del agent.entries[37]
    agent.start()
    wait_for(lambda: told.drink().link == "live" and told.model.complete)
    assert told.model.link_text == "connected again"
    assert sorted(told.model.entries) == sorted(agent.entries)


def test_an_agent_of_another_version_is_said(agent: ScriptedAgent, inbox: Inbox) -> None:
    told = Told(inbox)
    wait_for(lambda: told.drink().complete)
    agent.version = "99.0"
    agent.stop()
    agent.start()
    wait_for(lambda: "99.0" in told.drink().link_text)


def test_without_an_agent_the_feed_waits_and_a_stop_ends_it(agent: ScriptedAgent) -> None:
    feed = Feed(agent.home, agent.home.common_dir.parent, connect_first=connect)
    states: list[str] = []

    def read() -> None:
        for message in feed.messages():
            states.append(message["state"])

    reading = threading.Thread(target=read)
    reading.start()
    wait_for(lambda: states == ["connecting", "lost"])
    feed.stop()
    reading.join(5)
    assert not reading.is_alive()
    assert states == ["connecting", "lost"]


def test_a_stop_wakes_a_feed_that_waits_for_events(agent: ScriptedAgent, inbox: Inbox) -> None:
    told = Told(inbox)
    wait_for(lambda: told.drink().complete)
    inbox.stop()
    wait_for(lambda: not inbox._thread.is_alive())
    wait_for(lambda: agent.subscribers == 0 or None)


def test_one_wake_up_is_enough_for_many_messages(agent: ScriptedAgent, inbox: Inbox) -> None:
    told = Told(inbox)
    wait_for(lambda: told.drink().complete)
    wakes: list[int] = []
    inbox.listen(lambda: wakes.append(1))
    for n in range(200, 260):
        agent.act(entry(n))
    wait_for(lambda: len(inbox._messages) == 60)
    assert len(wakes) == 1
    assert len(inbox.drain()) == 60


def test_an_answer_of_another_shape_is_the_agents_fault_and_is_said(
    agent: ScriptedAgent, inbox: Inbox
) -> None:
    told = Told(inbox)
    wait_for(lambda: told.drink().complete)
    agent._hello = lambda: None  # type: ignore[assignment, method-assign, return-value]
    agent.stop()
    agent.start()
    wait_for(lambda: "hello" in told.drink().link_text)
    assert told.model.link == "lost"
