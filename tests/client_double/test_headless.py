"""The client double without a screen: input, control protocol, hooks."""

import http.server
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.client_double.conftest import ClientDouble
from tests.client_double.dialog_calls import APP, CALLS

Json = dict[str, Any]
EDIT: Json = {"tool": "Edit", "input": CALLS["edit"][1]}
CREATE: Json = {"tool": "Write", "input": CALLS["create"][1]}
ACCEPT = ("--permission-mode", "acceptEdits")


@pytest.fixture(autouse=True)
def scripts(client_double: ClientDouble) -> None:
    client_double.scripts = {
        "rename": [[{"say": "Renaming."}, EDIT], [{"say": "Renamed."}]],
        "create": [[CREATE], [{"say": "Created."}]],
    }


def hooks(**events: str) -> tuple[str, str]:
    """A `--settings` that runs one command for each event."""
    entries = {name: [{"hooks": [{"type": "command", "command": c}]}] for name, c in events.items()}
    return "--settings", json.dumps({"hooks": entries})


class Talk:
    """A control client: sends and reads lines, and answers requests."""

    def __init__(self, client_double: ClientDouble) -> None:
        command = client_double.command(
            "-p", "--output-format", "stream-json", "--verbose", "--input-format", "stream-json",
            "--permission-prompt-tool", "stdio",
        )  # fmt: skip
        self.process = subprocess.Popen(
            command,
            cwd=client_double.project,
            env=client_double.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def send(self, value: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(value) + "\n")
        self.process.stdin.flush()

    def say(self, text: str) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": text}})

    def answer(self, request: Json, response: Json) -> None:
        body = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": body})

    def read_until(self, kind: str) -> list[Json]:
        assert self.process.stdout is not None
        seen: list[Json] = []
        for line in self.process.stdout:
            seen.append(json.loads(line))
            if seen[-1]["type"] == kind:
                return seen
        raise AssertionError(f"no {kind} came: {seen}")

    def close(self) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(timeout=20)


@pytest.fixture
def talk(client_double: ClientDouble) -> Iterator[Talk]:
    talk = Talk(client_double)
    with talk.process:
        yield talk
        talk.process.kill()


def test_a_permission_is_asked_over_the_control_protocol(talk: Talk, client_double: ClientDouble) -> None:
    talk.say("rename it")
    request = talk.read_until("control_request")[-1]
    assert request["request"]["subtype"] == "can_use_tool"
    assert (client_double.project / "app.py").read_text() == APP

    talk.answer(request, {"behavior": "allow", "updatedInput": request["request"]["input"]})
    after = talk.read_until("result")
    talk.say("create it")
    second = talk.read_until("control_request")
    talk.answer(second[-1], {"behavior": "deny", "message": "Not now."})
    denied = talk.read_until("result")

    assert "def new():" in (client_double.project / "app.py").read_text()
    assert [event["type"] for event in after] == ["user", "assistant", "result"]
    assert second[0]["subtype"] == "init", "each turn begins with an init of its own"
    assert denied[0]["message"]["content"][0]["content"] == "Not now."
    assert denied[-1]["permission_denials"][0]["tool_name"] == "Write"
    assert denied[-1]["result_index"] == 1
    assert talk.close() == 0


def test_an_allow_without_the_input_fails(talk: Talk, client_double: ClientDouble) -> None:
    talk.say("rename it")
    talk.answer(talk.read_until("control_request")[-1], {"behavior": "allow"})

    assert "ZodError" in str(talk.read_until("result"))
    assert (client_double.project / "app.py").read_text() == APP


def test_an_interrupt_cancels_the_request_and_ends_the_turn(talk: Talk) -> None:
    talk.say("rename it")
    request = talk.read_until("control_request")[-1]
    talk.send({"type": "control_request", "request_id": "i1", "request": {"subtype": "interrupt"}})

    seen = talk.read_until("result")

    assert seen[0] == {"type": "control_cancel_request", "request_id": request["request_id"]}
    assert seen[1]["response"]["request_id"] == "i1"
    assert seen[-1]["subtype"] == "error_during_execution"


def test_closing_stdin_denies_the_pending_request(talk: Talk, client_double: ClientDouble) -> None:
    talk.say("rename it")
    talk.read_until("control_request")

    assert talk.close() == 0
    assert (client_double.project / "app.py").read_text() == APP


def test_a_hook_registered_by_initialize_is_called_back(talk: Talk) -> None:
    entry = {"matcher": "Edit|Write", "hookCallbackIds": ["hook_0"]}
    request = {"subtype": "initialize", "hooks": {"PreToolUse": [entry]}}
    talk.send({"type": "control_request", "request_id": "r1", "request": request})
    talk.read_until("control_response")
    talk.say("rename it")

    callback = talk.read_until("control_request")[-1]

    assert callback["request"]["subtype"] == "hook_callback"
    assert callback["request"]["input"]["hook_event_name"] == "PreToolUse"
    talk.answer(callback, {})
    assert talk.read_until("control_request")[-1]["request"]["subtype"] == "can_use_tool"


def test_a_hook_that_exits_two_blocks_the_call(client_double: ClientDouble) -> None:
    run = client_double.headless("rename it", *ACCEPT, *hooks(PreToolUse="echo not today >&2; exit 2"))

    assert "not today" in run.stdout
    assert (client_double.project / "app.py").read_text() == APP


@pytest.mark.parametrize("command", ["exit 1", "kill -9 $$", "echo '{broken'", "true"])
def test_a_hook_that_fails_with_another_code_blocks_nothing(
    client_double: ClientDouble, command: str
) -> None:
    run = client_double.headless("rename it", *ACCEPT, *hooks(PreToolUse=command, PostToolUse=command))

    assert run.code == 0
    assert "def new():" in (client_double.project / "app.py").read_text()


def test_a_hung_hook_is_killed_after_its_timeout(client_double: ClientDouble) -> None:
    hook = {"type": "command", "command": "sleep 30", "timeout": 0.2}
    settings = json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    started = time.monotonic()

    client_double.headless("rename it", *ACCEPT, "--settings", settings)

    assert time.monotonic() - started < 15
    assert "def new():" in (client_double.project / "app.py").read_text()


@pytest.mark.parametrize(
    ("matcher", "fires"),
    [("Edit", True), ("Edit|Write", True), ("Ed.*", True), ("Write", False), ("*", True)],
)
def test_a_matcher_selects_the_tools_of_a_hook(
    client_double: ClientDouble, matcher: str, fires: bool
) -> None:
    hook = {"type": "command", "command": "touch fired"}
    settings = json.dumps({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}})

    client_double.headless("rename it", *ACCEPT, "--settings", settings)

    assert (client_double.project / "fired").exists() is fires


def test_a_hook_with_arguments_is_started_without_a_shell(client_double: ClientDouble) -> None:
    hook = {"type": "command", "command": "touch", "args": ["$HOME", "a b"]}
    settings = json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}})

    client_double.headless("rename it", *ACCEPT, "--settings", '{"hooks": 1}', "--settings", settings)

    assert {path.name for path in client_double.project.iterdir()} >= {"$HOME", "a b"}


def test_hooks_of_the_home_the_project_and_the_command_line_all_run(client_double: ClientDouble) -> None:
    def settings(name: str) -> str:
        hook = {"type": "command", "command": f"touch {name}"}
        return json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}})

    for place, name in (
        (client_double.home, "settings.json"),
        (client_double.project, "settings.local.json"),
    ):
        (place / ".claude").mkdir(exist_ok=True)
        (place / ".claude" / name).write_text(settings(name))

    client_double.headless("rename it", *ACCEPT, "--settings", settings("line"))

    made = {"settings.json", "settings.local.json", "line"}
    assert {path.name for path in client_double.project.iterdir()} >= made


def test_a_hook_has_the_clients_environment(client_double: ClientDouble) -> None:
    client_double.headless("rename it", *ACCEPT, *hooks(PreToolUse="env > seen"))

    seen = dict(line.split("=", 1) for line in (client_double.project / "seen").read_text().splitlines())
    assert seen["CLAUDE_PROJECT_DIR"] == str(client_double.project)
    assert seen["CLAUDECODE"] == "1"
    (transcript,) = (client_double.home / ".claude" / "projects").glob("*/*.jsonl")
    assert seen["CLAUDE_CODE_SESSION_ID"] == transcript.stem


@dataclass(slots=True)
class Listener:
    url: str = ""
    told: list[Json] = field(default_factory=list)


@pytest.fixture
def listener() -> Iterator[Listener]:
    listener = Listener()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            listener.told.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
            body = json.dumps({"hookSpecificOutput": decision}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    listener.url = f"http://127.0.0.1:{server.server_port}/hook"
    yield listener
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_http_hook_receives_the_same_json_and_its_reply_is_used(
    client_double: ClientDouble, listener: Listener
) -> None:
    hook = {"type": "http", "url": listener.url, "timeout": 5}
    settings = json.dumps({"hooks": {"PermissionRequest": [{"hooks": [hook]}]}})

    client_double.headless("rename it", "--settings", settings)

    assert [value["hook_event_name"] for value in listener.told] == ["PermissionRequest"]
    assert "def new():" in (client_double.project / "app.py").read_text()


def test_a_background_command_ends_later_in_a_turn_of_its_own(
    client_double: ClientDouble,
) -> None:
    command = {"command": "sleep 0.2; touch late", "description": "Later", "run_in_background": True}
    client_double.scripts["go"] = [[{"tool": "Bash", "input": command}], [{"say": "Started."}]]

    run = client_double.headless("go", "--dangerously-skip-permissions")

    kinds = [event.get("subtype") or event["type"] for event in run.events()]
    assert kinds.count("init") == 2
    assert kinds[-2:] == ["success", "success"]
    assert "task_notification" in kinds
    assert (client_double.project / "late").exists()


def test_a_sub_agent_runs_in_the_background_by_default(client_double: ClientDouble) -> None:
    agent = {"description": "Small job", "prompt": "rename", "subagent_type": "general-purpose"}
    client_double.scripts["go"] = [[{"tool": "Agent", "input": agent}], [{"say": "Sent."}]]

    events = client_double.headless("go", *ACCEPT).events()

    inner = [event for event in events if event.get("parent_tool_use_id")]
    assert len({event["agent_id"] for event in inner}) == 1
    assert not [event for event in inner if "tool_use_result" in event]
    files = list((client_double.home / ".claude" / "projects").glob("*/*/subagents/agent-*"))
    assert sorted(path.suffix for path in files) == [".json", ".jsonl"]


def test_unknown_events_of_a_newer_client_can_be_scripted(client_double: ClientDouble) -> None:
    event = {"type": "hologram", "beam": 1}
    client_double.scripts["go"] = [[{"emit": event}, {"say": "Done."}]]
    client_double.more = {"version": "9.9.9"}

    events = client_double.headless("go").events()

    assert event in events
    assert events[0]["claude_code_version"] == "9.9.9"


def test_a_session_id_is_kept_and_resumed_and_not_reused(client_double: ClientDouble) -> None:
    chosen = "11111111-2222-4333-8444-555555555555"

    first = client_double.headless("rename it", "--session-id", chosen)
    again = client_double.headless("create it", "--session-id", chosen)
    resumed = client_double.headless("create it", "--resume", chosen, *ACCEPT)

    assert {event["session_id"] for event in first.events()} == {chosen}
    assert again.code == 1
    assert "already in use" in again.stderr
    assert {event["session_id"] for event in resumed.events()} == {chosen}
    assert len(list((client_double.home / ".claude" / "projects").glob("*/*.jsonl"))) == 1


def test_stream_json_needs_verbose(client_double: ClientDouble) -> None:
    command = client_double.command("-p", "hi", "--output-format", "stream-json")
    done = subprocess.run(
        command, cwd=client_double.project, env=client_double.environment(), capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "requires --verbose" in done.stderr


def test_an_unreadable_script_is_an_error(client_double: ClientDouble, tmp_path: Path) -> None:
    client_double.scripts = {"go": [[{"dance": "now"}]]}
    run = client_double.headless("go")
    assert run.code == 2
    assert "no such step" in run.stderr
