"""A session hears what was taken back under it: once, in a hook's reply that really went out."""

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import Spool
from chorus.model.ids import SessionId
from chorus.model.session import Session
from chorus.review.revert.notice_text import Notice
from chorus.watcher.notice_queue import NoticeQueue

A, B = SessionId("a"), SessionId("b")
NOTICE = Notice(A, "You were taken back.")


class HookSource:
    """Hooks that wait in a spool: this process stands for each of them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.spool = Spool(directory)
        self.spool.open()
        self.counter = itertools.count()

    def come(self, name: str = "UserPromptSubmit", session: str = "a", **more: Any) -> HookEvent:
        value = {"hook_event_name": name, "session_id": session, **more}
        place = self.directory / f"{os.getpid()}.{next(self.counter)}"
        place.write_bytes(b"1\t\t\t\n" + json.dumps(value).encode())
        (event,) = self.spool.take()
        return event

    def reply(self, event: HookEvent) -> str | None:
        place = self.directory / "answers" / event.name
        if not place.exists():
            return None
        output = json.loads(place.read_text())["hookSpecificOutput"]
        assert output["hookEventName"] == event.value["hook_event_name"]
        return str(output["additionalContext"])

    def print_reply(self, event: HookEvent) -> None:
        (self.directory / "answers" / event.name).write_bytes(b"")

    def leave_without(self, event: HookEvent) -> None:
        os.utime(self.directory / "answers" / event.name, (1, 1))


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[HookSource]:
    hooks = HookSource(tmp_path / "spool")
    yield hooks
    hooks.spool.close(asleep=True)


@pytest.fixture
def telling(tmp_path: Path, hooks: HookSource) -> NoticeQueue:
    return NoticeQueue(tmp_path / "untold.json", AGENT.events, hooks.spool, lambda session: session)


@pytest.mark.parametrize("name", ["UserPromptSubmit", "PostToolUse", "PostToolBatch", "SessionStart"])
def test_a_notice_goes_out_once_with_the_next_hook_the_model_hears(
    telling: NoticeQueue, hooks: HookSource, name: str
) -> None:
    telling.add([NOTICE], [])
    for other in (hooks.come("Stop"), hooks.come(session="b"), hooks.come("PostToolUse", agent_id="sub")):
        telling.reply(other)
        assert hooks.reply(other) is None
    first, second = hooks.come(name), hooks.come(name)
    telling.reply(first)
    telling.reply(second)
    assert (hooks.reply(first), hooks.reply(second)) == (NOTICE.text, None)


def test_a_reply_that_was_never_printed_is_given_again(telling: NoticeQueue, hooks: HookSource) -> None:
    telling.add([NOTICE], [])
    first = hooks.come()
    telling.reply(first)
    hooks.leave_without(first)
    second = hooks.come()
    telling.reply(second)
    assert hooks.reply(second) == NOTICE.text
    hooks.print_reply(second)
    third = hooks.come()
    telling.reply(third)
    assert hooks.reply(third) is None


def test_what_was_not_told_outlives_the_watcher(
    tmp_path: Path, telling: NoticeQueue, hooks: HookSource
) -> None:
    telling.add([NOTICE], [])
    given = hooks.come()
    telling.reply(given)  # and nobody knows whether it was printed
    later = NoticeQueue(tmp_path / "untold.json", AGENT.events, hooks.spool, lambda session: session)
    later.load()
    again = hooks.come()
    later.reply(again)
    assert hooks.reply(again) == NOTICE.text
    hooks.print_reply(again)
    later.reply(hooks.come())
    assert not (tmp_path / "untold.json").exists()


def test_a_damaged_file_means_that_nothing_is_left_to_tell(tmp_path: Path, hooks: HookSource) -> None:
    (tmp_path / "untold.json").write_text('[["a"')
    telling = NoticeQueue(tmp_path / "untold.json", AGENT.events, hooks.spool, lambda session: session)
    telling.load()
    event = hooks.come()
    telling.reply(event)
    assert hooks.reply(event) is None


def test_a_session_that_goes_on_with_another_hears_for_it(tmp_path: Path, hooks: HookSource) -> None:
    telling = NoticeQueue(tmp_path / "untold.json", AGENT.events, hooks.spool, lambda _: A)
    gone = Session(A, state="gone")
    alive = Session(B, state="idle", sources=("transcript", "hook"))
    assert telling.add([NOTICE], [gone, alive]) == [B]
    event = hooks.come(session="b")
    telling.reply(event)
    assert hooks.reply(event) == NOTICE.text


def test_a_session_without_hooks_is_not_said_to_hear(telling: NoticeQueue) -> None:
    assert telling.add([NOTICE], [Session(A, state="idle", sources=("transcript",))]) == []
    assert telling.take(A) == NOTICE.text
    assert telling.take(A) is None


def test_a_hook_that_went_on_already_is_not_answered(telling: NoticeQueue, hooks: HookSource) -> None:
    telling.add([NOTICE], [])
    late = hooks.come()
    hooks.spool.release(late)
    telling.reply(late)
    assert hooks.reply(late) is None
    event = hooks.come()
    telling.reply(event)
    assert hooks.reply(event) == NOTICE.text
