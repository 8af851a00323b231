"""A session in which the client asks about every call, and Chorus commands that answer it.

One message of the user makes the model call several tools, one after another; each call is asked about
and answered before the next one comes. So a client is started once for many answers.
"""

import contextlib
import io
import json
import sys
from collections.abc import Callable, Mapping, Sequence
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
# Polling more often would take time from the client that is waited for.
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
class AskedCall:
    """A call the client asks about, the answer, and the expected effect."""

    call: ToolUse
    kind: str
    answer: Sequence[str]  # words of the command, without the prompt's id
    files: Mapping[str, str | None] = field(default_factory=dict)
    received: str | None = None  # by the model, after the answer
    # An answer for which the dialog has no option, given first: refused for this reason, without a key.
    refused: tuple[Sequence[str], str] | None = None


@dataclass(frozen=True, slots=True)
class UnaskedCall:
    """A call the client makes without asking."""

    call: ToolUse
    files: Mapping[str, str | None] = field(default_factory=dict)
    received: str | None = None


Call = AskedCall | UnaskedCall


def ask(asking: WatchedSession, message: str, turns: Sequence[Sequence[Step]]) -> dict[str, Any]:
    """Make the model call tools; return the prompt for the first."""
    send_script(asking, message, turns)
    return next_prompt(asking)


def send_script(asking: WatchedSession, message: str, turns: Sequence[Sequence[Step]]) -> None:
    asking.client.model_server.scripts[message] = [
        [in_directory(s, asking.project) for s in turn] for turn in turns
    ]
    assert asking.pane is not None
    asking.pane.wait_for(INPUT_BOX, seconds=SECONDS)
    say(asking.pane, message)


def waiting(asking: WatchedSession) -> list[dict[str, Any]]:
    with connect(find_home(asking.project)) as watcher:
        return list(watcher.request("prompts", {}))


def next_prompt(asking: WatchedSession, *, but: str = "") -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        return next((p for p in waiting(asking) if p["id"] != but and p["kind"] != "unknown"), None)

    return wait_for(look, what="a prompt", seconds=SECONDS, every=EVERY)


def no_prompt(asking: WatchedSession) -> None:
    wait_for(lambda: waiting(asking) == [], what="the prompt ends", seconds=SECONDS, every=EVERY)


def command(asking: WatchedSession, *words: str) -> tuple[int, str, str]:
    """Run a Chorus command in the project, in this process: starting another would take time."""
    with (
        contextlib.chdir(asking.project),
        contextlib.redirect_stdout(io.StringIO()) as stdout,
        contextlib.redirect_stderr(io.StringIO()) as stderr,
    ):
        code = main(words)
    return code, stdout.getvalue(), stderr.getvalue()


def answer_prompt(
    asking: WatchedSession, verb: str, prompt: Mapping[str, Any], *words: str
) -> dict[str, Any]:
    """Answer a prompt; return the JSON that the command prints."""
    code, stdout, stderr = command(asking, verb, prompt["id"], *words, "--json")
    assert (code, stderr) == (ExitCode.OK, ""), (verb, words, code, stderr)
    done: dict[str, Any] = json.loads(stdout)
    return done


GiveAnswer = Callable[[Mapping[str, Any], Sequence[str]], object]


def play(
    asking: WatchedSession,
    name: str,
    steps: Sequence[Call],
    *,
    agent: str | None = None,
    answer: GiveAnswer | None = None,
) -> None:
    """Play one message to its end. The calls are the model's own, or those of a sub-agent.

    `answer`: gives the answers, instead of the command line.
    """
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
    send_script(asking, f"{name}, please", [*calls, [Text(last)]])
    before = ""
    for step in steps:
        if isinstance(step, AskedCall):
            before = answer_next(asking, step, but=before, answer=answer)
        wait_for(
            partial(_has_effect, asking, step), what=f"the effect of {step}", seconds=SECONDS, every=EVERY
        )
    if agent is not None or not _ends_the_turn(steps[-1]):
        asking.pane.wait_for("● " + last, seconds=SECONDS)
    no_prompt(asking)
    expect_results(asking, dict(zip(ids, steps, strict=True)))
    final = {path: text for step in steps for path, text in step.files.items()}
    assert final == {path: _text(asking.project / path) for path in final}


def answer_next(
    asking: WatchedSession, step: AskedCall, *, but: str, answer: GiveAnswer | None = None
) -> str:
    """Answer the next prompt, which is not `but`; return its id."""
    prompt = next_prompt(asking, but=but)
    assert prompt["kind"] == step.kind, prompt
    if step.refused is not None:
        (verb, *words), why = step.refused
        code, _, noted = command(asking, verb, prompt["id"], *words)
        assert (code, waiting(asking)) == (ExitCode.REFUSED, [prompt])
        assert why in noted
    if answer is not None:
        answer(prompt, step.answer)
        return str(prompt["id"])
    verb, *words = step.answer
    assert answer_prompt(asking, verb, prompt, *words)["how"] == "keys"
    return str(prompt["id"])


def expect_results(asking: WatchedSession, steps: Mapping[str, Call]) -> None:
    """Check the result of each call in the transcript: rejected if it was denied."""
    told = wait_for(
        lambda: _whole(results(asking), steps), what="the end of each call", seconds=SECONDS, every=EVERY
    )
    for id, step in steps.items():
        denied = isinstance(step, AskedCall) and step.answer[0] == "deny"
        assert (told[id].get("is_error", False), REJECTED in str(told[id]["content"])) == (denied, denied), (
            step
        )


def results(asking: WatchedSession) -> dict[str, dict[str, Any]]:
    """The results in the transcripts of the session and its sub-agents, by call id."""
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
    """A plain no ends the turn: the client waits for the user."""
    return isinstance(step, AskedCall) and step.answer == ["deny"]


def _has_effect(asking: WatchedSession, step: Call) -> bool:
    as_wanted = all(_text(asking.project / path) == text for path, text in step.files.items())
    return as_wanted and (step.received is None or _received(asking, step.received))


def _received(asking: WatchedSession, words: str) -> bool:
    """Whether the model received this text, from the user or from a tool."""
    newest = asking.client.model_server.messages()[-3:]
    return any(words in text for request in newest for text in request.texts())


def _text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None
