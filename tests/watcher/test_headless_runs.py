"""Messages to headless sessions, also to one that is still starting."""

import asyncio
import json
import os
import threading
from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.watcher.panes.headless_runs import HeadlessRuns, NoHeadlessRun


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
        is_running.send_message(is_running.add("run", pipe, PaneId("%1")), "begin", "You were taken back.")
    )
    reader.join()
    content = json.loads(heard[0])["message"]["content"]
    assert [block["text"] for block in content] == ["You were taken back.", "begin"]


def test_sending_to_an_ended_session_says_that_it_has_ended(tmp_path: Path) -> None:
    is_running = HeadlessRuns()
    run = is_running.add("run", tmp_path / "run.in", PaneId("%1"))
    with pytest.raises(NoHeadlessRun):
        asyncio.run(is_running.send_message(run, "anybody?"))
