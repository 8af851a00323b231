"""Each action carries the session it ran in, through /clear, --continue, --resume and --fork-session."""

from typing import Any

import pytest

from tests.e2e.scenarios import Say, bash, in_directory, write
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import say
from tests.lab.script import Text
from tests.waiting import wait_for

pytestmark = pytest.mark.client

REVERTED = "The user reverted changes of yours"
START = {
    "modded": WatchedSession.start_modded,
    "hooked": WatchedSession.start_hooked,
    "adopted": WatchedSession.start_adopted,
}


def make(watched: WatchedSession, name: str) -> dict[str, Any]:
    """Have the client write a file; return the log entry."""
    step = in_directory(write(f"{name}.txt", f"{name}\n"), watched.project)
    watched.say(Say(f"please make {name}", [[step], [Text(f"Made {name}.")]]))
    return recorded(watched, name)


def recorded(watched: WatchedSession, name: str) -> dict[str, Any]:
    def found() -> list[dict[str, Any]]:
        return [entry for entry in watched.actions() if entry["paths"] == [f"{name}.txt"]]

    wait_for(found, what=f"{name}.txt in the log", seconds=60)
    (entry,) = found()
    return entry


def clear(watched: WatchedSession, gone: str) -> None:
    assert watched.pane is not None
    watched.pane.type("/clear")
    watched.pane.wait_for(r"❯\s/clear")
    watched.pane.press("Enter")
    watched.pane.wait_gone(gone)


def notices(watched: WatchedSession) -> list[str]:
    """The notices in the newest request to the model."""
    texts = watched.client.model_server.messages()[-1].texts()
    return [text for text in texts if REVERTED in text]


@pytest.mark.parametrize("mode", START)
def test_each_action_carries_its_session_and_each_session_has_its_lane(
    watched: WatchedSession, mode: str
) -> None:
    START[mode](watched)
    first = make(watched, "a")
    clear(watched, "Made a")
    cleared = make(watched, "b")
    assert cleared["session"] != first["session"]
    # The cleared session knows nothing of the file, so nobody is notified until the first one is resumed.
    assert watched.chorus("revert", str(first["n"]))["notified"] == []
    assert make(watched, "c")["session"] == cleared["session"]
    assert notices(watched) == []
    watched.leave()

    START[mode](watched, "--continue")
    assert make(watched, "d")["session"] == cleared["session"]
    watched.leave()

    START[mode](watched, "--resume", first["session"])
    resumed = make(watched, "e")
    assert (resumed["session"], resumed["lane"]) == (first["session"], first["lane"])
    assert len(notices(watched)) == (mode != "adopted")
    watched.leave()

    START[mode](watched, "--resume", first["session"], "--fork-session")
    forked = make(watched, "f")
    sessions = [first["session"], cleared["session"], forked["session"]]
    assert [lane["session"] for lane in watched.chorus("lanes")] == sessions
    assert [lane["actions"] for lane in watched.chorus("lanes")] == [3, 3, 1]
    known = {session["id"]: session["parent"] for session in watched.chorus("status")["sessions"]}
    assert [known[session] for session in sessions] == [None, first["session"], first["session"]]


@pytest.mark.parametrize("mode", START)
def test_a_second_client_in_the_same_session_ends_no_call_of_the_first(
    watched: WatchedSession, mode: str
) -> None:
    """The second one even writes into the transcript that the running call was interrupted."""
    START[mode](watched)
    first = make(watched, "a")
    assert watched.pane is not None
    go = watched.client.home / "go"
    slow = bash(f"until [ -e {go} ]; do sleep 0.05; done; echo slow > slow.txt")
    watched.client.model_server.scripts["be slow"] = [[slow], [Text("Made it.")]]
    watched.send("be slow")
    watched.pane.wait_for("go ")
    second = WatchedSession(watched.client, watched.terminal)
    START[mode](second, "--resume", first["session"])
    make(second, "b")
    assert second.pane is not None
    say(second.pane, "/exit")
    pane = second.pane.id
    wait_for(
        lambda: pane not in watched.terminal.tmux("list-panes", "-a", "-F", "#{pane_id}").split(),
        what="the end of the second client",
        seconds=60,
    )
    go.touch()
    watched.wait_for_answer("Made it.")
    make(watched, "c")
    found = [(e["tool"], e["status"], e["paths"]) for e in watched.actions()]
    made = [("Write", "a"), ("Write", "b"), ("Bash", "slow"), ("Write", "c")]
    assert found == [(tool, "committed", [f"{name}.txt"]) for tool, name in made]
    assert {e["session"] for e in watched.actions()} == {first["session"]}
