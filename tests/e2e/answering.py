"""A session in which everything is asked, and answers given to it as a person gives them."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.wire.client import connect
from chorus.wire.home import find_home
from tests.e2e.scenarios import in_directory
from tests.e2e.watching import Watching
from tests.lab.client import INPUT_BOX, say
from tests.lab.script import Step, Text
from tests.waiting import wait_for

# Far longer than a client on a busy machine takes.
SECONDS = 90.0
MCP = {"notes": {"command": sys.executable, "args": [str(Path(__file__).parent / "mcp_server.py")]}}
ASKING = (
    "--permission-mode",
    "default",
    "--mcp-config",
    json.dumps({"mcpServers": MCP}),
    "--strict-mcp-config",
)


@dataclass(frozen=True, slots=True)
class Case:
    """What the model does, what the person answers, and what then is so."""

    name: str
    turns: Sequence[Sequence[Step]]
    kind: str
    answer: Sequence[str]  # words of the command, without the prompt's id
    files: Mapping[str, str | None] = field(default_factory=dict)
    heard: str | None = None  # by the model, when the turn goes on
    goes_on: bool = True
    scripts: Mapping[str, Sequence[Sequence[Step]]] = field(default_factory=dict)  # of sub-agents

    def __str__(self) -> str:
        return self.name


def ask(asking: Watching, message: str, turns: Sequence[Sequence[Step]]) -> dict[str, Any]:
    """Have the model call tools; the prompt that comes of it."""
    asking.client.stub.scripts[message] = [[in_directory(s, asking.project) for s in turn] for turn in turns]
    assert asking.pane is not None
    say(asking.pane, message)
    return next_prompt(asking)


def waiting(asking: Watching) -> list[dict[str, Any]]:
    with connect(find_home(asking.project)) as agent:
        return list(agent.ask("prompts"))


def next_prompt(asking: Watching, *, but: str = "") -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        return next((p for p in waiting(asking) if p["id"] != but and p["kind"] != "unknown"), None)

    return wait_for(look, what="a prompt", seconds=SECONDS)


def no_prompt(asking: Watching) -> None:
    wait_for(lambda: waiting(asking) == [], what="the end of the prompt", seconds=SECONDS)


def play(asking: Watching, case: Case, number: int) -> dict[str, Any]:
    """One case, to its end; what the answering command said."""
    assert asking.pane is not None
    message, last = f"case {number}: {case.name}.", f"That was number {number}."
    for key, turns in case.scripts.items():
        asking.client.stub.scripts[key] = [[in_directory(s, asking.project) for s in turn] for turn in turns]
    prompt = ask(asking, message, [*case.turns, [Text(last)]])
    assert prompt["kind"] == case.kind, prompt
    command, *words = case.answer
    done: dict[str, Any] = asking.chorus(command, prompt["id"], *words)
    if case.goes_on:
        asking.pane.wait_for("● " + last, seconds=SECONDS)
    no_prompt(asking)
    asking.pane.wait_for(INPUT_BOX, seconds=SECONDS)
    expect(asking, case)
    return done


def expect(asking: Watching, case: Case) -> None:
    for name, text in case.files.items():
        path = asking.project / name
        assert (path.read_text() if path.exists() else None) == text, case.name
    if case.heard is not None:
        heard = asking.client.stub.messages()[-1].texts()
        assert any(case.heard in text for text in heard), (case.name, heard)
