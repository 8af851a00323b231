"""A session in which everything is asked, and answers given to it as a person gives them.

One message of the person makes the model call several tools, one after another; each call is asked about
and answered before the next one comes. So a client is started once for many answers.
"""

import contextlib
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from chorus.cli import main
from chorus.errors import ExitCode
from chorus.wire.client import connect
from chorus.wire.home import find_home
from tests.e2e.scenarios import in_directory
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import INPUT_BOX, say
from tests.lab.script import Step, Text, ToolUse
from tests.waiting import wait_for

# Far longer than a client on a busy machine takes.
SECONDS = 90.0
# A look costs the watcher or the disk something, which the client that is waited for would rather have.
EVERY = 0.02
MCP = {"notes": {"command": sys.executable, "args": [str(Path(__file__).parent / "mcp_server.py")]}}
ASKING = (
    "--permission-mode",
    "default",
    "--mcp-config",
    json.dumps({"mcpServers": MCP}),
    "--strict-mcp-config",
)
REJECTED = "was rejected"


@dataclass(frozen=True, slots=True)
class Asked:
    """A call the client asks about, what the person answers, and what then is so."""

    call: ToolUse
    kind: str
    answer: Sequence[str]  # words of the command, without the prompt's id
    files: Mapping[str, str | None] = field(default_factory=dict)
    heard: str | None = None  # by the model, after the answer
    # An answer that the dialog has no place for, given before: refused for this reason, without a key.
    refused: tuple[Sequence[str], str] | None = None


@dataclass(frozen=True, slots=True)
class Unasked:
    """A call the client makes without asking."""

    call: ToolUse
    files: Mapping[str, str | None] = field(default_factory=dict)
    heard: str | None = None


Call = Asked | Unasked


def ask(asking: WatchedSession, message: str, turns: Sequence[Sequence[Step]]) -> dict[str, Any]:
    """Have the model call tools; the prompt that comes of it."""
    tell(asking, message, turns)
    return next_prompt(asking)


def tell(asking: WatchedSession, message: str, turns: Sequence[Sequence[Step]]) -> None:
    asking.client.model_server.scripts[message] = [
        [in_directory(s, asking.project) for s in turn] for turn in turns
    ]
    assert asking.pane is not None
    asking.pane.wait_for(INPUT_BOX, seconds=SECONDS)
    say(asking.pane, message)


def waiting(asking: WatchedSession) -> list[dict[str, Any]]:
    with connect(find_home(asking.project)) as watcher:
        return list(watcher.ask("prompts"))


def next_prompt(asking: WatchedSession, *, but: str = "") -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        return next((p for p in waiting(asking) if p["id"] != but and p["kind"] != "unknown"), None)

    return wait_for(look, what="a prompt", seconds=SECONDS, every=EVERY)


def no_prompt(asking: WatchedSession) -> None:
    wait_for(lambda: waiting(asking) == [], what="the end of the prompt", seconds=SECONDS, every=EVERY)


def command(asking: WatchedSession, *words: str) -> tuple[int, str, str]:
    """A command as a person types it in the project, without the time another interpreter takes to start."""
    with (
        contextlib.chdir(asking.project),
        contextlib.redirect_stdout(io.StringIO()) as said,
        contextlib.redirect_stderr(io.StringIO()) as noted,
    ):
        code = main(words)
    return code, said.getvalue(), noted.getvalue()


def give(asking: WatchedSession, verb: str, prompt: Mapping[str, Any], *words: str) -> dict[str, Any]:
    """Answer a prompt; what the command says of it."""
    code, said, noted = command(asking, verb, prompt["id"], *words, "--json")
    assert (code, noted) == (ExitCode.OK, ""), (verb, words, code, noted)
    done: dict[str, Any] = json.loads(said)
    return done


def play(asking: WatchedSession, name: str, steps: Sequence[Call], *, agent: str | None = None) -> None:
    """One message, to its end. The calls are the model's own, or those of an agent that it gives a task."""
    assert asking.pane is not None
    last, ids = f"That was {name}.", [f"toolu_{name}_{number}" for number in range(len(steps))]
    calls: list[list[Step]] = [[replace(step.call, id=id)] for step, id in zip(steps, ids, strict=True)]
    if agent is not None:
        turns: list[list[Step]] = [*calls, [Text("It is done.")]]
        asking.client.model_server.scripts[agent] = [
            [in_directory(s, asking.project) for s in t] for t in turns
        ]
        given = {"description": "do it", "prompt": agent, "subagent_type": "general-purpose"}
        calls = [[ToolUse("Agent", given)]]
    tell(asking, f"{name}, please", [*calls, [Text(last)]])
    before = ""
    for step in steps:
        if isinstance(step, Asked):
            before = respond(asking, step, but=before)
        wait_for(partial(_is_so, asking, step), what=f"the effect of {step}", seconds=SECONDS, every=EVERY)
    if agent is not None or not _ends_the_turn(steps[-1]):
        asking.pane.wait_for("● " + last, seconds=SECONDS)
    no_prompt(asking)
    expect_told(asking, dict(zip(ids, steps, strict=True)))
    final = {path: text for step in steps for path, text in step.files.items()}
    assert final == {path: _text(asking.project / path) for path in final}


def respond(asking: WatchedSession, step: Asked, *, but: str) -> str:
    """Answer the prompt that comes, which is not the one answered before; its id."""
    prompt = next_prompt(asking, but=but)
    assert prompt["kind"] == step.kind, prompt
    if step.refused is not None:
        (verb, *words), why = step.refused
        code, _, noted = command(asking, verb, prompt["id"], *words)
        assert (code, waiting(asking)) == (ExitCode.REFUSED, [prompt])
        assert why in noted
    verb, *words = step.answer
    assert give(asking, verb, prompt, *words)["how"] == "keys"
    return str(prompt["id"])


def expect_told(asking: WatchedSession, steps: Mapping[str, Call]) -> None:
    """The transcript holds the end of each call: a rejection for what was denied, a result for the rest."""
    told = wait_for(
        lambda: _whole(results(asking), steps), what="the end of each call", seconds=SECONDS, every=EVERY
    )
    for id, step in steps.items():
        denied = isinstance(step, Asked) and step.answer[0] == "deny"
        assert (told[id].get("is_error", False), REJECTED in str(told[id]["content"])) == (denied, denied), (
            step
        )


def results(asking: WatchedSession) -> dict[str, dict[str, Any]]:
    """The results in the session's transcripts, its sub-agents' among them, by the id of the call."""
    rows = (
        json.loads(row)
        for transcript in (asking.client.home / ".claude" / "projects").rglob("*.jsonl")
        for row in transcript.read_text().splitlines(keepends=True)
        if row.endswith("\n")
    )
    contents = (row["message"]["content"] for row in rows if row["type"] == "user")
    blocks = (block for content in contents if isinstance(content, list) for block in content)
    return {block["tool_use_id"]: block for block in blocks if block["type"] == "tool_result"}


def _whole(found: dict[str, dict[str, Any]], wanted: Mapping[str, object]) -> dict[str, dict[str, Any]]:
    return found if wanted.keys() <= found.keys() else {}


def _ends_the_turn(step: Call) -> bool:
    """Who says no and nothing else is waited for."""
    return isinstance(step, Asked) and step.answer == ["deny"]


def _is_so(asking: WatchedSession, step: Call) -> bool:
    as_wanted = all(_text(asking.project / path) == text for path, text in step.files.items())
    return as_wanted and (step.heard is None or _heard(asking, step.heard))


def _heard(asking: WatchedSession, words: str) -> bool:
    """Whether the model was told this: by the person, or by a tool."""
    newest = asking.client.model_server.messages()[-3:]
    return any(words in text for request in newest for text in request.texts())


def _text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None
