"""Messages to headless sessions, also to one that is still starting."""

import asyncio
import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from chorus.errors import UsageError
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import (
    ControlAsked,
    ControlReplied,
    MessageDelivered,
    SessionDescribed,
    TurnReported,
)
from chorus.tmux.address import Address
from chorus.watcher.panes import headless_runs
from chorus.watcher.panes.headless_runs import HeadlessRuns, InputNotRead, NoHeadlessRun, RunEnded
from chorus.watcher.panes.stdin_feeder import CUT, END, exit_file

SECONDS = 30.0
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
            is_running.add("run", pipe, SERVER, PaneId("%1")), "begin", "An action was reverted."
        )
    )
    reader.join()
    content = json.loads(heard[0])["message"]["content"]
    assert [block["text"] for block in content] == ["An action was reverted.", "begin"]


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


def test_a_client_in_the_pane_of_a_run_that_has_ended_is_another(tmp_path: Path) -> None:
    runs = HeadlessRuns()
    run = runs.add("run", tmp_path / "run.in", SERVER, PaneId("%0"))
    os.mkfifo(run.pipe)
    assert runs.running_in_pane(SERVER, PaneId("%0")) is run
    run.read_end()
    assert runs.running_in_pane(SERVER, PaneId("%0")) is None
    assert runs.in_pane(SERVER, PaneId("%0")) is run
    assert runs.running_in_pane(SERVER, PaneId("%1")) is None


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


def test_a_run_is_found_by_its_name_pane_or_the_beginning_of_its_session_id(tmp_path: Path) -> None:
    runs = HeadlessRuns()
    for name in ("first", "second"):
        os.mkfifo(tmp_path / f"{name}.in")
        added = runs.add(name, tmp_path / f"{name}.in", SERVER, PaneId(f"%{len(runs.all)}"))
        added.session = SessionId(f"{name}-0123456789")
    for name in ("second", "%1", "second-0", "second-0123456789"):
        assert runs.find(name).name == "second"
    with pytest.raises(NoHeadlessRun, match="no headless session sec is running"):
        runs.find("sec")
    with pytest.raises(NoHeadlessRun) as several:
        runs.find(None)
    assert (
        several.value.hint
        == "Give one of them with --run: first (session first-01), second (session second-0)."
    )


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


def test_files_of_ended_runs_are_removed_once_nobody_reads_them(tmp_path: Path) -> None:
    runs, alive, dead = HeadlessRuns(), tmp_path / "run-alive.in", tmp_path / "run-dead.in"
    for pipe in (alive, dead):
        os.mkfifo(pipe)
    exit_file(tmp_path / "run-old.in").touch()
    reader = os.open(alive, os.O_RDWR)
    runs.remove_leftovers(tmp_path)
    os.close(reader)
    assert list(tmp_path.iterdir()) == [alive]


def test_a_client_that_does_not_react_is_interrupted_ever_more_strongly(tmp_path: Path) -> None:
    runs, pipe = HeadlessRuns(), tmp_path / "run.in"
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    with pytest.raises(RunEnded, match="does not react to SIGTERM"):
        asyncio.run(runs.interrupt(run, 0.05))
    first, *signals = map(json.loads, os.read(reader, 2**16).splitlines())
    assert first["request"] == {"subtype": "interrupt"}
    assert [line["signal"] for line in signals] == ["SIGINT", "SIGTERM"]

    async def react() -> str:
        interrupting = asyncio.create_task(runs.interrupt(run, SECONDS))
        await asyncio.sleep(0)
        await runs.feed(run, [TurnReported(SessionId("s"), None, error="interrupted")])
        return await interrupting

    assert asyncio.run(react()) == "request"
    os.close(reader)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        (ControlAsked(None, "r", "mcp_message", "none", {}), "there is no MCP server 'none'"),
        (ControlAsked(None, "r", "mcp_message"), "Chorus does not support the request mcp_message"),
        (ControlAsked(None, "r", "something_new"), "Chorus does not support the request something_new"),
    ],
)
def test_a_request_that_nobody_answers_gets_a_protocol_error(
    tmp_path: Path, asked: ControlAsked, error: str
) -> None:
    runs, pipe = HeadlessRuns(), tmp_path / "run.in"
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    asyncio.run(runs.feed(run, [asked]))
    reply = json.loads(os.read(reader, 2**16))
    os.close(reader)
    assert reply["response"] == {"subtype": "error", "request_id": "r", "error": error}


async def test_the_input_is_closed_when_every_message_is_read_and_the_turn_is_over(tmp_path: Path) -> None:
    runs, pipe, idle = HeadlessRuns(), tmp_path / "run.in", [True]
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    sent = await runs.send_message(run, "begin")
    ending = asyncio.create_task(runs.end(run, lambda: idle[0]))

    async def is_closed() -> bool:
        await asyncio.sleep(3 * headless_runs.POLL_SECONDS)
        return run.closed

    assert not await is_closed()
    idle[0] = False
    await runs.feed(run, [MessageDelivered(SessionId("s"), None, sent)])
    assert not await is_closed()
    idle[0] = True
    await asyncio.wait_for(ending, SECONDS)
    assert os.read(reader, 2**16).endswith(END)
    os.close(reader)


async def test_a_message_that_the_client_never_says_it_read_delays_the_end_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headless_runs, "UNREAD_SECONDS", 0.1)
    runs, pipe = HeadlessRuns(), tmp_path / "run.in"
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    await runs.send_message(run, "/compact")
    await asyncio.wait_for(runs.end(run, lambda: True), SECONDS)
    assert run.closed
    os.close(reader)


async def read_until_end(pipe: int) -> list[bytes]:
    """The lines up to the end, without those that were given up halfway."""
    text = b""
    while not text.endswith(END):
        with suppress(BlockingIOError):
            text += os.read(pipe, 2**20)
        await asyncio.sleep(0)
    return [line for line in text.splitlines(keepends=True) if not line.endswith(CUT)]


def test_a_program_that_is_stopped_blocks_nothing_and_gets_no_half_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headless_runs, "WRITE_TIMEOUT_SECONDS", 0.1)
    runs, pipe = HeadlessRuns(), tmp_path / "run.in"
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)

    async def send_to_stopped() -> list[bytes]:
        for send in (runs.send_message(run, "x" * 200_000), runs.end(run, lambda: True)):
            with pytest.raises(InputNotRead, match="run does not read its input"):
                await send
        assert not run.ending
        reading = asyncio.create_task(read_until_end(reader))  # it goes on
        await runs.send_message(run, "y" * 200_000)
        run.unread.clear()
        await runs.end(run, lambda: True)
        return await reading

    message, end = asyncio.run(send_to_stopped())
    assert json.loads(message)["message"]["content"] == "y" * 200_000
    assert end == END
    os.close(reader)


def test_a_stop_ends_the_wait_for_a_program_that_reads_nothing(tmp_path: Path) -> None:
    runs, pipe = HeadlessRuns(), tmp_path / "run.in"
    os.mkfifo(pipe)
    run = runs.add("run", pipe, SERVER, PaneId("%0"))
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)

    async def cancel() -> None:
        sending = asyncio.create_task(runs.send_message(run, "x" * 200_000))
        while not run.is_cut:
            await asyncio.sleep(0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

    began = time.monotonic()
    asyncio.run(cancel())
    assert time.monotonic() - began < headless_runs.WRITE_TIMEOUT_SECONDS
    os.close(reader)


async def test_a_client_whose_output_arrives_after_its_end_was_ready(tmp_path: Path) -> None:
    runs = HeadlessRuns()
    run = runs.add("run", tmp_path / "gone.in", SERVER, PaneId("%0"))
    waiting = asyncio.create_task(runs.wait_ready(run))
    await asyncio.sleep(3 * headless_runs.POLL_SECONDS)
    await runs.feed(run, [SessionDescribed(SessionId("s"))])
    await asyncio.wait_for(waiting, SECONDS)


async def test_a_client_that_ended_without_a_word_could_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headless_runs, "OUTPUT_SECONDS", 0.05)
    runs = HeadlessRuns()
    with pytest.raises(RunEnded, match="the client of run ended at once"):
        await runs.wait_ready(runs.add("run", tmp_path / "gone.in", SERVER, PaneId("%0")))
