"""Messages to headless sessions, also to one that is still starting."""

import asyncio
import json
import os
import threading
from pathlib import Path

import pytest

from chorus.errors import UsageError
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import ControlReplied, SessionDescribed, TurnReported
from chorus.tmux.address import Address
from chorus.watcher.panes.headless_runs import HeadlessRuns, NoHeadlessRun, RunEnded
from chorus.watcher.panes.stdin_feeder import exit_file

SERVER = Address(Path("/tmp/tmux-0/default"))


def test_the_first_message_waits_for_a_session_that_is_starting(tmp_path: Path) -> None:
    pipe = tmp_path / "run.in"
    os.mkfifo(pipe)
    heard: list[bytes] = []

    def start_late() -> None:
        threading.Event().wait(0.2)
        with pipe.open("rb") as source:
            heard.append(source.readline())

    reader = threading.Thread(target=start_late)
    reader.start()
    is_running = HeadlessRuns()
    asyncio.run(
        is_running.send_message(
            is_running.add("run", pipe, SERVER, PaneId("%1")), "begin", "You were taken back."
        )
    )
    reader.join()
    content = json.loads(heard[0])["message"]["content"]
    assert [block["text"] for block in content] == ["You were taken back.", "begin"]


def test_sending_to_an_ended_session_says_that_it_has_ended(tmp_path: Path) -> None:
    is_running = HeadlessRuns()
    run = is_running.add("run", tmp_path / "run.in", SERVER, PaneId("%1"))
    with pytest.raises(NoHeadlessRun):
        asyncio.run(is_running.send_message(run, "anybody?"))


def test_the_newest_run_is_found_in_a_pane_whose_number_is_used_again(tmp_path: Path) -> None:
    runs = HeadlessRuns()
    runs.add("first", tmp_path / "first.in", SERVER, PaneId("%0"))
    second = runs.add("second", tmp_path / "second.in", SERVER, PaneId("%0"))
    assert runs.in_pane(SERVER, PaneId("%0")) is second


@pytest.mark.parametrize("notice", [None, "You were reverted."])
def test_an_empty_message_is_refused(tmp_path: Path, notice: str | None) -> None:
    runs = HeadlessRuns()
    with pytest.raises(UsageError):
        asyncio.run(
            runs.send_message(runs.add("run", tmp_path / "run.in", SERVER, PaneId("%1")), " ", notice)
        )


def test_a_message_after_the_end_is_refused(tmp_path: Path) -> None:
    runs = HeadlessRuns()
    run = runs.add("run", tmp_path / "run.in", SERVER, PaneId("%1"))
    run.ending = True
    with pytest.raises(NoHeadlessRun, match="is ending"):
        asyncio.run(runs.send_message(run, "more"))


def test_panes_of_two_tmux_servers_with_the_same_number_are_told_apart(tmp_path: Path) -> None:
    runs, other = HeadlessRuns(), Address(Path("/tmp/tmux-0/other"))
    first = runs.add("first", tmp_path / "first.in", SERVER, PaneId("%0"))
    second = runs.add("second", tmp_path / "second.in", other, PaneId("%0"))
    assert runs.in_pane(SERVER, PaneId("%0")) is first
    assert runs.in_pane(other, PaneId("%0")) is second
    assert runs.in_pane(other, PaneId("%1")) is None


def test_a_server_is_the_same_through_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    runs = HeadlessRuns()
    run = runs.add("run", tmp_path / "run.in", Address(tmp_path / "link" / "default"), PaneId("%0"))
    assert runs.in_pane(Address(tmp_path / "real" / "default"), PaneId("%0")) is run


def test_a_run_whose_program_was_killed_has_ended_although_its_pipe_is_left(tmp_path: Path) -> None:
    runs, pipe = HeadlessRuns(), tmp_path / "run.in"
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    reader = os.open(pipe, os.O_RDWR)
    asyncio.run(runs.send_message(run, "begin"))
    assert run.is_running
    assert runs.take_ended() == []
    os.close(reader)
    assert not run.is_running
    assert runs.take_ended() == [run]
    assert runs.take_ended() == []
    assert run.describe_end() == "(its pane was closed or killed): it printed nothing"
    assert not pipe.exists()


@pytest.mark.parametrize(("code", "how"), [(1, "exit code 1"), (-9, "killed by signal 9")])
def test_how_a_run_ended_is_said_with_its_output(tmp_path: Path, code: int, how: str) -> None:
    runs = HeadlessRuns()
    run = runs.add("run", tmp_path / "run.in", SERVER, PaneId("%0"))
    exit_file(run.pipe).write_text(json.dumps({"code": code, "output": "no such session\n"}))
    with pytest.raises(NoHeadlessRun, match=rf"run has ended \({how}\): no such session"):
        runs.find("run")
    assert list(tmp_path.iterdir()) == []


def test_a_client_that_prints_only_how_its_turn_failed_never_worked(tmp_path: Path) -> None:
    runs = HeadlessRuns()
    run = runs.add("run", tmp_path / "run.in", SERVER, PaneId("%0"))
    asyncio.run(runs.feed(run, [TurnReported(SessionId("s"), None, error="no such session")]))
    with pytest.raises(RunEnded, match="ended at once"):
        asyncio.run(runs.wait_ready(run))


@pytest.mark.parametrize("sign", [ControlReplied("r", {}, None), SessionDescribed(SessionId("s"), "m")])
def test_a_client_that_answers_or_begins_a_turn_works(
    tmp_path: Path, sign: ControlReplied | SessionDescribed
) -> None:
    runs = HeadlessRuns()
    run = runs.add("run", tmp_path / "run.in", SERVER, PaneId("%0"))
    asyncio.run(runs.feed(run, [sign]))
    asyncio.run(runs.wait_ready(run))


def test_what_runs_left_is_removed_once_nobody_reads_it(tmp_path: Path) -> None:
    runs, alive, dead = HeadlessRuns(), tmp_path / "run-alive.in", tmp_path / "run-dead.in"
    for pipe in (alive, dead):
        os.mkfifo(pipe)
    exit_file(tmp_path / "run-old.in").touch()
    reader = os.open(alive, os.O_RDWR)
    runs.remove_leftovers(tmp_path)
    os.close(reader)
    assert list(tmp_path.iterdir()) == [alive]


def test_a_reader_that_is_stopped_holds_up_neither_the_loop_nor_its_end(tmp_path: Path) -> None:
    runs, pipe = HeadlessRuns(), tmp_path / "run.in"
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    reader = os.open(pipe, os.O_RDWR)  # and nobody reads from it

    async def send() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await runs.send_message(run, "x" * 1_000_000)

    asyncio.run(send())
    os.close(reader)


def test_a_long_line_arrives_whole_once_the_reader_goes_on(tmp_path: Path) -> None:
    runs, pipe = HeadlessRuns(), tmp_path / "run.in"
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    run.prefix = b"\n"  # an earlier watcher may have left a part of a line
    with os.fdopen(os.open(pipe, os.O_RDWR), "rb") as source:
        lines: list[bytes] = []

        def read() -> None:
            threading.Event().wait(0.05)
            lines.extend(source.readline() for _ in range(3))

        reader = threading.Thread(target=read)
        reader.start()
        asyncio.run(runs.send_message(run, "x" * 1_000_000))
        asyncio.run(runs.send_message(run, "y"))
        reader.join()
    assert lines[0] == b"\n"
    assert [json.loads(line)["message"]["content"][0] for line in lines[1:]] == ["x", "y"]
