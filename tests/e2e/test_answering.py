"""The real client asks, Chorus answers with one key, and the client does what was meant."""

from collections.abc import Iterator
from typing import Any

import pytest

from chorus.wire.client import AgentGone, connect, stop
from chorus.wire.home import find_home
from chorus.wire.protocol import AgentError
from tests.e2e.scenarios import APP, bash, edit, in_directory, read, write
from tests.e2e.watching import Watching
from tests.lab.client import Client, say
from tests.lab.script import Text, ToolUse
from tests.lab.terminal import Terminal
from tests.waiting import wait_for

pytestmark = pytest.mark.client


@pytest.fixture
def asking(client: Client, terminal: Terminal) -> Iterator[Watching]:
    """A session in which everything is asked."""
    watching = Watching(client, terminal)
    watching.start_adopted("--permission-mode", "default")
    yield watching
    stop(find_home(client.project))


def ask(asking: Watching, *turns: list[Any], message: str = "go on") -> dict[str, Any]:
    """Have the model call tools; the prompt that comes of it."""
    asking.client.stub.scripts[message] = [[in_directory(s, asking.project) for s in turn] for turn in turns]
    assert asking.pane is not None
    say(asking.pane, message)
    return wait_for(lambda: next(iter(asking.chorus("prompts")), None), what="a prompt")


def answered(asking: Watching, text: str) -> None:
    assert asking.pane is not None
    asking.pane.wait_for("● " + text)
    assert asking.chorus("prompts") == []


def test_an_edit_is_approved(asking: Watching) -> None:
    prompt = ask(asking, [read("app.py")], [edit("app.py", "old", "new")], [Text("Did it.")])
    assert (prompt["kind"], prompt["tool"]) == ("edit", "Edit")
    assert [option["meaning"] for option in prompt["options"]] == ["allow", "allow-always", "deny"]
    assert asking.chorus("approve", prompt["id"])["key"] == "1"
    answered(asking, "Did it")
    assert (asking.project / "app.py").read_text() == APP.replace("old", "new")


def test_a_command_is_denied_with_a_message_that_reaches_the_model(asking: Watching) -> None:
    prompt = ask(asking, [bash("touch made.txt; echo $HOME")], [Text("Understood.")])
    assert prompt["kind"] == "bash"
    asking.chorus("deny", prompt["id"], "--message", "use a temporary directory")
    answered(asking, "Understood")
    assert not (asking.project / "made.txt").exists()
    assert any("use a temporary directory" in text for text in asking.client.stub.messages()[-1].texts())


def test_always_is_the_choice_that_changes_what_is_asked(asking: Watching) -> None:
    prompt = ask(asking, [write("a.txt", "a\n")], [write("b.txt", "b\n")], [Text("Both there.")])
    assert prompt["kind"] == "create"
    asking.chorus("approve", prompt["id"], "--always")
    answered(asking, "Both there")
    assert (asking.project / "b.txt").read_text() == "b\n"


def test_a_question_is_answered_by_its_option(asking: Watching) -> None:
    options = [{"label": "Python", "description": "p"}, {"label": "Go", "description": "g"}]
    question = {"question": "Which language?", "header": "Lang", "options": options, "multiSelect": False}
    prompt = ask(asking, [ToolUse("AskUserQuestion", {"questions": [question]})], [Text("Chosen.")])
    assert prompt["kind"] == "question"
    key = next(option["key"] for option in prompt["options"] if option["label"].startswith("Go"))
    asking.chorus("approve", prompt["id"], "--option", key)
    answered(asking, "Chosen")
    assert any("Go" in text for text in asking.client.stub.messages()[-1].texts())


def test_a_prompt_answered_in_the_pane_gets_no_second_key(asking: Watching) -> None:
    prompt = ask(asking, [write("a.txt", "a\n")], [write("b.txt", "b\n")], [Text("Both there.")])
    assert asking.pane is not None
    asking.pane.wait_settled(r"3\. No")
    asking.pane.press("1")
    second = wait_for(
        lambda: next((p for p in asking.chorus("prompts") if p["id"] != prompt["id"]), None),
        what="the next prompt",
    )
    with connect(find_home(asking.project)) as agent:
        for fingerprint in (prompt["fingerprint"], second["fingerprint"]):
            with pytest.raises((AgentError, AgentGone)):
                agent.ask("answer", prompt=prompt["id"], fingerprint=fingerprint, decision="allow")
        with pytest.raises(AgentError, match="not the one"):
            agent.ask("answer", prompt=second["id"], fingerprint=prompt["fingerprint"], decision="allow")
    assert not (asking.project / "b.txt").exists()
    asking.chorus("deny", second["id"])
    wait_for(lambda: asking.chorus("prompts") == [], what="the end of the dialog")
    assert not (asking.project / "b.txt").exists()


def test_in_copy_mode_no_key_is_sent(asking: Watching) -> None:
    prompt = ask(asking, [write("a.txt", "a\n")], [Text("There.")])
    assert asking.pane is not None
    asking.terminal.tmux("copy-mode", "-t", asking.pane.id)
    with connect(find_home(asking.project)) as agent, pytest.raises(AgentError, match="copy mode") as caught:
        agent.ask("answer", prompt=prompt["id"], fingerprint=prompt["fingerprint"], decision="allow")
    assert caught.value.exit_code == 6
    asking.terminal.tmux("send-keys", "-t", asking.pane.id, "-X", "cancel")
    assert not (asking.project / "a.txt").exists()
    asking.chorus("approve", prompt["id"])
    answered(asking, "There")
    with connect(find_home(asking.project)) as agent:
        refused, given = agent.ask("audit")
    assert "copy mode" in refused["refused"]
    assert given["keys"] == ["1"]
