"""Notes and notices that go to a headless session with a message are kept until the message is written."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.hook_spool import Spool
from chorus.errors import UsageError
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import SessionDiscovered
from chorus.model.session import SessionTable
from chorus.review.notes.notes import note_log
from chorus.review.revert.notice_text import Notice
from chorus.tmux.address import Address
from chorus.watcher.note_delivery import NoteDelivery
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.panes.headless_runs import HeadlessRun, HeadlessRuns, NoHeadlessRun
from chorus.watcher.server.request_handlers import PaneRequests
from tests.history.agent_at_work import Agent
from tests.history.conftest import agent, memory_path, recorder

__all__ = ["agent", "memory_path", "recorder"]  # fixtures

NONE: Any = None  # for parts that sending does not use


class Sending:
    """A headless session whose client has ended, until `listen` is called, with one draft and one notice."""

    def __init__(self, agent: Agent, directory: Path) -> None:
        self.agent = agent
        self.runs, roster = HeadlessRuns(), SessionTable()
        self.run: HeadlessRun = self.runs.add(
            "run", directory / "run.in", Address(Path("/tmp/tmux-0/default")), PaneId("%0")
        )
        self.run.session = SessionId(agent.session)
        roster.feed(SessionDiscovered(self.run.session, None), time="now", source="stream")
        notices = NoticeQueue(directory / "notices.json", AGENT.events, Spool(directory / "spool"))
        (directory / "spool").mkdir()
        readers = {"main": agent.recorder}
        self.notes = NoteDelivery(lambda: readers, notices, self.runs, roster, lambda event: None)
        self.requests = PaneRequests(NONE, self.runs, roster, NONE, notices, NONE, self.notes, NONE)
        edit = agent.edit("src/app.py", b"x = 2\n")
        self.notes.write(readers, "main", str(edit.n), "Why two?", path=None, line=None)
        notices.add([Notice(self.run.session, "You were reverted.")], [])

    @property
    def state(self) -> str:
        return note_log(self.agent.recorder).read()[1].state

    def listen(self) -> int:
        os.mkfifo(self.run.pipe)
        return os.open(self.run.pipe, os.O_RDWR | os.O_NONBLOCK)


@pytest.fixture
def sending(agent: Agent, tmp_path: Path) -> Sending:
    agent.recorder.start()
    directory = tmp_path / "watcher"
    directory.mkdir()
    return Sending(agent, directory)


def read_message(pipe: int) -> Any:
    content = json.loads(os.read(pipe, 10_000))["message"]["content"]
    os.close(pipe)
    return content


async def test_what_a_message_carries_is_kept_if_the_message_is_not_sent(sending: Sending) -> None:
    pipe = sending.listen()
    with pytest.raises(UsageError):
        await sending.requests.send({"message": " ", "run": "run"})
    assert sending.state == "draft"
    await sending.requests.send({"message": "go on", "run": "run"})
    notice, message = read_message(pipe)
    assert notice["text"].startswith("You were reverted.\n\n")
    assert "Why two?" in notice["text"]
    assert (message["text"], sending.state) == ("go on", "sent")
    Path(sending.run.pipe).unlink()
    pipe = sending.listen()
    await sending.requests.send({"message": "and on", "run": "run"})
    assert read_message(pipe) == "and on"


async def test_notes_stay_drafts_if_they_cannot_be_sent(sending: Sending) -> None:
    readers = sending.notes.readers()
    with pytest.raises(NoHeadlessRun):
        await sending.notes.send(readers)
    assert sending.state == "draft"
    pipe = sending.listen()
    assert (await sending.notes.send(readers))["sent"] == [1]
    assert "Why two?" in read_message(pipe)
    assert sending.state == "sent"


async def test_a_note_that_is_being_sent_is_not_sent_with_another_message(sending: Sending) -> None:
    session = SessionId(sending.agent.session)
    with sending.notes.deliver_with_message(session) as text:
        assert "Why two?" in (text or "")
        with sending.notes.deliver_with_message(session) as other:
            assert other is None
    assert sending.state == "sent"
