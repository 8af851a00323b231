"""The changes of the log since they were last taken."""

from chorus.history.log.entry import LogEntry
from chorus.history.log.memory_log import LogChanges
from chorus.history.recorder import Recorder
from chorus.review.operations import Selection, keep, revert
from tests.history.agent_at_work import Agent, action, bash


def taken(changes: LogChanges) -> list[tuple[str | None, str]]:
    return [(entry.id, entry.status) for entry in changes.take()]


def test_each_entry_is_taken_once(recorder: Recorder, agent: Agent) -> None:
    changes = LogChanges(recorder.journal)
    first = agent.edit("app.py", b"one\n")
    recorder.record_unchanged(action("failed", "/nowhere", status="failed"))
    assert taken(changes) == [(first.id, "committed"), ("failed", "failed")]
    assert taken(changes) == []
    second = agent.edit("app.py", b"two\n")
    recorder.record_window(bash("noop"))
    assert taken(changes) == [(second.id, "committed"), ("noop", "noop")]


def test_an_entry_that_changes_is_taken_again(recorder: Recorder, agent: Agent) -> None:
    changes = LogChanges(recorder.journal)
    first, second = agent.edit("app.py", b"one\n"), agent.edit("run.sh", b"two\n")
    changes.take()
    keep(recorder, Selection([str(first.n)]))
    assert taken(changes) == [(first.id, "kept")]
    revert(recorder, Selection([str(second.n)]))
    assert (second.id, "reverted") in taken(changes)
    assert taken(changes) == []


def test_the_changes_add_up_to_the_log(recorder: Recorder, agent: Agent) -> None:
    changes = LogChanges(recorder.journal)
    seen: dict[tuple[int | None, str | None], LogEntry] = {}
    for number in range(5):
        agent.edit("app.py", b"%d\n" % number)
        agent.repo.write("mine.txt", b"%d\n" % number)
        recorder.record_outside()
        if number == 3:
            revert(recorder, Selection(["1"]), markers=True)
        seen |= {(entry.n, entry.timeline): entry for entry in changes.take()}
    assert list(seen.values()) != []
    assert {(e.n, e.timeline): e for e in recorder.entries()} == seen
