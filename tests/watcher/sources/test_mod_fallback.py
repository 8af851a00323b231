"""Hooks for a client whose mod is silent, and only for such a one."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.interface import Clients
from chorus.model.action import Action, Call, WriteScope
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.outcomes import ActionClosed, CallOpened
from chorus.model.session import Session
from chorus.watcher.sources.live_clients import find_client_key
from chorus.watcher.sources.mod_fallback import ModFallback
from chorus.watcher.state.temporary_hooks import TemporaryHooks

SESSION = SessionId("s1")
REACHABLE = 1_000_000.0


@dataclass
class ModdedClient:
    """What a running client's own files say."""

    loads_mod: bool = True
    headless: bool = False


class ModdedClients:
    def read_client(self, process: object) -> ModdedClient:
        return ModdedClient()


@pytest.fixture
def fallback(tmp_path: Path) -> ModFallback:
    session = Session(SESSION, cwd=str(tmp_path), client=find_client_key(os.getpid()))
    return ModFallback(
        cast("Clients", ModdedClients()),
        AGENT.setup,
        TemporaryHooks(tmp_path / "temporary-hooks.json"),
        lambda name: session,
        lambda cwd: tmp_path,
        lambda root, path: None,
        reachable_since=REACHABLE,
    )


def play(fallback: ModFallback, *, after: float, tool: str = "Edit", report: str | None = None) -> None:
    """The transcript reports a call that was made `after` seconds, from its start to its end."""
    call = ToolUseId("call")
    time = datetime.fromtimestamp(REACHABLE + after, UTC).isoformat()
    shared: dict[str, Any] = {"paths": (), "write_scope": WriteScope.NAMED, "session": SESSION, "time": time}
    fallback.feed([CallOpened(Call(call, tool, {}, **shared))], "transcript")
    fallback.on_report(report)
    rest: dict[str, Any] = {"turn": None, "agent": None, "report": None, "lead_text": None, "message": None}
    fallback.feed([ActionClosed(Action(call, tool, {}, "succeeded", **shared, **rest))], "transcript")


def test_a_call_that_the_mod_does_not_report_adds_hooks(fallback: ModFallback, tmp_path: Path) -> None:
    play(fallback, after=1)
    assert (tmp_path / ".claude" / "settings.local.json").exists()


@pytest.mark.parametrize(
    "call",
    [{"after": -1}, {"after": 1, "report": "call"}, {"after": 1, "tool": "Read"}],
    ids=["no watcher was reachable", "it was reported meanwhile", "the mod never reports it"],
)
def test_other_calls_add_no_hooks(fallback: ModFallback, tmp_path: Path, call: dict[str, Any]) -> None:
    play(fallback, **call)
    assert not (tmp_path / ".claude").exists()
