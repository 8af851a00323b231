"""The real client asks through its hook or its protocol: rules and people answer that way, without a key."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.client import connect, stop
from chorus.wire.home import find_home
from tests.e2e.answering import ASKING, SECONDS, ask, next_prompt, no_prompt
from tests.e2e.scenarios import bash, in_directory, write
from tests.e2e.watching import Watching
from tests.lab.client import INPUT_BOX, Client
from tests.lab.script import Text, ToolUse
from tests.lab.terminal import Terminal
from tests.waiting import wait_for

pytestmark = pytest.mark.client

CONFIG = """
relay = "auto"

[policy]
per_minute = 3

[[policy.rule]]
decision = "allow"
tool = "Write"
path = "ok/**"

[[policy.rule]]
decision = "allow"
command = "touch *"

[[policy.rule]]
decision = "deny"
command = "rm *"
reason = "nothing is removed here"
"""
REPOSITORY = """
[[policy.rule]]
decision = "deny"
tool = "Write"
path = "ok/secret/**"

[[policy.rule]]
decision = "allow"
tool = "WebFetch"
"""


@pytest.fixture
def watching(client: Client, terminal: Terminal) -> Iterator[Watching]:
    config = client.home / ".config" / "chorus" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(CONFIG)
    (client.project / ".chorus.toml").write_text(REPOSITORY)
    watching = Watching(client, terminal)
    yield watching
    stop(find_home(client.project))


def audit(watching: Watching) -> list[dict[str, Any]]:
    with connect(find_home(watching.project)) as agent:
        return list(agent.ask("audit"))


def heard(watching: Watching) -> str:
    return "\n".join(watching.client.stub.messages()[-1].texts())


def play(watching: Watching, message: str, step: ToolUse) -> None:
    """A turn in which nobody is asked."""
    script = [[in_directory(step, watching.project)], [Text(f"Done with {message}.")]]
    watching.client.stub.scripts[message] = script
    assert watching.pane is not None
    watching.pane.wait_for(INPUT_BOX, seconds=SECONDS)
    watching.pane.type(message)
    watching.pane.wait_for(r"❯\s" + message, seconds=SECONDS)
    watching.pane.press("Enter")
    watching.pane.wait_for(f"● Done with {message}", seconds=SECONDS)


def test_rules_answer_through_the_hook_and_people_do_too(watching: Watching) -> None:
    watching.start_hooked(*ASKING)
    pane, project = watching.pane, watching.project
    assert pane is not None

    play(watching, "allowed", write("ok/a.txt", "a\n"))
    assert (project / "ok/a.txt").read_text() == "a\n"
    play(watching, "touched", bash("touch made.txt"))
    assert (project / "made.txt").exists()
    play(watching, "forbidden", bash("touch other.txt && rm made.txt"))
    assert "nothing is removed here" in heard(watching)
    play(watching, "tightened", write("ok/secret/a.txt", "a\n"))
    assert "the repository's" in heard(watching)
    assert (project / "made.txt").exists()
    assert not (project / "other.txt").exists()
    assert not (project / "ok/secret").exists()
    assert [entry["by"].partition(":")[0] for entry in audit(watching)] == ["policy"] * 4
    assert "path='ok/**'" in audit(watching)[0]["by"]

    prompt = ask(watching, "one", [[write("one.txt", "1\n")], [Text("Wrote one.")]])
    assert prompt["input"]["content"] == "1\n"
    assert watching.chorus("approve", prompt["id"])["how"] == "hook"
    pane.wait_for("● Wrote one", seconds=SECONDS)
    assert (project / "one.txt").read_text() == "1\n"

    prompt = ask(watching, "two", [[write("two.txt", "2\n")], [Text("Left it.")]])
    watching.chorus("deny", prompt["id"], "--message", "call it deux.txt")
    pane.wait_for("● Left it", seconds=SECONDS)
    assert "call it deux.txt" in heard(watching)

    ask(watching, "three", [[write("three.txt", "3\n")], [Text("Wrote three.")]])
    pane.wait_settled(r"3\. No")
    pane.press("1")
    pane.wait_for("● Wrote three", seconds=SECONDS)
    no_prompt(watching)
    assert (project / "three.txt").exists()

    play(watching, "third", bash("touch third.txt"))
    prompt = ask(watching, "fourth", [[bash("touch fourth.txt")], [Text("Touched it.")]])
    assert prompt["tool"] == "Bash"
    assert watching.chorus("approve", prompt["id"])["how"] == "hook"
    pane.wait_for("● Touched it", seconds=SECONDS)
    assert [(e["how"], e["by"]) for e in audit(watching)[4:] if not e["by"].startswith("policy")] == [
        ("hook", "command")
    ] * 3


def test_a_headless_session_asks_and_is_answered_over_its_protocol(watching: Watching) -> None:
    options = [{"label": "Python", "description": "p"}, {"label": "Go", "description": "g"}]
    question = {"question": "Which language?", "header": "Lang", "options": options, "multiSelect": False}
    steps = [
        write("ok/a.txt", "a\n"),
        write("b.txt", "b\n"),
        write("c.txt", "c\n"),
        bash("rm b.txt"),
        ToolUse("AskUserQuestion", {"questions": [question]}),
    ]
    turns = [[in_directory(step, watching.project)] for step in steps]
    watching.client.stub.scripts["go on"] = [*turns, [Text("All said.")]]
    watching.chorus("run", "go on", "-L", watching.terminal.name, "--", "--permission-mode", "default")

    first = next_prompt(watching)
    assert (first["tool"], first["input"]["content"]) == ("Write", "b\n")
    assert watching.chorus("approve", first["id"])["how"] == "control"
    second = next_prompt(watching, but=first["id"])
    assert second["input"]["content"] == "c\n"
    watching.chorus("deny", second["id"], "--message", "two files are enough")
    third = next_prompt(watching, but=second["id"])
    assert third["question"] == "Which language?"
    watching.chorus("answer", third["id"], "Go")
    wait_for(lambda: "Which language?" in heard(watching), what="the answer", seconds=SECONDS)

    no_prompt(watching)
    assert (watching.project / "ok/a.txt").exists()
    assert (watching.project / "b.txt").read_text() == "b\n"
    assert not (watching.project / "c.txt").exists()
    told = heard(watching)
    assert "two files are enough" in told
    assert "nothing is removed here" in told
    assert '"Which language?"="Go"' in told
    entries = [
        (entry["by"].partition(":")[0], entry["answer"].partition(":")[0]) for entry in audit(watching)
    ]
    assert entries == [
        ("policy", "allow"), ("command", "allow"), ("command", "deny"), ("policy", "deny"),
        ("command", "Which language? Go"),
    ]  # fmt: skip
    assert json.dumps(Path(first["input"]["file_path"]).name) == '"b.txt"'
