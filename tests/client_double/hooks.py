"""Run hooks as the client does: all of an event at once, JSON in, JSON or an exit code out.

A hook that fails, hangs or says nothing never stops the client; exit code 2 and a decision do.
"""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.client_double.session import EFFORT, Session
from tests.client_double.settings import Hook, Settings
from tests.client_double.values import Agent, Json

BLOCKED = 2
# Events that carry neither the permission mode nor the effort.
BARE = {"SessionStart", "SessionEnd", "SubagentStart"}
WITHOUT_EFFORT = BARE | {"UserPromptSubmit", "Notification"}


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply of one hook."""

    hook: Hook
    code: int
    stdout: str = ""
    stderr: str = ""
    output: Json = field(default_factory=dict)

    @property
    def specific(self) -> Json:
        value = self.output.get("hookSpecificOutput")
        return value if isinstance(value, dict) else {}

    @property
    def blocks(self) -> bool:
        return self.code == BLOCKED or self.output.get("decision") == "block"

    @property
    def reason(self) -> str:
        return str(self.output.get("reason") or self.stderr.strip() or self.stdout.strip())

    @property
    def complaint(self) -> str | None:
        """The message on the screen for a failed hook."""
        return None if self.code in (0, BLOCKED) else self.stderr.strip() or f"exit code {self.code}"


class Hooks:
    def __init__(self, session: Session, settings: Settings) -> None:
        self._session = session
        self._settings = settings
        # A control client may register a callback instead of a command.
        self.callback: Callable[[str, str | None, Json], list[Reply]] = lambda *_: []

    def run(
        self, event: str, fields: Json, *, subject: str | None = None, agent: Agent | None = None
    ) -> list[Reply]:
        """Run every hook of the event and wait for all of them."""
        value = self._input(event, fields, agent)
        hooks = self._settings.hooks(event, subject)
        replies = self.callback(event, subject, value)
        if not hooks:
            return replies
        results: dict[int, Reply] = {}

        def run(place: int, hook: Hook) -> None:
            results[place] = self._run_now(hook, value)

        threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(hooks)]
        for thread in threads:
            thread.start()
        for thread, hook in zip(threads, hooks, strict=True):
            if not hook.detached:
                thread.join()
        return [*replies, *(results.get(place, Reply(hook, 0)) for place, hook in enumerate(hooks))]

    def _input(self, event: str, fields: Json, agent: Agent | None) -> Json:
        session = self._session
        value: Json = {
            "session_id": session.id,
            "transcript_path": str(session.transcript),
            "cwd": str(session.cwd),
        }
        if session.prompt_id is not None and event != "SessionStart":
            value["prompt_id"] = session.prompt_id
        if event not in BARE:
            value["permission_mode"] = session.mode
        if agent is not None:
            value |= {"agent_id": agent.id, "agent_type": agent.kind}
        if event not in WITHOUT_EFFORT:
            value["effort"] = {"level": EFFORT}
        return {**value, "hook_event_name": event, **fields}

    def _run_now(self, hook: Hook, value: Json) -> Reply:
        data = json.dumps(value, ensure_ascii=False)
        if hook.kind == "http":
            from tests.client_double.http_hook import post  # noqa: PLC0415  slow to import, seldom used

            body, error = post(hook, data)
            return Reply(hook, 0 if error is None else 1, body, error or "", parse_output(body))
        process = subprocess.Popen(
            ["sh", "-c", hook.target] if hook.arguments is None else [hook.target, *hook.arguments],
            cwd=self._session.cwd if self._session.cwd.exists() else Path("/"),
            env=self._session.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(data, timeout=hook.timeout_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Reply(hook, 0)  # as if there were no hook
        return Reply(hook, process.returncode, stdout, stderr, parse_output(stdout))


def parse_output(text: str) -> Json:
    try:
        value: Any = json.loads(text) if text.lstrip().startswith("{") else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
