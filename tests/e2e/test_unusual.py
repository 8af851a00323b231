"""What does not go by the book: background work, denials, rewinds, kills. Nothing lost, nothing doubled."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.client import stop
from chorus.wire.home import find_home
from tests.e2e.scenarios import APP, Say, edit, in_directory, read, write
from tests.e2e.watching import MODES, Watching, run_git
from tests.lab.client import INPUT_BOX, Client, say
from tests.lab.habits import Habits
from tests.lab.script import Text, WaitFor
from tests.lab.terminal import Terminal
from tests.repos import UserRepo
from tests.waiting import wait_for

pytestmark = pytest.mark.client


@pytest.fixture
def watching(client: Client, terminal: Terminal) -> Iterator[Watching]:
    repo = UserRepo(client.project)
    before = repo.fingerprint()
    yield Watching(client, terminal)
    stop(find_home(client.project))
    after = repo.fingerprint()
    assert (after["refs"], after["git dir"]) == (before["refs"], before["git dir"])
    assert repo.fsck() == ""


def script(project: Path, *turns: list[Any]) -> list[list[Any]]:
    return [[in_directory(step, project) for step in turn] for turn in turns]


def facts(watching: Watching) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(entry["tool"], entry["status"], tuple(entry["paths"])) for entry in watching.actions()]


def expect(watching: Watching, *wanted: tuple[str, str, tuple[str, ...]]) -> None:
    found: list[tuple[str, str, tuple[str, ...]]] = []

    def same() -> bool:
        found[:] = facts(watching)
        return found == list(wanted)

    try:
        wait_for(same, seconds=60)
    except AssertionError:
        raise AssertionError(f"{found} is not {list(wanted)}") from None


START = {"hooked": Watching.start_hooked, "adopted": Watching.start_adopted}


@pytest.mark.parametrize("mode", START)
def test_a_denied_edit_is_noted_as_denied_and_changes_nothing(watching: Watching, mode: str) -> None:
    START[mode](watching, "--permission-mode", "default")
    assert watching.pane is not None
    watching.client.stub.scripts["try"] = script(
        watching.project, [read("app.py")], [edit("app.py", "old", "x")]
    )
    say(watching.pane, "try it")
    watching.pane.wait_settled(r"Do you want to make this edit[\s\S]*3\. No")
    watching.pane.press("3")
    watching.pane.wait_for(INPUT_BOX)
    expect(watching, ("Edit", "denied", ("app.py",)))
    assert (watching.project / "app.py").read_text() == APP
    assert watching.chorus("lanes") == []


def test_hooks_lent_to_a_running_client_are_used_and_taken_out_again(
    watching: Watching, habits: Habits
) -> None:
    if not habits.sees_new_settings_directory:
        (watching.project / ".claude").mkdir()
    watching.start_adopted()
    watching.chorus("attach", "--hooks", "-L", watching.terminal.name)
    settings = watching.project / ".claude" / "settings.local.json"
    assert settings.exists()
    said = 0

    def told_by_a_hook() -> bool:
        nonlocal said
        said += 1
        made = script(watching.project, [write(f"f{said}.txt", "x\n")], [Text(f"Made {said}.")])
        watching.say(Say(f"go {said}.", made))
        wait_for(lambda: len(watching.actions()) == said, what="the action", seconds=60)
        return any(entry["source"] == "hook" for entry in watching.actions())

    wait_for(told_by_a_hook, what="an action told of by a hook", seconds=60)
    watching.leave()
    wait_for(lambda: not settings.parent.exists(), what="the settings as they were", seconds=60)


@pytest.mark.parametrize("mode", START)
def test_clear_begins_a_new_session_that_is_watched_too(watching: Watching, mode: str) -> None:
    START[mode](watching)
    assert watching.pane is not None
    watching.say(Say("first", script(watching.project, [write("a.txt", "a\n")], [Text("Made a.")])))
    watching.pane.type("/clear")
    watching.pane.wait_for(r"❯\s/clear")
    watching.pane.press("Enter")
    watching.pane.wait_gone("Made a")
    watching.say(Say("second", script(watching.project, [write("b.txt", "b\n")], [Text("Made b.")])))
    expect(watching, ("Write", "committed", ("a.txt",)), ("Write", "committed", ("b.txt",)))


@pytest.mark.parametrize("mode", MODES)
def test_a_resumed_session_goes_on_its_lane_and_repeats_nothing(watching: Watching, mode: str) -> None:
    MODES[mode](watching)
    watching.say(Say("first", script(watching.project, [write("a.txt", "a\n")], [Text("Made a.")])))
    expect(watching, ("Write", "committed", ("a.txt",)))
    session = watching.actions()[0]["session"]
    watching.leave()
    if mode == "headless":
        watching.resume = session
    else:
        START[mode](watching, "--resume", session)
    watching.say(Say("second", script(watching.project, [write("b.txt", "b\n")], [Text("Made b.")])))
    expect(watching, ("Write", "committed", ("a.txt",)), ("Write", "committed", ("b.txt",)))
    assert len(watching.chorus("lanes")) == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_client_killed_in_the_middle_of_a_turn_leaves_what_it_had_done(
    watching: Watching, mode: str
) -> None:
    never = threading.Event()
    MODES[mode](watching)
    turns = script(watching.project, [write("a.txt", "a\n")], [WaitFor(never), Text("Never said.")])
    watching.client.stub.scripts["begin"] = turns
    watching.send("begin")
    wait_for((watching.project / "a.txt").exists, what="the file", seconds=60)
    os.kill(watching.client_pid(), signal.SIGKILL)
    wait_for(lambda: _gone(watching), what="the session's end", seconds=60)
    if mode == "adopted":
        # The client may have died before it wrote its transcript: then nobody can tell whose file it is.
        wait_for(lambda: "a.txt" in str(watching.log("--outside")), what="the file in the log", seconds=60)
    else:
        expect(watching, ("Write", "committed", ("a.txt",)))


def _gone(watching: Watching) -> bool:
    return all(session["state"] == "gone" for session in watching.chorus("status")["sessions"])


@pytest.mark.parametrize("mode", ["hooked", "adopted"])
def test_a_rewind_is_recorded_as_outside(watching: Watching, mode: str) -> None:
    MODES[mode](watching)
    assert watching.pane is not None
    watching.say(Say("first", script(watching.project, [write("a.txt", "a\n")], [Text("Made a.")])))
    expect(watching, ("Write", "committed", ("a.txt",)))
    # Escape twice does the same, but counts only when both come close together.
    say(watching.pane, "/rewind")
    watching.pane.wait_settled("Rewind")
    watching.pane.press("Up")
    watching.pane.press("Enter")
    watching.pane.wait_settled("Restore code")
    watching.pane.press("1")
    wait_for(lambda: not (watching.project / "a.txt").exists(), what="the rewind")
    wait_for(
        lambda: any(e["status"] == "outside" and e["paths"] == ["a.txt"] for e in watching.log("--outside")),
        what="the record of the rewind",
    )


def test_the_agent_killed_again_and_again_loses_and_doubles_nothing(watching: Watching) -> None:
    watching.start_hooked()
    count = 12
    turns = [[write(f"f{n}.txt", f"{n}\n")] for n in range(count)]
    watching.client.stub.scripts["many"] = script(watching.project, *turns, [Text("All made.")])
    assert watching.pane is not None
    say(watching.pane, "many files")
    home = find_home(watching.project)
    for _ in range(6):
        pid = wait_for(lambda: _agent_pid(home.lock), what="an agent")
        os.kill(pid, signal.SIGKILL)
        watching.log()
        subprocess.run(
            [sys.executable, "-m", "chorus", "attach", "-L", watching.terminal.name],
            cwd=watching.project,
            env=watching.environment(),
            capture_output=True,
        )
    watching.pane.wait_for("All made")
    expect(watching, *[("Write", "committed", (f"f{n}.txt",)) for n in range(count)])
    repo = UserRepo(watching.project)
    assert repo.fsck() == ""
    lane = watching.chorus("lanes")[0]
    assert (
        run_git(watching.project, "rev-list", "--count", f"{lane['base']}..{lane['tip']}").stdout.strip()
        == "12"
    )


def _agent_pid(lock: Path) -> int | None:
    text = lock.read_text() if lock.exists() else ""
    return int(text) if text.strip() else None
