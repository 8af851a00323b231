"""The real client with Chorus's mod: what only the mod sees, its answers, and what takes over without it."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.hooks.program import find_plugin_directory
from chorus.wire.client import connect
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.scenarios import APP, bash, edit, in_directory, write
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import Client, say
from tests.lab.script import Text
from tests.lab.terminal import Terminal
from tests.waiting import wait_for

pytestmark = pytest.mark.client

MOD_TESTS = Path(__file__).parents[1] / "agents" / "mod" / "register.test.ts"


@pytest.fixture
def watched(client: Client, terminal: Terminal) -> Iterator[WatchedSession]:
    if not _loads_mods(client):
        pytest.skip("this client has no mods")
    yield WatchedSession(client, terminal)
    stop(find_home(client.project))


def _loads_mods(client: Client) -> bool:
    from chorus.agents.claude_code.mod.files import MIN_VERSION, _read_version  # noqa: PLC0415  only where a client is

    return _read_version(str(client.binary)) >= MIN_VERSION


def changes(watched: WatchedSession) -> list[tuple[str, str, str]]:
    return [(entry["tool"], entry["status"], entry["source"]) for entry in watched.actions()]


def test_calls_are_recorded_once_each_and_a_revert_reaches_the_model(watched: WatchedSession) -> None:
    watched.start_modded()
    renames = [[edit("app.py", f"v{n}" if n else "old", f"v{n + 1}")] for n in range(6)]
    refused = [edit("app.py", "not in the file", "x")]
    command = [bash("sed -i s/pass/return/ app.py")]
    after = [edit("app.py", "return", "yield")]
    watched.play("rename", *renames, refused, command, after, [Text("Renamed.")])
    wait_for(lambda: len(watched.actions()) == 9, what="nine calls", seconds=60)
    found = changes(watched)
    assert found[:6] == [("Edit", "committed", "mod")] * 6
    assert found[6:] == [
        ("Edit", "failed", "mod"),
        ("Bash", "committed", "mod"),
        ("Edit", "committed", "mod"),
    ]
    (session,) = watched.chorus("status")["sessions"]
    assert "mod" in session["sources"]
    assert "hook" not in session["sources"]
    wait_for(
        lambda: watched.chorus("status")["sessions"][0]["cost_usd"], what="the cost of the turn", seconds=20
    )

    last = watched.actions()[-1]
    assert watched.chorus("revert", str(last["n"]))["notified"] == [session["id"]]
    watched.play("go on", [write("b.txt", "b\n")], [Text("Made b.")])
    texts = watched.client.model_server.messages()[-1].texts()
    assert sum("The user reverted changes of yours" in text for text in texts) == 1

    # During a turn: the model reads it with its next request.
    model_server = watched.client.model_server
    model_server.scripts["hold on"] = [
        [in_directory(bash("until [ -e go ]; do sleep 0.1; done"), watched.project)],
        [Text("Held on.")],
    ]
    known = len(model_server.messages())
    watched.send("hold on")
    wait_for(lambda: len(model_server.messages()) > known, what="the turn", seconds=60)
    made = next(entry for entry in watched.actions() if entry["paths"] == ["b.txt"])
    watched.chorus("revert", str(made["n"]))
    (watched.project / "go").touch()
    watched.wait_for_answer("Held on.")
    first, second = model_server.messages()[known:]
    counts = [
        sum("The user reverted changes of yours" in text for text in request.texts())
        for request in (first, second)
    ]
    assert counts == [1, 2]


def test_a_prompt_is_answered_through_the_mod_and_never_by_a_key(watched: WatchedSession) -> None:
    watched._start_chorus_claude("--", "--permission-mode", "default")
    calls = [in_directory(write(f"{name}.txt", "x\n"), watched.project) for name in ("one", "two", "three")]
    script = [*([call] for call in calls), [Text("Done.")]]
    watched.client.model_server.scripts["write"] = script
    watched.send("write")

    def pending() -> list[dict[str, Any]]:
        return list(watched.chorus("prompts"))

    def next_prompt(name: str) -> dict[str, Any]:
        wait_for(lambda: any(name in json.dumps(p["input"]) for p in pending()), what=name, seconds=60)
        (prompt,) = pending()
        return prompt

    prompt = next_prompt("one.txt")
    done = watched.chorus("approve", prompt["id"])
    assert done["how"] == "mod"
    prompt = next_prompt("two.txt")
    assert watched.chorus("deny", prompt["id"], "--message", "not this one")["how"] == "mod"
    next_prompt("three.txt")
    assert watched.pane is not None
    # The mod reports a prompt before its dialog is drawn, and a dialog takes no key in its first moment.
    watched.pane.wait_settled(r"three\.txt[\s\S]*❯ 1\. Yes")
    watched.pane.press("1")  # the user answers in the terminal first
    watched.wait_for_answer("Done.")
    wait_for(lambda: not pending(), what="the end of the last prompt", seconds=60)
    assert sorted(p.name for p in watched.project.glob("*.txt")) == ["one.txt", "three.txt"]
    with connect(find_home(watched.project)) as watcher:
        assert [entry["keys"] for entry in watcher.ask("audit")] == [[], []]


def test_the_user_reviews_from_the_clients_own_window(watched: WatchedSession) -> None:
    """`/chorus` runs the command of the same name: no turn of the model, and no option passes."""
    watched.start_modded()
    edits = [[write("a.txt", "a\n")], [write("b.txt", "b\n")]]
    watched.play("write", *edits, [Text("Written.")])
    wait_for(lambda: len(changes(watched)) == 2, what="two calls", seconds=60)
    requests = len(watched.client.model_server.messages())
    assert watched.pane is not None
    watched.pane.wait_for(r"chorus: 2 open · /chorus", seconds=60)
    watched.pane.wait_for(r"Write\(a\.txt\)\s+chorus #1\s[\s\S]*Write\(b\.txt\)\s+chorus #2\s", seconds=60)

    def type_command(command: str, shown: str) -> None:
        assert watched.pane is not None
        say(watched.pane, command)
        watched.pane.wait_settled(shown, seconds=60)

    type_command("/chorus pane", r"#2 Write b\.txt \[ keep \] \[ revert \]")
    watched.pane.press("Tab")
    watched.pane.press("Tab")  # keep, then revert, of the newest
    watched.pane.press("Enter")
    watched.pane.wait_for(r"#2 Write b\.txt reverted", seconds=60)
    watched.pane.wait_for(r"chorus #2 · reverted", seconds=60)
    assert not (watched.project / "b.txt").exists()
    watched.pane.press("Escape")
    watched.chorus("redo", "2")

    type_command("/chorus", r"chorus: watcher \d+ for[\s\S]*2 open actions")
    type_command("/chorus undo 2", r"chorus: reverted 2 in b\.txt")
    wait_for(lambda: not (watched.project / "b.txt").exists(), what="the revert", seconds=60)
    watched.pane.wait_for(r"chorus: 1 open", seconds=60)
    type_command("/chorus keep 1", "chorus: kept 1")
    watched.pane.wait_gone(r"chorus: \d open", seconds=60)
    wait_for(lambda: watched.log()[0]["status"] == "kept", what="the mark", seconds=60)
    type_command("/chorus undo --with-dependents", r"Usage: /chorus")
    assert len(watched.client.model_server.messages()) == requests


def test_the_mod_passes_the_clients_own_checks(client: Client, tmp_path: Path) -> None:
    """`claude plugin validate`, and `claude plugin test` with the tests in register.test.ts."""
    if not _loads_mods(client):
        pytest.skip("this client has no mods")
    mod = tmp_path / "mod"
    shutil.copytree(find_plugin_directory() / "mod", mod)
    shutil.copy(MOD_TESTS, mod / "hooks")
    for verb, shown in {"validate": "Validation passed", "test": "0 fail"}.items():
        command = client.command("plugin", verb, str(mod))
        done = subprocess.run(command, env=client.environment(), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        assert shown in done.stdout + done.stderr


def test_hooks_take_over_when_the_mod_falls_silent(watched: WatchedSession) -> None:
    watched.start_modded()
    watched.play("first", [edit("app.py", "old", "v1")], [Text("First.")])
    copies = list(
        Path(watched.client.extra_environment["XDG_DATA_HOME"], "chorus/mod").glob("*/hooks/register.js")
    )
    (module,) = copies
    module.write_text("export function register(on) {}\n")  # an interactive client reloads it
    time.sleep(3)
    watched.play("second", [edit("app.py", "v1", "v2")], [edit("app.py", "v2", "v3")], [Text("Second.")])
    settings = watched.project / ".claude" / "settings.local.json"
    wait_for(settings.exists, what="hooks for the client", seconds=60)
    time.sleep(3)
    watched.play("third", [edit("app.py", "v3", "v4")], [Text("Third.")])
    wait_for(lambda: len(changes(watched)) == 4, what="four edits", seconds=60)
    assert [source for _, _, source in changes(watched)] == ["mod", "transcript", "transcript", "hook"]
    assert {status for _, status, _ in changes(watched)} == {"committed"}
    watched.leave()
    wait_for(lambda: not settings.exists(), what="the removal of the hooks", seconds=60)


def test_a_hung_or_killed_watcher_delays_nobody_and_loses_nothing(watched: WatchedSession) -> None:
    watched.start_modded()
    watched.play("first", [edit("app.py", "old", "v1")], [Text("First.")])
    pid = watched.chorus("status")["watcher"]["pid"]
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    edits = [[edit("app.py", f"v{n}", f"v{n + 1}")] for n in range(1, 9)]
    watched.play("second", *edits, [Text("Second.")])
    took = time.monotonic() - started
    os.kill(pid, signal.SIGKILL)
    watched.play("third", [edit("app.py", "v9", "v10")], [Text("Third.")])
    wait_for(lambda: len(changes(watched)) == 10, what="ten edits", seconds=60)
    assert {status for _, status, _ in changes(watched)} == {"committed"}
    assert (watched.project / "app.py").read_text() == APP.replace("old", "v10")
    # The mod is not silent: it found no watcher.
    assert not (watched.project / ".claude").exists()
    assert took < 30.0  # one wait of 200 ms; each request of the client to the model is far longer here
    assert watched.pane is not None
    assert not re.search("hook|chorus.*(error|skipped)", watched.pane.screen())
