"""The spool gives complete events in order, and loses none across a restart."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.agents.hook_event import parse_event_file
from chorus.agents.hook_spool import CUT_OFF_SECONDS, MAX_EVENT_BYTES, MAX_QUARANTINED, Spool
from chorus.model.json_limit import MAX_COMMAS

HEAD = b"1\t77\t%3\t/tmp/tmux-0/default,123,0\n"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def spool(directory: Path) -> Iterator[Spool]:
    spool = Spool(directory)
    spool.open()
    yield spool
    spool.close(asleep=True)


def put(directory: Path, name: str, body: bytes, *, age: float = 0.0) -> None:
    (directory / name).write_bytes(HEAD + body)
    stamp = time.time_ns() - int(age * 1e9)
    os.utime(directory / name, ns=(stamp, stamp))


def test_events_come_in_the_order_they_were_written_and_not_by_name(directory: Path, spool: Spool) -> None:
    put(directory, "30.0", b'{"n": 1}', age=3)
    put(directory, "4.0", b'{"n": 2}', age=2)
    put(directory, "200.1", b'{"n": 3}', age=1)

    assert [event.value["n"] for event in spool.take()] == [1, 2, 3]
    assert spool.take() == []


def test_events_of_the_same_time_come_in_the_order_of_their_process_ids(
    directory: Path, spool: Spool
) -> None:
    for name in ("1000.0", "999.0", "1001.0"):
        put(directory, name, b"{}")
        os.utime(directory / name, ns=(5, 5))

    assert [event.name for event in spool.take()] == ["999.0", "1000.0", "1001.0"]


def test_files_with_other_names_are_ignored(directory: Path, spool: Spool) -> None:
    for name in ("1", "1.x", ".1.0", "x.0", "12a.0"):
        put(directory, name, b"{}")

    assert spool.take() == []


def test_an_incomplete_event_is_left_until_it_is_complete(directory: Path, spool: Spool) -> None:
    whole = b'{"a": {"b": "}"}}'
    for end in range(len(whole)):
        put(directory, "5.0", whole[:end])
        assert spool.take() == []
    put(directory, "5.0", whole)

    assert [event.value for event in spool.take()] == [{"a": {"b": "}"}}]
    assert not spool.problems


def test_an_event_that_was_cut_off_is_quarantined_and_counted(directory: Path, spool: Spool) -> None:
    for n in range(MAX_QUARANTINED + 5):
        put(directory, f"{n}.0", b'{"cut', age=CUT_OFF_SECONDS + 1)

    assert spool.take() == []
    assert spool.problems == {"cut-off": MAX_QUARANTINED + 5}
    assert len(list((directory / "aside").iterdir())) == MAX_QUARANTINED


def test_an_event_released_and_not_forgotten_is_found_by_the_next_watcher(
    directory: Path, spool: Spool
) -> None:
    put(directory, "1.0", b'{"n": 1}', age=2)
    put(directory, "2.0", b'{"n": 2}', age=1)
    first, second = spool.take()
    spool.release(first)
    spool.release(second)
    spool.forget(first)
    assert not (directory / "1.0").exists()
    put(directory, "3.0", b'{"n": 3}')

    after = Spool(directory)
    after.open()

    assert [event.value["n"] for event in after.take()] == [2, 3]
    after.close(asleep=True)


def test_releasing_and_forgetting_twice_does_no_harm(directory: Path, spool: Spool) -> None:
    put(directory, "1.0", b"{}")
    (event,) = spool.take()
    for _ in range(2):
        spool.release(event)
    for _ in range(2):
        spool.forget(event)

    assert spool.take() == []


def test_a_process_id_reused_by_a_later_hook_is_a_new_event(directory: Path, spool: Spool) -> None:
    for n in range(2):
        put(directory, "1.0", b'{"n": %d}' % n)
        (event,) = spool.take()
        assert event.value["n"] == n
        spool.forget(event)


def test_an_unhandled_event_and_a_later_one_of_the_same_name_are_two(directory: Path, spool: Spool) -> None:
    put(directory, "1.0", b'{"n": 1}', age=1)
    (first,) = spool.take()
    spool.release(first)
    put(directory, "1.0", b'{"n": 2}')
    (second,) = spool.take()

    spool.forget(first)

    assert second.value["n"] == 2
    assert (directory / "1.0").exists()
    spool.release(second)
    after = Spool(directory)
    after.open()
    (again,) = after.take()
    assert again.value["n"] == 2
    put(directory, "1.0", b'{"n": 3}')
    after.forget(again)
    assert [event.value["n"] for event in after.take()] == [3]
    after.close(asleep=True)


def test_a_hook_may_be_held_where_an_old_answer_is_left(directory: Path, spool: Spool) -> None:
    put(directory, "1.0", b"{}")
    (directory / "answers" / "1.0").write_text("old")
    (event,) = spool.take()

    held = spool.hold(event)

    assert (directory / "answers" / "1.0").is_fifo()
    held.close()


def test_an_answer_that_nobody_reads_is_deleted(directory: Path, spool: Spool) -> None:
    put(directory, "1.0", b"{}")
    (event,) = spool.take()
    spool.release(event, {"x": 1})
    answer = directory / "answers" / "1.0"
    assert answer.read_bytes() == b'{"x":1}\n'
    os.utime(answer, (1, 1))

    spool.take()

    assert not answer.exists()


def test_answers_and_marks_of_an_earlier_watcher_are_removed(directory: Path) -> None:
    first = Spool(directory)
    first.open()
    (directory / "late").touch()
    (directory / "answers" / "9.0").touch()
    first.close(asleep=True)
    assert (directory / "asleep").exists()
    assert not (directory / "watcher").exists()

    second = Spool(directory)
    second.open()

    assert not [name for name in ("late", "asleep", "waking", "answers/9.0") if (directory / name).exists()]
    assert (directory / "watcher").read_text() == f"{os.getpid()}\n"
    second.close(asleep=False)
    assert not (directory / "asleep").exists()


def test_nobody_else_may_read_the_spool(directory: Path, spool: Spool) -> None:
    assert directory.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "content",
    [b"", b"1", HEAD, HEAD + b"[1]", HEAD + b'"x"', b"2\t1\t2\t3\n{}", b"1\t2\n{}", HEAD + b"{}{}", b"{}"],
)
def test_a_file_that_is_no_event_of_this_protocol_is_none(content: bytes) -> None:
    assert parse_event_file("1.0", content, written_ns=1) is None


def test_a_lone_surrogate_and_invalid_utf8_do_not_stop_an_event() -> None:
    event = parse_event_file("1.0", HEAD + b'{"a": "\\ud800", "b": "\xff"}\n', written_ns=1)

    assert event is not None
    assert event.value == {"a": "\ud800", "b": "\udcff"}


def test_a_session_outside_tmux_has_no_pane() -> None:
    event = parse_event_file("1.0", b"1\t\t\t\n{}", written_ns=1)

    assert event is not None
    assert (event.client_pid, event.pane, event.tmux_socket) == (None, None, None)


def test_an_event_that_fails_is_quarantined_and_its_hook_released(directory: Path, spool: Spool) -> None:
    put(directory, "7.0", b'{"n": 1}')
    put(directory, "8.0", b'{"n": 2}')
    odd, _ = spool.take()
    spool.release(odd)

    spool.quarantine(odd)

    assert [path.read_bytes() for path in (directory / "aside").iterdir()] == [HEAD + b'{"n": 1}']
    assert [path.name for path in directory.iterdir() if path.is_file() and path.suffix] == ["8.0"]
    assert not spool.is_hook_waiting(odd)
    assert spool.problems == {"failed": 1}
    assert spool.take() == []


def test_pipes_and_files_that_are_too_long_are_set_aside_unread(directory: Path, spool: Spool) -> None:
    os.mkfifo(directory / "1.0")
    (directory / "2.0").touch()
    os.truncate(directory / "2.0", MAX_EVENT_BYTES + 1)
    assert spool.take() == []
    assert sorted(path.name for path in (directory / "aside").iterdir()) == ["1.0", "2.0"]
    assert spool.problems == {"not-an-event": 2}


def test_an_event_of_millions_of_values_is_not_parsed() -> None:
    body = b'{"a": [' + b"0," * MAX_COMMAS + b"0, 0]}"
    assert parse_event_file("1.0", b"1\t\t\t\n" + body, written_ns=0) is None
