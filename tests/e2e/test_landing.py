"""Landing the work of the real client: what fits lands, on the branch that is asked for."""

import subprocess

import pytest

from tests.e2e.scenarios import Say, edit, in_directory, read
from tests.e2e.watched_session import MODES, WatchedSession
from tests.lab.script import Text
from tests.waiting import wait_for

pytestmark = pytest.mark.client

LINES = "one\ntwo\nthree\nfour\nfive\nsix\n"


def test_fitting_actions_land_on_each_branch_and_again_after_a_reset(watched: WatchedSession) -> None:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=watched.project, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    file = watched.project / "n.txt"
    file.write_text(LINES)
    git("add", "n.txt")
    git("commit", "-q", "-m", "Numbers")
    file.write_text(LINES.replace("two", "mine").replace("six", "private"))
    MODES["headless"](watched)
    script: list[list[object]] = [
        [read("n.txt")],
        [edit("n.txt", "mine", "theirs")],
        [edit("n.txt", "five", "5")],
        [Text("Changed.")],
    ]
    watched.say(Say("change", [[in_directory(step, watched.project) for step in turn] for turn in script]))

    def edits() -> list[dict[str, object]]:
        return [entry for entry in watched.actions() if entry["tool"] == "Edit"]

    wait_for(lambda: len(edits()) == 2, what="both edits", seconds=60)
    blocked, free = edits()
    lane, disk = str(free["lane"]), file.read_text()

    done = watched.chorus("land", lane)
    assert [commit["actions"] for commit in done["commits"]] == [[free["n"]]]
    assert [(place["n"], place["line"], place["why"]) for place in done["left"]] == [
        (blocked["n"], 2, "context")
    ]
    assert done["left"][0]["reason"] == 'line 2 of n.txt builds on your uncommitted line "mine"'
    assert git("show", "HEAD:n.txt") == LINES.replace("five", "5")
    assert [entry["status"] for entry in edits()] == ["committed", "landed"]

    done = watched.chorus("land", lane, "--onto", "feature", "--with-context", "--by", "action")
    assert done["created"]
    assert git("show", "feature:n.txt") == LINES.replace("five", "5").replace("two", "theirs")
    assert git("show", "feature~1:n.txt") == LINES.replace("five", "5").replace("two", "mine")

    git("branch", "-D", "feature")
    git("reset", "-q", "--soft", "HEAD~1")
    git("reset", "-q")
    assert [entry["status"] for entry in edits()] == ["committed", "committed"]
    done = watched.chorus("land", lane, str(free["n"]), "--fixup", "HEAD")
    assert git("log", "-1", "--format=%s") == "Numbers\n"
    assert git("show", "HEAD:n.txt") == LINES.replace("five", "5")
    assert git("diff", "--cached") == ""
    assert file.read_text() == disk
