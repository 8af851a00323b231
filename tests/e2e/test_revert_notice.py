"""The real client after a revert: the model gets a notice, and its next edit works."""

import pytest

from tests.e2e.scenarios import APP, edit, read, write
from tests.e2e.watched_session import MODES, WatchedSession
from tests.lab.script import Text
from tests.waiting import wait_for

pytestmark = pytest.mark.client

REVERTED, RESTORED = "The user reverted changes of yours", "The user restored changes of yours"


def edits(watched: WatchedSession) -> list[dict[str, object]]:
    return [entry for entry in watched.actions() if entry["tool"] == "Edit"]


def received(watched: WatchedSession) -> list[str]:
    """The notices in the newest request to the model."""
    texts = watched.client.model_server.messages()[-1].texts()
    return [text for text in texts if REVERTED in text or RESTORED in text]


@pytest.mark.parametrize("mode", ["hooked", "headless"])
def test_the_model_is_notified_of_a_revert_and_its_next_edit_works(
    watched: WatchedSession, mode: str
) -> None:
    MODES[mode](watched)
    watched.play("rename", [read("app.py")], [edit("app.py", "old", "new")], [Text("Renamed.")])
    wait_for(lambda: len(edits(watched)) == 1, what="the edit", seconds=60)

    done = watched.chorus("revert", str(edits(watched)[0]["n"]))
    assert done["notified"] == [edits(watched)[0]["session"]]
    assert (watched.project / "app.py").read_text() == APP
    watched.play("again", [read("app.py")], [edit("app.py", "old", "newer")], [Text("Renamed again.")])

    (said,) = received(watched)
    assert REVERTED in said
    assert "app.py" in said
    assert (watched.project / "app.py").read_text() == APP.replace("old", "newer")
    wait_for(lambda: len(edits(watched)) == 2, what="the second edit", seconds=60)
    assert [entry["status"] for entry in edits(watched)] == ["reverted", "committed"]
    if mode == "hooked":
        expect_silence_and_redo(watched, str(edits(watched)[1]["n"]))


def expect_silence_and_redo(watched: WatchedSession, number: str) -> None:
    assert watched.chorus("revert", number, "--no-notify")["notified"] == []
    watched.play("one more", [write("b.txt", "b\n")], [Text("Made b.")])
    assert len(received(watched)) == 1

    assert watched.chorus("redo", number)["notified"]
    watched.play("and now", [read("app.py")], [edit("app.py", "newer", "newest")], [Text("Changed it.")])
    assert [RESTORED in said for said in received(watched)] == [False, True]
    assert (watched.project / "app.py").read_text() == APP.replace("old", "newest")
