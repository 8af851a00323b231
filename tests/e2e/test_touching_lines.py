"""The real client beside a user's uncommitted lines that touch the agent's."""

import subprocess

import pytest

from tests.e2e.scenarios import Say, edit, in_directory, read
from tests.e2e.watched_session import MODES, WatchedSession
from tests.lab.script import Text
from tests.waiting import wait_for

pytestmark = pytest.mark.client


@pytest.mark.parametrize("mode", ["hooked", "headless"])
def test_a_users_line_beside_the_agents_stays_off_lane_and_branch(watched: WatchedSession, mode: str) -> None:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=watched.project, capture_output=True, text=True)
        return done.stdout

    file = watched.project / "n.txt"
    file.write_text("one\ntwo\nthree\n")
    git("add", "n.txt")
    git("commit", "-q", "-m", "Numbers")
    file.write_text("ONE\ntwo\nTHREE\n")
    MODES[mode](watched)
    script: list[list[object]] = [[read("n.txt")], [edit("n.txt", "two", "2")], [Text("Changed.")]]
    watched.say(Say("change", [[in_directory(step, watched.project) for step in turn] for turn in script]))

    def edits() -> list[dict[str, object]]:
        return [entry for entry in watched.actions() if entry["tool"] == "Edit"]

    wait_for(lambda: len(edits()) == 1, what="the edit", seconds=60)
    (entry,) = edits()
    assert git("show", f"{entry['lane']}:n.txt") == "one\n2\nthree\n"
    watched.chorus("land", str(entry["lane"]))
    assert git("show", "HEAD:n.txt") == "one\n2\nthree\n"
    watched.chorus("revert", str(entry["n"]))
    assert file.read_text() == "ONE\ntwo\nTHREE\n"
