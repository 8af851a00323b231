"""The real client asks through its hook or the control protocol, and is answered there without a key."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.client import connect
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.asked_session import ASKING, EVERY, SECONDS, answer_prompt, no_prompt, send_script, waiting
from tests.e2e.scenarios import bash, in_directory, write
from tests.e2e.watched_session import WatchedSession
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
def watched(client: Client, terminal: Terminal) -> Iterator[WatchedSession]:
    config = client.home / ".config" / "chorus" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(CONFIG)
    (client.project / ".chorus.toml").write_text(REPOSITORY)
    watched = WatchedSession(client, terminal)
    yield watched
    stop(find_home(client.project))


def audit(watched: WatchedSession) -> list[dict[str, Any]]:
    with connect(find_home(watched.project)) as watcher:
        return list(watcher.request("audit", {}))


def received(watched: WatchedSession) -> str:
    return "\n".join(watched.client.model_server.messages()[-1].texts())


def next_request_prompt(watched: WatchedSession, *, but: str = "") -> dict[str, Any]:
    """The next prompt from a hook or the protocol. Its dialog may be listed first, when the hook is slow."""

    def look() -> dict[str, Any] | None:
        return next((p for p in waiting(watched) if p["id"] != but and p["input"] is not None), None)

    return wait_for(look, what="a prompt in words", seconds=SECONDS, every=EVERY)


def test_policy_rules_and_the_user_answer_through_the_hook(watched: WatchedSession) -> None:
    watched.start_hooked(*ASKING)
    pane, project = watched.pane, watched.project
    assert pane is not None

    by_rule = [write("ok/a.txt", "a\n"), bash("touch made.txt"), bash("touch other.txt && rm made.txt")]
    send_script(
        watched,
        "rules",
        [*([call] for call in by_rule), [write("ok/secret/a.txt", "a\n")], [Text("Ruled.")]],
    )
    pane.wait_for("● Ruled", seconds=SECONDS)
    assert (project / "ok/a.txt").read_text() == "a\n"
    assert (project / "made.txt").exists()
    assert "nothing is removed here" in received(watched)
    assert "the repository's" in received(watched)
    assert not (project / "other.txt").exists()
    assert not (project / "ok/secret").exists()
    assert [entry["by"].partition(":")[0] for entry in audit(watched)] == ["policy"] * 4
    assert "path='ok/**'" in audit(watched)[0]["by"]

    files = [write(f"{name}.txt", f"{name}\n") for name in ("one", "two", "three")]
    others = [FETCH, bash("touch third.txt"), bash("touch fourth.txt")]
    send_script(watched, "people", [*([call] for call in [*files, *others]), [Text("Asked.")]])
    one = next_request_prompt(watched)
    assert one["input"]["content"] == "one\n"
    assert answer_prompt(watched, "approve", one)["how"] == "hook"
    two = next_request_prompt(watched, but=one["id"])
    assert (project / "one.txt").read_text() == "one\n"
    assert answer_prompt(watched, "deny", two, "--message", "call it deux.txt")["how"] == "hook"

    three = next_request_prompt(watched, but=two["id"])
    pane.wait_settled(r"create three\.txt\?[\s\S]*3\. No", seconds=SECONDS)
    pane.press("1")
    # Its dialog takes no message; the hook does.
    fetch = next_request_prompt(watched, but=three["id"])
    assert (fetch["tool"], fetch["input"]["url"]) == ("WebFetch", FETCH.input["url"])
    assert (project / "three.txt").read_text() == "three\n"
    assert answer_prompt(watched, "deny", fetch, "--message", "not the web")["how"] == "hook"

    # A rule allows three calls a minute; then the user is asked again.
    fourth = next_request_prompt(watched, but=fetch["id"])
    assert (fourth["tool"], fourth["input"]["command"]) == ("Bash", "touch fourth.txt")
    assert answer_prompt(watched, "approve", fourth)["how"] == "hook"
    pane.wait_for("● Asked", seconds=SECONDS)
    no_prompt(watched)
    made = [(project / f"{name}.txt").exists() for name in ("two", "three", "third", "fourth")]
    assert made == [False, True, True, True]
    assert "call it deux.txt" in received(watched)
    assert "not the web" in received(watched)
    assert [(e["how"], e["by"]) for e in audit(watched)[4:] if not e["by"].startswith("policy")] == [
        ("hook", "command")
    ] * 4


def test_a_headless_session_is_answered_over_the_control_protocol(watched: WatchedSession) -> None:
    options = [{"label": "Python", "description": "p"}, {"label": "Go", "description": "g"}]
    question = {"question": "Which language?", "header": "Lang", "options": options, "multiSelect": False}
    steps = [
        write("ok/a.txt", "a\n"),
        write("b.txt", "b\n"),
        write("c.txt", "c\n"),
        bash("rm b.txt"),
        ToolUse("AskUserQuestion", {"questions": [question]}),
    ]
    turns = [[in_directory(step, watched.project)] for step in steps]
    watched.client.model_server.scripts["go on"] = [*turns, [Text("All said.")]]
    watched.chorus("run", "go on", "-L", watched.terminal.name, "--", "--permission-mode", "default")

    first = next_request_prompt(watched)
    assert (first["tool"], first["input"]["content"]) == ("Write", "b\n")
    assert answer_prompt(watched, "approve", first)["how"] == "control"
    second = next_request_prompt(watched, but=first["id"])
    assert second["input"]["content"] == "c\n"
    answer_prompt(watched, "deny", second, "--message", "two files are enough")
    third = next_request_prompt(watched, but=second["id"])
    assert third["question"] == "Which language?"
    answer_prompt(watched, "answer", third, "Go")
    wait_for(lambda: "Which language?" in received(watched), what="the answer", seconds=SECONDS)

    no_prompt(watched)
    assert (watched.project / "ok/a.txt").exists()
    assert (watched.project / "b.txt").read_text() == "b\n"
    assert not (watched.project / "c.txt").exists()
    texts = received(watched)
    assert "two files are enough" in texts
    assert "nothing is removed here" in texts
    assert '"Which language?"="Go"' in texts
    entries = [(entry["by"].partition(":")[0], entry["answer"].partition(":")[0]) for entry in audit(watched)]
    assert entries == [
        ("policy", "allow"), ("command", "allow"), ("command", "deny"), ("policy", "deny"),
        ("command", "Which language? Go"),
    ]  # fmt: skip
    assert json.dumps(Path(first["input"]["file_path"]).name) == '"b.txt"'
