"""Denials, temporary hooks, resume, kills. Nothing is lost or duplicated."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.scenarios import APP, Say, edit, in_directory, read, write
from tests.e2e.watched_session import MODES, WatchedSession, run_git
from tests.lab.client import INPUT_BOX, Client, say
from tests.lab.client_behavior import ClientBehavior
from tests.lab.script import Text, WaitFor
from tests.lab.terminal import Terminal
from tests.repos import UserRepo
from tests.waiting import wait_for

pytestmark = pytest.mark.client


@pytest.fixture
def watched(client: Client, terminal: Terminal) -> Iterator[WatchedSession]:
    repo = UserRepo(client.project)
    before = repo.fingerprint()
    yield WatchedSession(client, terminal)
    stop(find_home(client.project))
    after = repo.fingerprint()
    assert (after["refs"], after["git dir"]) == (before["refs"], before["git dir"])
    assert repo.fsck() == ""


def script(project: Path, *turns: list[Any]) -> list[list[Any]]:
    return [[in_directory(step, project) for step in turn] for turn in turns]


def facts(watched: WatchedSession) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(entry["tool"], entry["status"], tuple(entry["paths"])) for entry in watched.actions()]


def expect(watched: WatchedSession, *wanted: tuple[str, str, tuple[str, ...]]) -> None:
    found: list[tuple[str, str, tuple[str, ...]]] = []

    def same() -> bool:
        found[:] = facts(watched)
        return found == list(wanted)

    try:
        wait_for(same, seconds=60)
    except AssertionError:
        raise AssertionError(f"{found} is not {list(wanted)}") from None


START = {
    "modded": WatchedSession.start_modded,
    "hooked": WatchedSession.start_hooked,
    "adopted": WatchedSession.start_adopted,
}


@pytest.mark.parametrize("mode", START)
def test_a_denied_edit_is_recorded_as_denied_and_changes_nothing(watched: WatchedSession, mode: str) -> None:
    START[mode](watched, "--permission-mode", "default")
    assert watched.pane is not None
    watched.client.model_server.scripts["try"] = script(
        watched.project, [read("app.py")], [edit("app.py", "old", "x")]
    )
    say(watched.pane, "try it")
    watched.pane.wait_settled(r"Do you want to make this edit[\s\S]*3\. No")
    watched.pane.press("3")
    watched.pane.wait_for(INPUT_BOX)
    expect(watched, ("Edit", "denied", ("app.py",)))
    assert (watched.project / "app.py").read_text() == APP
    assert watched.chorus("lanes") == []


def test_hooks_lent_to_a_running_client_are_used_and_removed_again(
    watched: WatchedSession, behavior: ClientBehavior
) -> None:
    if not behavior.sees_new_settings_directory:
        (watched.project / ".claude").mkdir()
    watched.start_adopted()
    watched.chorus("attach", "--hooks", "-L", watched.terminal.name)
    settings = watched.project / ".claude" / "settings.local.json"
    assert settings.exists()
    said = 0

    def recorded_by_hook() -> bool:
        nonlocal said
        said += 1
        made = script(watched.project, [write(f"f{said}.txt", "x\n")], [Text(f"Made {said}.")])
        watched.say(Say(f"go {said}.", made))
        wait_for(lambda: len(watched.actions()) == said, what="the action", seconds=60)
        return any(entry["source"] == "hook" for entry in watched.actions())

    wait_for(recorded_by_hook, what="an action reported by a hook", seconds=60)
    watched.leave()
    wait_for(lambda: not settings.parent.exists(), what="the settings as they were", seconds=60)


@pytest.mark.parametrize("mode", MODES)
def test_a_resumed_session_continues_its_lane_and_repeats_nothing(watched: WatchedSession, mode: str) -> None:
    MODES[mode](watched)
    watched.say(Say("first", script(watched.project, [write("a.txt", "a\n")], [Text("Made a.")])))
    expect(watched, ("Write", "committed", ("a.txt",)))
    session = watched.actions()[0]["session"]
    watched.leave()
    if mode == "headless":
        watched.resume = session
    else:
        START[mode](watched, "--resume", session)
    watched.say(Say("second", script(watched.project, [write("b.txt", "b\n")], [Text("Made b.")])))
    expect(watched, ("Write", "committed", ("a.txt",)), ("Write", "committed", ("b.txt",)))
    assert len(watched.chorus("lanes")) == 1


@pytest.mark.parametrize("mode", MODES)
def test_the_actions_of_a_client_killed_during_a_turn_are_kept(watched: WatchedSession, mode: str) -> None:
    never = threading.Event()
    MODES[mode](watched)
    turns = script(watched.project, [write("a.txt", "a\n")], [WaitFor(never), Text("Never said.")])
    watched.client.model_server.scripts["begin"] = turns
    watched.send("begin")
    wait_for((watched.project / "a.txt").exists, what="the file", seconds=60)
    os.kill(watched.client_pid(), signal.SIGKILL)
    wait_for(lambda: _gone(watched), what="the session's end", seconds=60)
    if mode == "headless" or _is_in_transcript(
        watched, "a.txt"
    ):  # a headless client prints a call before it runs
        expect(watched, ("Write", "committed", ("a.txt",)))
    else:
        # A file whose call the client told nobody before it died has no known author.
        wait_for(lambda: "a.txt" in str(watched.log("--outside")), what="the file in the log", seconds=60)
        (entry,) = [entry for entry in watched.log("--outside") if "a.txt" in entry["paths"]]
        assert (entry["tool"], entry["status"]) in [("Write", "committed"), (None, "outside")]


def _is_in_transcript(watched: WatchedSession, path: str) -> bool:
    """Whether the client has written a call that names the path."""
    transcripts = (watched.client.home / ".claude" / "projects").rglob("*.jsonl")
    lines = [line for transcript in transcripts for line in transcript.read_text().splitlines()]
    return any('"tool_use"' in line and path in line for line in lines)


def _gone(watched: WatchedSession) -> bool:
    return all(session["state"] == "gone" for session in watched.chorus("status")["sessions"])


def test_a_watcher_killed_again_and_again_loses_and_duplicates_nothing(watched: WatchedSession) -> None:
    watched.start_hooked()
    count = 12
    turns = [[write(f"f{n}.txt", f"{n}\n")] for n in range(count)]
    watched.client.model_server.scripts["many"] = script(watched.project, *turns, [Text("All made.")])
    assert watched.pane is not None
    say(watched.pane, "many files")
    home = find_home(watched.project)
    for _ in range(6):
        pid = wait_for(lambda: _watcher_pid(home.lock), what="the watcher")
        os.kill(pid, signal.SIGKILL)
        watched.log()
        subprocess.run(
            [sys.executable, "-m", "chorus", "attach", "-L", watched.terminal.name],
            cwd=watched.project,
            env=watched.environment(),
            capture_output=True,
        )
    watched.pane.wait_for("All made")
    expect(watched, *[("Write", "committed", (f"f{n}.txt",)) for n in range(count)])
    repo = UserRepo(watched.project)
    assert repo.fsck() == ""
    lane = watched.chorus("lanes")[0]
    assert (
        run_git(watched.project, "rev-list", "--count", f"{lane['base']}..{lane['tip']}").stdout.strip()
        == "12"
    )


def _watcher_pid(lock: Path) -> int | None:
    text = lock.read_text() if lock.exists() else ""
    return int(text) if text.strip() else None
