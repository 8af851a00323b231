import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chorus.panel.plain import PlainLog
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import entry, prompt, session
from tests.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent


def lines(*messages: dict[str, Any]) -> list[str]:
    log = PlainLog()
    return [line for message in messages for line in log.feed(message)]


def test_an_action_is_one_line() -> None:
    printed = lines({"event": "action", "entry": entry(38)})
    assert printed == ["09:14 action 38 open Edit src/parser.py +8 -3: Count a tab to the next stop"]


def test_a_revert_is_done_and_a_reverted_action_that_had_landed_is_reverted() -> None:
    printed = lines(
        {"event": "action", "entry": entry(38, status="reverted", landed=True)},
        {"event": "action", "entry": entry(39, tool="Revert", reverts=["toolu_00038"])},
    )
    assert [line.split()[1:5] for line in printed] == [
        ["action", "38", "reverted", "Edit"],
        ["action", "39", "done", "Revert"],
    ]


def test_a_prompt_is_printed_with_the_commands_that_answer_it() -> None:
    assert lines({"event": "prompt", "prompt": prompt("p1")}) == [
        "09:21 prompt p1 Bash command: Do you want to proceed?",
        "  | rm -rf build && make -j4 test",
        "  | Run the tests from a clean tree",
        "  1 Yes: chorus approve p1",
        "  2 Yes, and don't ask again for make commands in /src/tinyparse: chorus approve p1 --always",
        "  3 No: chorus deny p1",
    ]


def test_the_option_that_takes_text_is_printed_with_its_command() -> None:
    options = [{"key": "1", "label": "Type something.", "meaning": "other"}]
    printed = lines({"event": "prompt", "prompt": prompt("p1", kind="question", options=options, words="1")})
    assert printed[-1] == "  1 Type something.: chorus answer p1 --text TEXT"


def test_without_a_session_the_log_says_how_to_start_one() -> None:
    empty = {"event": "snapshot", "sessions": [], "prompts": [], "lanes": []}
    assert lines(empty) == ["no session yet; start one: chorus claude"]
    session_event = {"event": "session", "session": session("s1")}
    assert not any("no session" in line for line in lines(session_event, empty))


def test_only_changes_are_printed() -> None:
    printed = lines(
        {"event": "action", "entry": entry(38)},
        {"event": "action", "entry": entry(38)},
        {"event": "action", "entry": entry(38, status="kept")},
        {"event": "action", "entry": entry(38, status="kept", landed=True)},
        {"event": "session", "session": session("s1")},
        {"event": "session", "session": session("s1", last="2026-01-02T09:30:00+00:00")},
        {"event": "session", "session": session("s1", state="waiting")},
        {"event": "prompt", "prompt": prompt("p1", body="", input=None, options=[])},
        {"event": "prompt-gone", "id": "p1", "why": "answered"},
    )
    assert [line.split(":", 2)[1][3:] for line in printed[:3]] == [
        "action 38 open Edit src/parser.py +8 -3",
        "action 38 kept Edit src/parser.py +8 -3",
        "action 38 landed Edit src/parser.py +8 -3",
    ]
    assert printed[3:] == [
        "09:21 session accept-tabs working",
        "09:21 session accept-tabs waiting for you",
        "09:21 prompt p1 Bash command: Do you want to proceed?",
        "prompt p1 answered",
    ]


def test_only_the_end_of_a_long_log_is_printed_and_nothing_twice() -> None:
    page: dict[str, Any] = {"event": "log", "entries": [entry(n) for n in range(1, 101)], "complete": True}
    log = PlainLog()
    first = list(log.feed(page))
    assert [line.split()[2] for line in first] == [str(n) for n in range(81, 101)]
    again: list[dict[str, Any]] = [
        {"event": "link", "state": "lost", "text": "gone"},
        {"event": "snapshot"},
        page,
    ]
    assert [line for message in again for line in log.feed(message)] == ["waiting for a watcher: gone"]
    older = {"event": "log", "entries": [entry(0)], "complete": True}
    assert not list(log.feed(older))


@pytest.mark.parametrize("where", ["summary", "tool", "status"])
def test_hostile_text_is_sanitized(where: str) -> None:
    (line,) = lines({"event": "action", "entry": entry(1, **{where: "\x1b]0;x\x07\u202e"})})
    assert line.isprintable()


def test_the_plain_log_runs_in_a_pipe_without_loading_the_toolkit(
    watcher: ScriptedWatcher, tmp_path: Path
) -> None:
    watcher.start()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    # A suite that runs in the background ignores interrupts, and so would what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "chorus", "panel", "--plain"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before)
    assert process.stdout is not None
    printed = [process.stdout.readline()]
    wait_for(lambda: watcher.subscribers or None)
    watcher.add_action(entry(99, summary="And one more"))
    while "And one more" not in printed[-1]:
        printed.append(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    _, about = process.communicate(timeout=20)
    watcher.stop()
    assert process.returncode == -signal.SIGINT
    assert "chorus.panel.plain" in about  # every module that was loaded
    assert "textual" not in about
    assert "session accept-tabs working\n" in printed[0]
    assert any("action 44 open Edit" in line for line in printed)
