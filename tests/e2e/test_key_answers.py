"""The real client asks, Chorus answers with one key, and the client does it."""

from collections.abc import Iterator
from typing import Any

import pytest

from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import find_home
from chorus.wire.protocol import WatcherError
from chorus.wire.watcher_process import stop
from tests.e2e.asked_session import ASKING, AskedCall, ask, next_prompt, no_prompt, play
from tests.e2e.scenarios import write
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import Client
from tests.lab.script import Step, Text, ToolUse
from tests.lab.terminal import Terminal, wait_until

pytestmark = pytest.mark.client


@pytest.fixture
def asking(client: Client, terminal: Terminal) -> Iterator[WatchedSession]:
    watched = WatchedSession(client, terminal)
    watched.start_adopted(*ASKING)
    yield watched
    stop(find_home(client.project))


def question(text: str, header: str, *labels: str, many: bool = False) -> dict[str, Any]:
    options = [{"label": label, "description": f"take {label}"} for label in labels]
    return {"question": text, "header": header, "options": options, "multiSelect": many}


def asks(*questions: dict[str, Any]) -> ToolUse:
    return ToolUse("AskUserQuestion", {"questions": list(questions)})


LANGUAGE = question("Which language?", "Lang", "Python", "Go")
FEATURES = question("Which features?", "Feat", "Log", "Undo", "Redo", many=True)
NAME = question("What is its name?", "Name", "Ada", "Bob")
EACH = [
    "answer",
    "--to",
    "Lang",
    "Python",
    "--say",
    "Name",
    "Eve the 2nd",
    "--to",
    "Which features?",
    "Log",
    "Redo",
]
QUESTIONS = [
    AskedCall(asks(LANGUAGE), "question", ["answer", "Go"], received='"Which language?"="Go"'),
    AskedCall(
        asks(FEATURES), "question", ["answer", "Undo", "Redo"], received='"Which features?"="Undo, Redo"'
    ),
    AskedCall(asks(LANGUAGE), "question", ["answer", "--text", "Zig, 1 day"], received="Zig, 1 day"),
    AskedCall(asks(NAME), "question", ["approve", "--option", "2"], received='"What is its name?"="Bob"'),
    AskedCall(asks(LANGUAGE), "question", ["answer", "1"], received='"Which language?"="Python"'),
    AskedCall(asks(LANGUAGE, FEATURES, NAME), "question", EACH, received="Log, Redo"),
    AskedCall(asks(NAME), "question", ["deny"]),
]  # fmt: skip


def test_each_answer_reaches_only_the_prompt_it_was_given_for(asking: WatchedSession) -> None:
    """In one session: starting a client takes most of the time."""
    answer_only_what_was_decided_on(asking)
    answer_every_kind_of_question(asking)
    wait_until(lambda: states(asking) == ["idle"], what="the client is known to rest")


def states(asking: WatchedSession) -> list[str]:
    return [session["state"] for session in asking.chorus("status")["sessions"]]


def answer_only_what_was_decided_on(asking: WatchedSession) -> None:
    turns: list[list[Step]] = [[write("a.txt", "a\n")], [write("b.txt", "b\n")], [Text("Both there.")]]
    prompt = ask(asking, "go on", turns)
    assert asking.pane is not None
    # Only the screen shows it, no hook.
    assert states(asking) == ["waiting"]
    asking.terminal.tmux("copy-mode", "-t", asking.pane.id)
    with (
        connect(find_home(asking.project)) as watcher,
        pytest.raises(WatcherError, match="copy mode") as caught,
    ):
        watcher.ask("answer", prompt=prompt["id"], fingerprint=prompt["fingerprint"], decision="allow")
    assert caught.value.exit_code == 6
    asking.terminal.tmux("send-keys", "-t", asking.pane.id, "-X", "cancel")
    assert not (asking.project / "a.txt").exists()

    asking.pane.wait_settled(r"create a\.txt\?[\s\S]*3\. No")
    asking.pane.press("1")
    second = next_prompt(asking, but=prompt["id"])
    with connect(find_home(asking.project)) as watcher:
        for fingerprint in (prompt["fingerprint"], second["fingerprint"]):
            with pytest.raises((WatcherError, WatcherNotRunning)):
                watcher.ask("answer", prompt=prompt["id"], fingerprint=fingerprint, decision="allow")
        with pytest.raises(WatcherError, match="the prompt has changed"):
            watcher.ask("answer", prompt=second["id"], fingerprint=prompt["fingerprint"], decision="allow")
    assert not (asking.project / "b.txt").exists()
    asking.chorus("deny", second["id"])
    no_prompt(asking)
    assert not (asking.project / "b.txt").exists()
    with connect(find_home(asking.project)) as watcher:
        refused, given = watcher.ask("audit")
    assert "copy mode" in str(refused["refused"])
    assert (refused["keys"], given["keys"]) == ([], ["3"])


def answer_every_kind_of_question(asking: WatchedSession) -> None:
    play(asking, "questions", QUESTIONS)
    (several,) = (t for t in asking.client.model_server.messages()[-1].texts() if "Eve the 2nd" in t)
    assert "Python" in several
    assert "Log, Redo" in several
