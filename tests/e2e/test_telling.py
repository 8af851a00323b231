"""The real client after a revert: the model hears what was taken back, and its next edit works."""

from collections.abc import Iterator

import pytest

from chorus.wire.client import stop
from chorus.wire.home import find_home
from tests.e2e.scenarios import APP, Say, edit, in_directory, read, write
from tests.e2e.watching import MODES, Watching
from tests.lab.client import Client
from tests.lab.script import Text
from tests.lab.terminal import Terminal
from tests.waiting import wait_for

pytestmark = pytest.mark.client

REVERTED, RESTORED = "The user reverted changes of yours", "The user restored changes of yours"


@pytest.fixture
def watching(client: Client, terminal: Terminal) -> Iterator[Watching]:
    yield Watching(client, terminal)
    stop(find_home(client.project))


def do(watching: Watching, message: str, *turns: list[object]) -> None:
    script = [[in_directory(step, watching.project) for step in turn] for turn in turns]
    watching.say(Say(message, script))


def edits(watching: Watching) -> list[dict[str, object]]:
    return [entry for entry in watching.actions() if entry["tool"] == "Edit"]


def heard(watching: Watching) -> list[str]:
    """What Chorus said to the model, by the newest request."""
    texts = watching.client.stub.messages()[-1].texts()
    return [text for text in texts if REVERTED in text or RESTORED in text]


@pytest.mark.parametrize("mode", ["hooked", "headless"])
def test_the_model_hears_of_a_revert_and_its_next_edit_of_the_file_works(
    watching: Watching, mode: str
) -> None:
    MODES[mode](watching)
    do(watching, "rename", [read("app.py")], [edit("app.py", "old", "new")], [Text("Renamed.")])
    wait_for(lambda: len(edits(watching)) == 1, what="the edit", seconds=60)

    done = watching.chorus("revert", str(edits(watching)[0]["n"]))
    assert done["notified"] == [edits(watching)[0]["session"]]
    assert (watching.project / "app.py").read_text() == APP
    do(watching, "again", [read("app.py")], [edit("app.py", "old", "newer")], [Text("Renamed again.")])

    (said,) = heard(watching)
    assert REVERTED in said
    assert "app.py" in said
    assert (watching.project / "app.py").read_text() == APP.replace("old", "newer")
    wait_for(lambda: len(edits(watching)) == 2, what="the second edit", seconds=60)
    assert [entry["status"] for entry in edits(watching)] == ["reverted", "committed"]
    if mode == "hooked":
        expect_silence_and_redo(watching, str(edits(watching)[1]["n"]))


def expect_silence_and_redo(watching: Watching, number: str) -> None:
    assert watching.chorus("revert", number, "--no-tell")["notified"] == []
    do(watching, "one more", [write("b.txt", "b\n")], [Text("Made b.")])
    assert len(heard(watching)) == 1

    assert watching.chorus("redo", number)["notified"]
    do(watching, "and now", [read("app.py")], [edit("app.py", "newer", "newest")], [Text("Changed it.")])
    assert [RESTORED in said for said in heard(watching)] == [False, True]
    assert (watching.project / "app.py").read_text() == APP.replace("old", "newest")
