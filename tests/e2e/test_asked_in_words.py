"""The real client asks through its hook or its protocol: rules and people answer that way, without a key."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.client import connect, stop
from chorus.wire.home import find_home
from tests.e2e.answering import ASKING, EVERY, SECONDS, give, no_prompt, tell, waiting
from tests.e2e.scenarios import bash, in_directory, write
from tests.e2e.watching import Watching
from tests.lab.client import Client
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

FETCH = ToolUse("WebFetch", {"url": "https://127.0.0.1:9/page", "prompt": "what is there"})


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


def next_told(watching: Watching, *, but: str = "") -> dict[str, Any]:
    """The next prompt the client tells in words. Its dialog may be listed first, when the hook is slow."""

    def look() -> dict[str, Any] | None:
        return next((p for p in waiting(watching) if p["id"] != but and p["input"] is not None), None)

    return wait_for(look, what="a prompt in words", seconds=SECONDS, every=EVERY)


def test_rules_answer_through_the_hook_and_people_do_too(watching: Watching) -> None:
    watching.start_hooked(*ASKING)
    pane, project = watching.pane, watching.project
    assert pane is not None

    by_rule = [write("ok/a.txt", "a\n"), bash("touch made.txt"), bash("touch other.txt && rm made.txt")]
    tell(
        watching,
        "rules",
        [*([call] for call in by_rule), [write("ok/secret/a.txt", "a\n")], [Text("Ruled.")]],
    )
    pane.wait_for("● Ruled", seconds=SECONDS)
    assert (project / "ok/a.txt").read_text() == "a\n"
    assert (project / "made.txt").exists()
    assert "nothing is removed here" in heard(watching)
    assert "the repository's" in heard(watching)
    assert not (project / "other.txt").exists()
    assert not (project / "ok/secret").exists()
    assert [entry["by"].partition(":")[0] for entry in audit(watching)] == ["policy"] * 4
    assert "path='ok/**'" in audit(watching)[0]["by"]

    files = [write(f"{name}.txt", f"{name}\n") for name in ("one", "two", "three")]
    others = [FETCH, bash("touch third.txt"), bash("touch fourth.txt")]
    tell(watching, "people", [*([call] for call in [*files, *others]), [Text("Asked.")]])
    one = next_told(watching)
    assert one["input"]["content"] == "one\n"
    assert give(watching, "approve", one)["how"] == "hook"
    two = next_told(watching, but=one["id"])
    assert (project / "one.txt").read_text() == "one\n"
    assert give(watching, "deny", two, "--message", "call it deux.txt")["how"] == "hook"

    three = next_told(watching, but=two["id"])
    pane.wait_settled(r"create three\.txt\?[\s\S]*3\. No", seconds=SECONDS)
    pane.press("1")
    # Its dialog has no place for words; the hook has.
    fetch = next_told(watching, but=three["id"])
    assert (fetch["tool"], fetch["input"]["url"]) == ("WebFetch", FETCH.input["url"])
    assert (project / "three.txt").read_text() == "three\n"
    assert give(watching, "deny", fetch, "--message", "not the web")["how"] == "hook"

    # Three times a minute a rule says yes; then a person is asked again.
    fourth = next_told(watching, but=fetch["id"])
    assert (fourth["tool"], fourth["input"]["command"]) == ("Bash", "touch fourth.txt")
    assert give(watching, "approve", fourth)["how"] == "hook"
    pane.wait_for("● Asked", seconds=SECONDS)
    no_prompt(watching)
    made = [(project / f"{name}.txt").exists() for name in ("two", "three", "third", "fourth")]
    assert made == [False, True, True, True]
    assert "call it deux.txt" in heard(watching)
    assert "not the web" in heard(watching)
    assert [(e["how"], e["by"]) for e in audit(watching)[4:] if not e["by"].startswith("policy")] == [
        ("hook", "command")
    ] * 4


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

    first = next_told(watching)
    assert (first["tool"], first["input"]["content"]) == ("Write", "b\n")
    assert give(watching, "approve", first)["how"] == "control"
    second = next_told(watching, but=first["id"])
    assert second["input"]["content"] == "c\n"
    give(watching, "deny", second, "--message", "two files are enough")
    third = next_told(watching, but=second["id"])
    assert third["question"] == "Which language?"
    give(watching, "answer", third, "Go")
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
