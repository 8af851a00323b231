"""A session gets each notice once, in the reply of a hook that printed it."""

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import NOTICES, Spool
from chorus.model.ids import SessionId
from chorus.model.session import Session
from chorus.review.revert.notice_text import Notice, RevertNotice
from chorus.watcher.notice_queue import NoticeQueue

A, B = SessionId("a"), SessionId("b")
NOTICE = Notice(A, "You were reverted.")
REVERTED = RevertNotice(A, "t1", False, "Raise x", ("app.py",))
RESTORED = RevertNotice(A, "t1", True, "Raise x", ("app.py",))


def test_hooks_wait_while_there_is_something_to_say(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    spool.open()
    queue = NoticeQueue(tmp_path / "notices.json", AGENT.events, spool)
    assert not (tmp_path / "spool" / NOTICES).exists()
    queue.add([NOTICE], [])
    assert (tmp_path / "spool" / NOTICES).exists()
    assert queue.take(A) == NOTICE.text
    assert not (tmp_path / "spool" / NOTICES).exists()
    spool.close(asleep=False)


class FakeHooks:
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
def hooks(tmp_path: Path) -> Iterator[FakeHooks]:
    hooks = FakeHooks(tmp_path / "spool")
    yield hooks
    hooks.spool.close(asleep=True)


@pytest.fixture
def queue(tmp_path: Path, hooks: FakeHooks) -> NoticeQueue:
    return NoticeQueue(tmp_path / "notices.json", AGENT.events, hooks.spool)


@pytest.mark.parametrize("name", ["UserPromptSubmit", "PostToolUse", "SessionStart"])
def test_a_notice_is_sent_once_with_the_next_hook_that_reaches_the_model(
    queue: NoticeQueue, hooks: FakeHooks, name: str
) -> None:
    queue.add([NOTICE], [])
    for other in (hooks.come("Stop"), hooks.come(session="b"), hooks.come("PostToolUse", agent_id="sub")):
        queue.reply(other)
        assert hooks.reply(other) is None
    first, second = hooks.come(name), hooks.come(name)
    queue.reply(first)
    queue.reply(second)
    assert (hooks.reply(first), hooks.reply(second)) == (NOTICE.text, None)


def test_a_reply_that_was_never_printed_is_sent_again(queue: NoticeQueue, hooks: FakeHooks) -> None:
    queue.add([NOTICE], [])
    first = hooks.come()
    queue.reply(first)
    hooks.leave_without(first)
    second = hooks.come()
    queue.reply(second)
    assert hooks.reply(second) == NOTICE.text
    hooks.print_reply(second)
    third = hooks.come()
    queue.reply(third)
    assert hooks.reply(third) is None


def test_undelivered_notices_survive_a_restart(tmp_path: Path, queue: NoticeQueue, hooks: FakeHooks) -> None:
    queue.add([NOTICE], [])
    given = hooks.come()
    queue.reply(given)  # and nobody knows whether it was printed
    later = NoticeQueue(tmp_path / "notices.json", AGENT.events, hooks.spool)
    later.load()
    again = hooks.come()
    later.reply(again)
    assert hooks.reply(again) == NOTICE.text
    hooks.print_reply(again)
    later.reply(hooks.come())
    assert not (tmp_path / "notices.json").exists()


def test_a_damaged_notice_file_counts_as_empty(tmp_path: Path, hooks: FakeHooks) -> None:
    (tmp_path / "notices.json").write_text('[["a"')
    queue = NoticeQueue(tmp_path / "notices.json", AGENT.events, hooks.spool)
    queue.load()
    event = hooks.come()
    queue.reply(event)
    assert hooks.reply(event) is None


def test_a_notice_waits_for_its_own_session_and_not_for_one_that_was_cleared_or_forked_from_it(
    queue: NoticeQueue, hooks: FakeHooks
) -> None:
    gone = Session(A, state="gone")
    alive = Session(B, state="idle", parent=A, sources=("transcript", "hook"))
    assert queue.add([NOTICE], [gone, alive]) == []
    event = hooks.come(session="b")
    queue.reply(event)
    assert hooks.reply(event) is None
    assert queue.take(A) == NOTICE.text


def test_a_session_without_hooks_is_not_listed_as_notified(queue: NoticeQueue) -> None:
    assert queue.add([NOTICE], [Session(A, state="idle", sources=("transcript",))]) == []
    assert queue.take(A) == NOTICE.text
    assert queue.take(A) is None


def test_a_hook_that_no_longer_waits_gets_no_reply(queue: NoticeQueue, hooks: FakeHooks) -> None:
    queue.add([NOTICE], [])
    late = hooks.come()
    hooks.spool.release(late)
    queue.reply(late)
    assert hooks.reply(late) is None
    event = hooks.come()
    queue.reply(event)
    assert hooks.reply(event) == NOTICE.text


def test_live_sessions_that_will_get_a_notice_are_listed_once(queue: NoticeQueue) -> None:
    live, gone = Session(A, sources=("hook",)), Session(B, state="gone", sources=("hook",))
    notices = [NOTICE, Notice(B, "You too."), Notice(A, "And again.")]
    assert queue.add(notices, [gone, live]) == [A]
    assert queue.take(A) == "You were reverted.\n\nAnd again."
    assert queue.take(B) == "You too."


def test_only_the_latest_notices_are_kept(
    tmp_path: Path, hooks: FakeHooks, queue: NoticeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chorus.watcher.notice_queue.MAX_NOTICES", 2)
    queue.add([Notice(A, text) for text in ("one", "two", "three")], [])
    assert json.loads((tmp_path / "notices.json").read_text()) == [["a", "two"], ["a", "three"]]
    assert queue.take(A) == "two\n\nthree"
    assert not (tmp_path / "notices.json").exists()


def test_a_notice_that_was_not_printed_comes_before_later_ones(queue: NoticeQueue, hooks: FakeHooks) -> None:
    queue.add([NOTICE], [])
    first = hooks.come()
    queue.reply(first)
    queue.add([Notice(A, "Later.")], [])
    hooks.leave_without(first)
    queue.reply(hooks.come("Stop"))  # reaches no model, but tells that the first was not printed
    assert queue.take(A) == "You were reverted.\n\nLater."


@pytest.mark.parametrize("text", ["5", "[1]", '[["a"]]', "nonsense", None])
def test_a_notice_file_of_any_shape_can_be_loaded(
    tmp_path: Path, hooks: FakeHooks, queue: NoticeQueue, text: str | None
) -> None:
    if text is not None:
        (tmp_path / "notices.json").write_text(text)
    queue.load()
    queue.announce()
    assert queue.take(A) is None
    assert not (hooks.directory / NOTICES).exists()


def test_loaded_notices_make_hooks_wait(tmp_path: Path, hooks: FakeHooks, queue: NoticeQueue) -> None:
    (tmp_path / "notices.json").write_text('[["a", "one"], ["b", "two"]]')
    queue.load()
    queue.announce()
    assert (hooks.directory / NOTICES).exists()
    event = hooks.come()
    queue.reply(event)
    assert hooks.reply(event) == "one"
    queue.announce()
    assert (hooks.directory / NOTICES).exists()
    assert queue.take(B) == "two"
    assert json.loads((tmp_path / "notices.json").read_text()) == [["a", "one"]]  # perhaps not printed


def test_a_revert_that_is_undone_before_it_was_delivered_is_not_mentioned(
    queue: NoticeQueue, hooks: FakeHooks, tmp_path: Path
) -> None:
    live = [Session(A, state="idle", sources=("hook",))]
    assert queue.add([REVERTED], live) == [A]
    assert queue.add([RESTORED], live) == []
    assert not (tmp_path / "notices.json").exists()
    assert queue.add([REVERTED], live) == [A]
    event = hooks.come()
    queue.reply(event)
    said = hooks.reply(event) or ""
    assert said.count("The user reverted") == 1
    assert "restored" not in said


def test_a_notice_that_a_hook_may_have_printed_is_undone_only_if_it_did_not(
    queue: NoticeQueue, hooks: FakeHooks
) -> None:
    queue.add([REVERTED], [])
    first = hooks.come()
    queue.reply(first)
    queue.add([RESTORED], [])
    hooks.leave_without(first)
    second = hooks.come()
    queue.reply(second)
    assert hooks.reply(second) is None

    queue.add([REVERTED], [])
    third = hooks.come()
    queue.reply(third)
    hooks.print_reply(third)
    queue.add([RESTORED], [])
    fourth = hooks.come()
    queue.reply(fourth)
    assert "The user restored" in (hooks.reply(fourth) or "")


def test_an_undo_without_a_notice_withdraws_the_one_that_waits(queue: NoticeQueue) -> None:
    queue.add([REVERTED, NOTICE], [])
    queue.withdraw([RESTORED])
    assert queue.take(A) == NOTICE.text
    queue.withdraw([REVERTED])
    assert queue.take(A) is None


def test_saved_notices_are_read_again(tmp_path: Path, queue: NoticeQueue) -> None:
    queue.add([REVERTED, NOTICE], [])
    later = NoticeQueue(tmp_path / "notices.json", AGENT.events, queue._spool)
    later.load()
    assert later.take(A) == queue.take(A)
    (tmp_path / "notices.json").write_text('[["a", "You were reverted."]]')
    later.load()
    assert later.take(A) == NOTICE.text
