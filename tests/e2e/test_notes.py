"""Notes to the real client: three notes, one request that carries them, each with its lines as they are."""

import pytest

from tests.e2e.scenarios import edit, in_directory, read, write
from tests.e2e.watched_session import MODES, WatchedSession
from tests.lab.script import Text
from tests.waiting import wait_for

pytestmark = pytest.mark.client

NOTES = "left 3 notes"
CART = "total = 0\ntax = 1\nname = 'x'\n"


def carried(watched: WatchedSession) -> list[str]:
    """The notes in the newest request to the model."""
    return [text for text in watched.client.model_server.messages()[-1].texts() if NOTES in text]


@pytest.mark.parametrize("mode", ["modded", "hooked", "headless"])
def test_three_notes_reach_the_session_in_one_request(watched: WatchedSession, mode: str) -> None:
    MODES[mode](watched)
    watched.play("write it", [write("cart.py", CART)], [Text("Written.")])
    wait_for(lambda: [e for e in watched.actions() if e["tool"] == "Write"], what="the write", seconds=60)
    number = str(watched.actions()[-1]["n"])
    watched.chorus("note", f"{number}:1", "never negative")
    watched.chorus("note", f"{number}:2", "why one?")
    watched.chorus("note", number, "add a test")
    # The user's own edit moves every line, and changes one that a note is about.
    (watched.project / "cart.py").write_text("# cart\n" + CART.replace("tax = 1", "tax = 0.2"))
    notes = watched.chorus("notes")
    assert [(note["state"], note["changed"], note["at"]) for note in notes] == [
        ("draft", False, 2), ("draft", True, 3), ("draft", True, 2),
    ]  # fmt: skip

    fixed: list[list[object]] = [
        [read("cart.py")], [edit("cart.py", "total = 0", "total = max(0, 0)")], [Text("Fixed.")],
    ]  # fmt: skip
    if mode == "headless":
        script = [[in_directory(step, watched.project) for step in turn] for turn in fixed]
        watched.client.model_server.scripts[NOTES] = script
        assert watched.chorus("notes", "send")["now"]
        watched.wait_for_answer("Fixed.")
    else:
        watched.play("go on", *fixed)

    (text,) = carried(watched)
    assert "cart.py, line 2:\n> 2: total = 0\nnever negative" in text
    assert "> 3: tax = 0.2\n(these lines have changed since the note was written)\nwhy one?" in text
    assert "add a test" in text
    states: list[str] = []

    def addressed() -> bool:
        states[:] = [note["state"] for note in watched.chorus("notes")]
        return states == ["addressed", "sent", "addressed"]

    wait_for(addressed, what="the states", seconds=60)
    assert any(entry.get("notes") for entry in watched.log())
