"""The client double compared with the real client: both play the same script."""

import functools
import json
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chorus.demo.model_server.server import ModelServer
from tests.client_double.conftest import ClientDouble
from tests.client_double.dialog_calls import CALLS
from tests.lab.client import Client, Run, find_client, prepare_home, read_version
from tests.lab.script import Text, ToolUse

pytestmark = pytest.mark.client

Json = dict[str, Any]
# What depends on the account, plugins and prices is not imitated.
NOT_COMPARED = {"modelUsage", "model_usage_since_last_result", "usage", "subagent_stats"}
SCRIPT: list[list[Json]] = [
    [{"say": "Reading."}, {"tool": "Read", "input": {"file_path": "{cwd}/app.py"}}],
    [
        {"say": "Editing."},
        {"tool": "Edit", "input": CALLS["edit"][1]},
        {"tool": "Write", "input": CALLS["create"][1]},
    ],
    [{"tool": "Bash", "input": {"command": "sed -i s/one/ONE/ new.txt && echo hi", "description": "Change"}}],
    [{"tool": "Bash", "input": {"command": "exit 3", "description": "Fail"}}],
    [
        {
            "tool": "Edit",
            "input": {"file_path": "{cwd}/app.py", "old_string": "nope", "new_string": "x"},
        }
    ],
    [{"tool": "Write", "input": {"file_path": "{cwd}/new.txt", "content": "three\n"}}],
    [{"tool": "MultiEdit", "input": {"file_path": "{cwd}/new.txt"}}],
    [
        {
            "tool": "Agent",
            "input": {
                "description": "Small job",
                "prompt": "inner job",
                "subagent_type": "general-purpose",
                "run_in_background": False,
            },
        }
    ],
    [{"say": "Finished it."}],
]
INNER: list[list[Json]] = [
    [
        {
            "tool": "Edit",
            "input": {"file_path": "{cwd}/app.py", "old_string": "return 1", "new_string": "return 2"},
        }
    ],
    [{"say": "Inner finished."}],
]
EVENTS = [
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse",
    "PostToolUseFailure", "PostToolBatch", "SubagentStart", "SubagentStop", "Stop", "SessionEnd",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """The visible results of one run."""

    run: Run
    hooks: list[Json]
    transcript: list[Json]
    files: dict[str, str]


@functools.cache
def _binary() -> tuple[Path, str] | None:
    binary = find_client()
    return (binary, read_version(binary)) if binary else None


@pytest.fixture
def client(client_double: ClientDouble, tmp_path: Path) -> Iterator[Client]:
    found = _binary()
    if found is None:
        pytest.skip("no Claude Code client: claude-agent-sdk ships none for this platform")
    home = tmp_path / "client-home"
    prepare_home(home, [client_double.project], version=found[1])
    (home / ".gitconfig").write_text((client_double.home / ".gitconfig").read_text())
    with ModelServer(
        {"go on": steps(SCRIPT, client_double.project), "inner job": steps(INNER, client_double.project)}
    ) as model_server:
        yield Client(found[0], home, client_double.project, model_server)


def steps(script: Sequence[Sequence[Json]], cwd: Path) -> list[list[Text | ToolUse]]:
    filled: list[list[Json]] = json.loads(json.dumps(script).replace("{cwd}", str(cwd)))
    return [
        [Text(s["say"]) if "say" in s else ToolUse(s["tool"], s["input"]) for s in reply] for reply in filled
    ]


def hook_settings(place: Path) -> str:
    """Hooks for every event that append their input to one file."""
    command = f"{{ cat; echo; }} >> {shlex.quote(str(place / 'hooks.jsonl'))}"
    entry = [{"hooks": [{"type": "command", "command": command}]}]
    return json.dumps({"hooks": dict.fromkeys(EVENTS, entry)})


def play(start: Any, home: Path, project: Path, scratch: Path, *arguments: str) -> Seen:
    scratch.mkdir()
    run = start("go on", *arguments, "--settings", hook_settings(scratch))
    assert run.code == 0, run.stderr
    hooks = [json.loads(line) for line in (scratch / "hooks.jsonl").read_text().splitlines() if line]
    (path,) = (home / ".claude" / "projects").glob("*/*.jsonl")
    transcript = [json.loads(line) for line in path.read_text().splitlines()]
    files = {p.name: p.read_text() for p in project.iterdir() if p.is_file()}
    for command in (["checkout", "-q", "."], ["clean", "-fdq"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    return Seen(run, hooks, transcript, files)


def shape(value: Any, depth: int = 0) -> Any:
    """A value's keys and types, four levels deep; strings and numbers without their content."""
    if isinstance(value, dict) and depth < 4:
        return {key: shape(v, depth + 1) for key, v in sorted(value.items()) if key not in NOT_COMPARED}
    if isinstance(value, list) and depth < 4:
        return [shape(item, depth + 1) for item in value]
    return type(value).__name__


def kind(event: Json) -> str:
    content = event.get("message", {}).get("content") if isinstance(event.get("message"), dict) else None
    block = content[0]["type"] if isinstance(content, list) else ""
    return f"{event['type']}/{event.get('subtype') or block}"


@pytest.mark.parametrize(
    "arguments",
    [("--permission-mode", "acceptEdits", "--allowedTools", "Bash"), ("--permission-mode", "default")],
    ids=["allowed", "denied"],
)
def test_a_headless_run_equals_the_clients(
    client_double: ClientDouble, client: Client, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    client_double.scripts = {"go on": SCRIPT, "inner job": INNER}

    real = play(client.headless, client.home, client.project, tmp_path / "real", *arguments)
    mine = play(
        client_double.headless, client_double.home, client_double.project, tmp_path / "mine", *arguments
    )

    assert mine.files == real.files
    compare_streams(mine.run.events(), real.run.events())
    compare_hooks(mine.hooks, real.hooks)
    compare_transcripts(mine.transcript, real.transcript)


def compare_streams(mine: list[Json], real: list[Json]) -> None:
    # When the progress of a sub-agent is reported depends on timing.
    mine, real = ([e for e in run if e.get("subtype") != "task_progress"] for run in (mine, real))
    assert [kind(event) for event in mine] == [kind(event) for event in real]
    for ours, theirs in zip(mine, real, strict=True):
        if kind(ours) == "system/init":
            assert ours.keys() == theirs.keys()
            assert ours["tools"] == theirs["tools"]
        elif "toolsUsed" in str(theirs.get("tool_use_result")):
            assert ours.keys() == theirs.keys()  # the client's report of an agent is longer
        else:
            assert shape(ours) == shape(theirs), kind(ours)
        assert decisions(ours) == decisions(theirs)
        if isinstance(ours.get("tool_use_result"), dict) and "structuredPatch" in ours["tool_use_result"]:
            assert ours["tool_use_result"] == theirs["tool_use_result"]


def decisions(event: Json) -> list[tuple[object, object]]:
    meta = event.get("tool_result_meta", [])
    return [(item.get("non_execution_kind"), item.get("permission_decision")) for item in meta]


def compare_hooks(mine: list[Json], real: list[Json]) -> None:
    names = [[hook["hook_event_name"] for hook in hooks] for hooks in (mine, real)]
    assert names[0] == names[1]
    for ours, theirs in zip(mine, real, strict=True):
        assert list(ours) == list(theirs), ours["hook_event_name"]
        if "tool_response" not in ours or "structuredPatch" in theirs["tool_response"]:
            assert shape(ours.get("tool_response")) == shape(theirs.get("tool_response"))


def compare_transcripts(mine: list[Json], real: list[Json]) -> None:
    def told(lines: list[Json]) -> list[Json]:
        return [line for line in lines if line["type"] in ("user", "assistant") and not line.get("isMeta")]

    assert [kind(line) for line in told(mine)] == [kind(line) for line in told(real)]
    for ours, theirs in zip(told(mine), told(real), strict=True):
        assert ours.keys() == theirs.keys(), kind(ours)
        assert ours.get("toolDenialKind") == theirs.get("toolDenialKind")
        assert judged(ours) == judged(theirs)


def judged(line: Json) -> Json:
    # Which rule matched, and from which file, is not imitated.
    return {
        key: value
        for key, value in line.get("permissionDecision", {}).items()
        if key not in ("reasonCode", "ruleSource")
    }
