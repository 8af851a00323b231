"""MultiEdit, which clients up to 2.1.196 have: several edits of one file are one action."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.client import connect
from chorus.wire.home import Home
from chorus.wire.watcher_process import connect_or_start
from tests.client_double.conftest import ClientDouble
from tests.lab.terminal import Terminal, terminal_fixture
from tests.waiting import wait_for
from tests.watcher.hook_events import HookEvents

terminal = terminal_fixture(width=60, height=36)
SECONDS = 60.0
COMMITTED = "a = 1\nb = 1\nc = 1\nd = 1\n"
# The user's own line is between the two lines that the agent changes, and not committed.
BEFORE = "a = 1\nmine = 0\nb = 1\nc = 1\nd = 1\n"
AFTER = "a = 2\nmine = 0\nb = 2\nc = 1\nd = 1\n"
EDITS = [{"old_string": "a = 1", "new_string": "a = 2"}, {"old_string": "b = 1", "new_string": "b = 2"}]
PATCH = {
    "oldStart": 1, "oldLines": 5, "newStart": 1, "newLines": 5,
    "lines": ["-a = 1", "+a = 2", " mine = 0", "-b = 1", "+b = 2", " c = 1", " d = 1"],
}  # fmt: skip


@pytest.fixture
def edited(client_double: ClientDouble) -> Path:
    """The project, with the file that is edited."""
    (client_double.project / "many.py").write_text(COMMITTED)
    for words in (("add", "many.py"), ("commit", "-qm", "many")):
        subprocess.run(["git", *words], cwd=client_double.project, check=True)
    return client_double.project


def call(project: Path) -> dict[str, Any]:
    return {"file_path": str(project / "many.py"), "edits": EDITS}


def report(project: Path) -> dict[str, Any]:
    path = str(project / "many.py")
    return {"filePath": path, "edits": EDITS, "originalFileContents": BEFORE, "structuredPatch": [PATCH]}


def expect_one_action(home: Home, project: Path) -> None:
    """Check that there is one action with both edits and without the user's line, and revert it."""
    with connect(home) as watcher:
        entries = watcher.ask("log", cwd=str(project), here=True)
        assert [(entry["tool"], entry["status"], entry["paths"]) for entry in entries] == [
            ("MultiEdit", "committed", ["many.py"])
        ]
        shown = watcher.ask("show", action=entries[0]["n"] or 0, cwd=str(project))
        changed = [
            line
            for line in shown["patch"].splitlines()
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        assert sorted(changed) == ["+a = 2", "+b = 2", "-a = 1", "-b = 1"]
        watcher.ask("revert", cwd=str(project), actions=[entries[0]["n"] or 0])
    assert (project / "many.py").read_text() == BEFORE


def test_a_hooked_run_commits_it_as_one_action_beside_the_users_line(home: Home, edited: Path) -> None:
    project = edited
    with connect_or_start(home):
        pass
    hooks, path = HookEvents(home), project / "many.py"
    event = {
        "session_id": "s-multi", "cwd": str(project), "transcript_path": str(project.parent / "none.jsonl"),
        "tool_name": "MultiEdit", "tool_use_id": "toolu_multi", "tool_input": call(project),
    }  # fmt: skip
    path.write_text(BEFORE)
    hooks.tell(event | {"hook_event_name": "PreToolUse"})
    path.write_text(AFTER)
    hooks.tell(event | {"hook_event_name": "PostToolUse", "tool_response": report(project)})
    expect_one_action(home, project)


def test_a_recorded_stream_commits_it_as_one_action_beside_the_users_line(
    home: Home, edited: Path, client_double: ClientDouble, terminal: Terminal, tmp_path: Path
) -> None:
    project, session = edited, {"session_id": "s-multi"}
    block = {"type": "tool_use", "id": "toolu_multi", "name": "MultiEdit", "input": call(project)}
    result = {"type": "tool_result", "tool_use_id": "toolu_multi", "content": "Applied 2 edits"}
    events = [
        {"type": "system", "subtype": "init", "cwd": str(project), **session},
        {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [block]}, **session},
        {"type": "user", "message": {"content": [result]}, "tool_use_result": report(project), **session},
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", **session},
    ]
    (tmp_path / "events").write_text(json.dumps(events))
    program = tmp_path / "claude"
    program.write_text(
        f"#!{sys.executable}\n"
        "import json, pathlib, time\n"
        f"events = json.loads(pathlib.Path({str(tmp_path / 'events')!r}).read_text())\n"
        "for event in events:\n"
        "    if event['type'] == 'user':\n"
        f"        while not pathlib.Path({str(tmp_path / 'gate')!r}).exists():\n"
        "            time.sleep(0.01)\n"
        f"        pathlib.Path({str(project / 'many.py')!r}).write_text({AFTER!r})\n"
        "    print(json.dumps(event), flush=True)\n"
    )
    program.chmod(0o755)
    (project / "many.py").write_text(BEFORE)
    environment = client_double.environment()
    pane = terminal.open(["bash", "--norc", "-i"], cwd=project, environment=environment)
    pane.wait_for(r"[$#]", seconds=SECONDS)
    with connect_or_start(home) as watcher:
        watcher.ask("watch", socket=str(terminal.socket()), pane=pane.id)
        pane.type(f"{program} -p go --output-format stream-json\n")
        # A real client takes longer to start than this one takes for everything.
        piped = ("display-message", "-p", "-t", pane.id, "#{pane_pipe}")
        wait_for(lambda: terminal.tmux(*piped).strip() == "1", what="the pane is read", seconds=SECONDS)
        (tmp_path / "gate").touch()
        wait_for(
            lambda: (
                watcher.ask("turns", session="s-multi") and watcher.ask("log", cwd=str(project), here=True)
            ),
            what="the end of the turn",
            seconds=SECONDS,
        )
    expect_one_action(home, project)
