"""Two sessions in one work tree, and a tmux server that dies."""

from pathlib import Path
from typing import Any

import pytest

from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.scenarios import Say, edit, in_directory, read, write
from tests.e2e.watched_session import WatchedSession, run_git
from tests.lab.client import Client, say
from tests.lab.script import Text
from tests.lab.terminal import Terminal
from tests.repos import UserRepo
from tests.waiting import wait_for

pytestmark = pytest.mark.client

# Edits of each session; every second one is in a file both work on.
EDITS = 40


def lines(name: str) -> str:
    """Far enough apart that no line of one session touches a line of the other."""
    return "".join(f"{name} {number}\nfiller {number}\nmore {number}\n" for number in range(EDITS))


def script(watched: WatchedSession, who: str) -> list[list[Any]]:
    own = f"{who}.txt"
    turns: list[list[Any]] = [[read("shared.txt")], [read(own)]]
    for number in range(EDITS):
        path = "shared.txt" if number % 2 else own
        turns.append([edit(path, f"{who} {number}\n", f"{who} {number} changed\n")])
    turns.append([Text(f"{who} is done.")])
    return watched.script(*turns)


def test_two_sessions_in_one_work_tree_get_a_lane_each_with_only_their_own_changes(
    client: Client, terminal: Terminal
) -> None:
    one, two = WatchedSession(client, terminal), WatchedSession(client, terminal)
    project = client.project
    shared = "".join(a + b for a, b in zip(_thirds("ann"), _thirds("bob"), strict=True))
    for name, text in {"shared.txt": shared, "ann.txt": lines("ann"), "bob.txt": lines("bob")}.items():
        (project / name).write_text(text)
    UserRepo(project).commit("files to work on")
    one.start_hooked()
    two.start_hooked()
    try:
        for watched, who in ((one, "ann"), (two, "bob")):
            client.model_server.scripts[f"{who} begins"] = script(watched, who)
            assert watched.pane is not None
            say(watched.pane, f"{who} begins")
        for watched, who in ((one, "ann"), (two, "bob")):
            assert watched.pane is not None
            watched.pane.wait_for(f"{who} is done", seconds=180)
        wait_for(lambda: len(_edits(one)) == 2 * EDITS, what=f"{2 * EDITS} edits, not {len(_edits(one))}")

        lanes = one.chorus("lanes")
        assert len(lanes) == 2
        for who, other in (("ann", "bob"), ("bob", "ann")):
            lane = next(lane for lane in lanes if lane["name"].startswith(f"chorus/{who}-"))
            mine = [edit for edit in _edits(one) if edit["session"] == lane["session"]]
            lost = [edit for edit in mine if edit["status"] == "noop"]
            assert len(mine) == EDITS
            assert not [edit for edit in mine if edit["within"]]
            # Two clients that read the file at the same time overwrite each other, which the log shows.
            assert all("wrote over" in edit["reason"] for edit in lost)
            undone = [edit for edit in mine if edit["status"] == "undone"]
            assert len(lost) + len(undone) <= _unchanged(project, who)
            assert lane["actions"] == EDITS - len(lost)
            changed = run_git(project, "diff", lane["base"], lane["tip"]).stdout
            added = [line for line in changed.splitlines() if line.startswith("+") and "+++" not in line]
            assert len(added) == EDITS - len(lost), (who, len(added))
            assert not [line for line in added if other in line]
        assert UserRepo(project).fsck() == ""
    finally:
        stop(find_home(project))


def _thirds(who: str) -> list[str]:
    return [f"{who} {number}\nfiller-{who}-{number}\nmore-{who}-{number}\n" for number in range(EDITS)]


# An edit that the other client wrote over is still recorded; its change is gone from disk.
SUCCEEDED = {"committed", "noop", "undone"}


def _edits(watched: WatchedSession) -> list[dict[str, Any]]:
    """The edits that succeeded according to the client."""
    return [e for e in watched.actions() if e["tool"] == "Edit" and e["status"] in SUCCEEDED]


def _unchanged(project: Path, who: str) -> int:
    """How many edits of one session were lost from the shared file."""
    text = (project / "shared.txt").read_text()
    return sum(f"{who} {number} changed\n" not in text for number in range(1, EDITS, 2))


def test_status_is_correct_after_tmux_dies_and_attach_recovers(watched: WatchedSession) -> None:
    watched.start_adopted()
    made = [[in_directory(write("a.txt", "a\n"), watched.project)], [Text("Made a.")]]
    watched.say(Say("first", made))
    watched.terminal.stop()
    wait_for(
        lambda: all(s["state"] == "gone" for s in watched.chorus("status")["sessions"]),
        what="the sessions' end",
    )
    watched.start_adopted()
    again = [[in_directory(write("b.txt", "b\n"), watched.project)], [Text("Made b.")]]
    watched.say(Say("second", again))
    wait_for(
        lambda: [e["paths"] for e in watched.actions()] == [["a.txt"], ["b.txt"]],
        what="both files in the log",
    )
