"""What the real client's rewind and the user's git take away is undone."""

from typing import Any

import pytest

from tests.e2e.scenarios import Say, edit, in_directory, read, write
from tests.e2e.watched_session import MODES, WatchedSession, run_git
from tests.lab.client import say
from tests.lab.script import Text
from tests.waiting import wait_for

pytestmark = pytest.mark.client


def steps(watched: WatchedSession, *turns: list[Any]) -> list[list[Any]]:
    return [[in_directory(step, watched.project) for step in turn] for turn in turns]


@pytest.mark.parametrize("mode", ["modded", "hooked", "adopted"])
def test_a_rewind_and_a_checkout_undo_actions(watched: WatchedSession, mode: str) -> None:
    MODES[mode](watched)
    assert watched.pane is not None
    change: list[list[Any]] = [[read("app.py")], [edit("app.py", "old", "new")], [Text("Changed it.")]]
    watched.say(Say("begin", steps(watched, *change)))
    watched.say(Say("first", steps(watched, [write("a.txt", "a\n")], [Text("Made a.")])))
    wait_for(lambda: [e["status"] for e in watched.actions()] == ["committed"] * 2, what="both", seconds=60)
    # Escape twice does the same, but only when both come close together.
    say(watched.pane, "/rewind")
    watched.pane.wait_settled("Rewind")
    watched.pane.press("Up")
    watched.pane.press("Enter")
    watched.pane.wait_settled("Restore code")
    watched.pane.press("1")
    wait_for(lambda: not (watched.project / "a.txt").exists(), what="the rewind")
    wait_for(
        lambda: any(e["status"] == "outside" and e["paths"] == ["a.txt"] for e in watched.log("--outside")),
        what="the record of the rewind",
    )
    assert [by for _, by in undone(watched)] == ["rewind"]
    run_git(watched.project, "checkout", "--", "app.py")
    wait_for(
        lambda: [by for _, by in undone(watched)] == ["git", "rewind"], what="the record of the checkout"
    )
    assert [lane["open"] for lane in watched.chorus("lanes")] == [0]


def undone(watched: WatchedSession) -> list[tuple[int, str]]:
    return [(entry["n"], entry["undone"]["by"]) for entry in watched.log("--status", "undone")]
