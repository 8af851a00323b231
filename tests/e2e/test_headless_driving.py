"""The real client is driven headless: images, modes, MCP, forms, interrupts, failures, resume and fork."""

import base64
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.asked_session import SECONDS, answer_prompt, waiting
from tests.e2e.scenarios import bash
from tests.e2e.watched_session import WatchedSession
from tests.lab.script import Refuse, Text, ToolUse
from tests.waiting import wait_for

pytestmark = pytest.mark.client

SERVER = Path(__file__).parent / "asking_mcp_server.py"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


def command(watched: WatchedSession, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chorus", *words],
        cwd=watched.project,
        env=watched.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
    )


def session(watched: WatchedSession) -> dict[str, Any]:
    found: dict[str, Any] = watched.chorus("status")["sessions"][-1]
    return found


def test_a_session_is_driven_from_its_start_to_its_end(watched: WatchedSession) -> None:
    scripts = watched.client.model_server.scripts
    server = shlex.join([sys.executable, str(SERVER)])
    asked = {"mcpServers": {"forms": {"command": sys.executable, "args": [str(SERVER)]}}}
    scripts["look"] = [[Text("A pixel.")]]
    scripts["add"] = [[ToolUse("mcp__sums__add", {"a": 7, "b": 4})], [Text("Added.")]]
    scripts["ask"] = [[ToolUse("mcp__forms__city", {})], [Text("Asked.")]]
    scripts["wait"] = [[bash("until test -e gate; do sleep 0.1; done")], [Text("Slept.")]]
    scripts["one"] = [[bash("until test -e go; do sleep 0.1; done")], [Text("All three.")]]
    scripts["fail"] = [[Refuse(400, times=9)]]
    edit = {"file_path": str(watched.project / "app.py"), "old_string": "old", "new_string": "new"}
    scripts["edit"] = [[ToolUse("Edit", edit)], [Text("Left alone.")]]
    (watched.project / "pixel.png").write_bytes(PIXEL)

    started = command(
        watched, "run", "look", "--image", "pixel.png", "--wait", "--json", "--mode", "bypassPermissions",
        "--mcp", f"sums={server}", "-L", watched.terminal.name, "--", "--mcp-config", json.dumps(asked),
    )  # fmt: skip
    assert started.returncode == 0, started.stderr
    turn = json.loads(started.stdout)
    assert (turn["state"], turn["answer"], turn["error"]) == ("done", "A pixel.", None)
    assert turn["tokens"]["output"] > 0
    assert turn["cost_usd"] is not None
    assert '"image/png"' in str(watched.client.model_server.messages()[-1].body).replace("'", '"')

    known = session(watched)
    assert (known["mode"], known["error"]) == ("bypassPermissions", None)
    assert known["model"]
    assert "compact" in known["commands"]
    assert known["models"]

    assert command(watched, "send", "add", "--wait").stdout == "Added.\n"
    assert "11" in watched.client.model_server.messages()[-1].texts()[-1]

    scripts["follow"] = [[Text("Let me look."), bash("echo hi; false")], [Text("Seen.")]]
    followed = command(watched, "send", "follow", "--follow").stdout.splitlines()
    assert followed[0] == "Let me look."
    assert followed[1].startswith("✗ Bash echo hi; false  failed")
    assert followed[2:] == ["Seen."]
    listed = watched.chorus("log", "--turns")
    assert [turn["answer"] for turn in listed] == ["A pixel.", "Added.", "Seen."]
    assert watched.chorus("show", "--turn", listed[1]["turn"]) == listed[1]

    assert watched.chorus("send", "--mode", "acceptEdits")["session"] == known["id"]
    wait_for(lambda: session(watched)["mode"] == "acceptEdits", what="the mode", seconds=SECONDS)
    refused = command(watched, "send", "  ")
    assert (refused.returncode, "empty" in refused.stderr) == (2, True)

    assert command(watched, "send", "ask", "--mode", "bypassPermissions").returncode == 0
    form = wait_for(lambda: next(iter(waiting(watched)), None), what="the form", seconds=SECONDS)
    assert (form["kind"], form["question"], form["title"]) == ("question", "Which city?", "forms asks")
    answer_prompt(watched, "answer", form, "--text", "Rome")
    answered = '{"action": "accept", "content": {"city": "Rome"}}'
    wait_for(lambda: answered in str(watched.client.model_server.messages()[-1].texts()), seconds=SECONDS)

    wait_for(lambda: session(watched)["state"] == "idle", what="the turn's end", seconds=SECONDS)
    before = (watched.project / "app.py").read_text()
    with start_command(watched, "send", "edit", "--wait", "--mode", "default") as waiting_send:
        prompt = wait_for(lambda: next(iter(waiting(watched)), None), what="the prompt", seconds=SECONDS)
        assert (prompt["kind"], prompt["tool"]) == ("edit", "Edit")
        answer_prompt(watched, "deny", prompt, "--message", "not this one")
        stdout, stderr = waiting_send.communicate(timeout=SECONDS)
    assert (waiting_send.returncode, stdout) == (0, "Left alone.\n")
    assert f"waiting for an answer to {prompt['id']}" in stderr
    assert "not this one" in str(watched.client.model_server.messages()[-1].texts())
    assert [
        (one["tool"], one["status"], one["commit"]) for one in watched.log() if one["tool"] == "Edit"
    ] == [("Edit", "denied", None)]
    assert (watched.project / "app.py").read_text() == before
    assert command(watched, "send", "--mode", "bypassPermissions").returncode == 0

    assert command(watched, "interrupt").returncode == 3
    assert command(watched, "send", "wait").returncode == 0
    wait_for(lambda: "test -e gate" in watched.printed(), what="the command", seconds=SECONDS)
    assert watched.chorus("interrupt")["how"] == "request"
    wait_for(lambda: session(watched)["error"] == "interrupted", what="the interrupt", seconds=SECONDS)

    before_queue = session(watched)
    assert command(watched, "send", "one").returncode == 0
    wait_for(lambda: "test -e go" in watched.printed(), what="the command", seconds=SECONDS)
    assert command(watched, "send", "two").returncode == 0
    with start_command(watched, "send", "three", "--wait") as waiting_send:
        wait_for(lambda: count_queued(watched) == 2, what="two queued messages", seconds=SECONDS)
        (watched.project / "go").touch()
        stdout, stderr = waiting_send.communicate(timeout=SECONDS)
    assert (waiting_send.returncode, stdout, stderr) == (0, "All three.\n", "")
    watched.log()
    listed = watched.chorus("log", "--turns")[-3:]
    assert [(turn["message"], turn["state"], len(turn["messages"])) for turn in listed] == [
        ("one", "done", 1),
        ("two", "done", 1),
        ("three", "done", 1),
    ]
    after_queue = session(watched)
    assert (after_queue["state"], after_queue["turns"]) == ("idle", before_queue["turns"] + 3)
    taken = [after_queue["tokens"][name] - before_queue["tokens"][name] for name in ("input", "output")]
    assert taken == [20, 10]  # two requests, counted once

    failed = command(watched, "send", "fail", "--wait")
    assert failed.returncode == 4
    assert "400" in failed.stderr
    assert "400" in session(watched)["error"]

    run = session(watched)["run"]
    assert watched.chorus("send", "--end") == {"run": run, "code": 1}  # its last turn failed
    late = command(watched, "send", "too late")
    assert late.returncode == 3


def test_a_session_is_resumed_forked_and_killed_at_any_point(watched: WatchedSession) -> None:
    scripts, terminal = watched.client.model_server.scripts, watched.terminal
    for word in ("first", "again", "forked"):
        scripts[word] = [[Text(f"{word}.")]]
    began = watched.project / "began"
    # Its shell outlives a client that is killed, and ends when the file is removed.
    scripts["wait"] = [[bash("touch began; while test -e began; do sleep 0.1; done")], [Text("Slept.")]]
    run = ("-L", terminal.name, "--mode", "bypassPermissions", "--wait", "--json")

    turns = [json.loads(command(watched, "run", "first", *run).stdout)]
    first = turns[0]["session"]
    for words in (("again", "--resume", first), ("forked", "--resume", first, "--fork")):
        assert command(watched, "send", "--end").returncode == 0  # its tmux server ends with it
        turns.append(json.loads(command(watched, "run", *words, *run).stdout))
    assert [turn["answer"] for turn in turns] == ["first.", "again.", "forked."]
    assert [turn["session"] == first for turn in turns] == [True, True, False]
    assert len({turn["cost_usd"] for turn in turns}) == 1  # each its own, although the client counts on
    assert session(watched)["parent"] == first
    assert command(watched, "send", "--end").returncode == 0

    asking = json.loads(command(watched, "run", "first", "-L", terminal.name, "--wait", "--json").stdout)
    refused = command(watched, "send", "--mode", "bypassPermissions")
    assert refused.returncode == 4
    assert f"`chorus run MESSAGE --resume {asking['session']} --mode bypassPermissions`" in refused.stderr
    assert watched.chorus("send", "--end")["code"] == 0

    resets = int(time.time()) + 3600
    limit = {"status": "rejected", "reset": str(resets), "representative-claim": "five_hour"}
    headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in limit.items()}
    scripts["limited"] = [[Refuse(429, times=9, headers=headers)]]
    # Only an account has such a limit, and the client's environment names one.
    watched.client.extra_environment = {
        "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-none",
        "ANTHROPIC_API_KEY": "",
    }
    limited = command(watched, "run", "limited", *run, "--end")
    watched.client.extra_environment = {}
    turn = json.loads(limited.stdout)
    assert (limited.returncode, turn["state"]) == (4, "failed")
    assert "limit" in turn["error"]
    known = session(watched)
    until = datetime.fromtimestamp(resets, UTC).isoformat(timespec="minutes")
    assert (known["limit"], known["failed"]) == (f"reached, resets at {until}", 1)
    shown = command(watched, "status", "--all").stdout
    assert f"rate limit: reached, resets at {until}" in shown
    assert f"error: {turn['error']}" in shown
    assert command(watched, "send", "--end").returncode == 3  # it has ended

    for options in (["--wait"], []):
        failed = command(watched, "run", "more", "--resume", "NO-SUCH", "-L", terminal.name, *options)
        assert failed.returncode == 4
        assert 'Provided value "NO-SUCH"' in failed.stderr

    kills: dict[str, Callable[[], object]] = {
        "killed by signal 9": lambda: os.kill(watched.client_pid(), signal.SIGKILL),
        "its pane was closed or killed": lambda: terminal.tmux("kill-server"),
    }
    for how, kill in kills.items():
        with start_command(watched, "run", "wait", *run) as waiting_run:
            wait_for(began.exists, what="the command", seconds=SECONDS)
            kill()
            stdout, stderr = waiting_run.communicate(timeout=SECONDS)
        assert stdout, stderr
        turn = json.loads(stdout)
        assert (waiting_run.returncode, turn["state"]) == (4, "failed")
        assert how in turn["error"]
        began.unlink()

    with start_command(watched, "run", "wait", *run) as waiting_run:
        pid = wait_for(lambda: starting_client(watched), what="the client", seconds=SECONDS)
        os.kill(pid, signal.SIGKILL)  # before its first turn; on a busy machine it may have begun one
        stdout, stderr = waiting_run.communicate(timeout=SECONDS)
    began.unlink(missing_ok=True)
    assert waiting_run.returncode == 4
    assert "killed by signal 9" in stdout + stderr
    assert not list((watched.project / ".git" / "chorus").glob("run-*"))


def count_queued(watched: WatchedSession) -> int:
    """How many messages the client has taken and not passed to the model yet."""
    transcript = Path(session(watched)["transcript"]).read_text()
    operations = [line.get("operation") for line in map(json.loads, transcript.splitlines())]
    return operations.count("enqueue") - operations.count("dequeue") - operations.count("remove")


def start_command(watched: WatchedSession, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "chorus", *words],
        cwd=watched.project,
        env=watched.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def starting_client(watched: WatchedSession) -> int | None:
    """The client in the only pane, as soon as its process is there."""
    try:
        return watched.client_pid()
    except (ValueError, IndexError, OSError, subprocess.CalledProcessError):
        return None
