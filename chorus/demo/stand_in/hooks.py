"""Run the hooks given with `--settings`, as the client does: JSON on stdin, JSON on stdout."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

from chorus.demo.stand_in.session import Json, Session

# The client's time limit for a hook that sets none.
DEFAULT_TIMEOUT_SECONDS = 600.0


class Hooks:
    def __init__(self, session: Session, settings: str) -> None:
        self._session = session
        self._hooks: Json = json.loads(settings).get("hooks", {}) if settings else {}

    def run(self, event: str, fields: Json, *, subject: str = "") -> list[Json]:
        """Run the hooks of an event one after another. Return each `hookSpecificOutput` that is not empty.

        `subject`: the text that matchers are compared with, such as the tool's name.
        """
        session = self._session
        value: Json = {
            "session_id": session.id,
            "transcript_path": str(session.transcript),
            "cwd": str(session.cwd),
            "permission_mode": session.mode,
            **({"prompt_id": session.prompt_id} if session.prompt_id else {}),
            "hook_event_name": event,
            **fields,
        }
        outputs = [self._run_one(hook, json.dumps(value)) for hook in self._find(event, subject)]
        return [output for output in outputs if output]

    def _find(self, event: str, subject: str) -> Iterator[Json]:
        for group in self._hooks.get(event, ()):
            if re.search(group.get("matcher", ""), subject):
                yield from (hook for hook in group["hooks"] if hook["type"] == "command")

    def _run_one(self, hook: Json, value: str) -> Json:
        command = [hook["command"], *hook["args"]] if "args" in hook else ["sh", "-c", hook["command"]]
        process = subprocess.Popen(
            command,
            cwd=self._session.cwd,
            env=self._session.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        try:
            stdout, _ = process.communicate(value, timeout=hook.get("timeout", DEFAULT_TIMEOUT_SECONDS))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return {}
        return _parse_output(stdout)


def _parse_output(text: str) -> Json:
    try:
        output: Any = json.loads(text).get("hookSpecificOutput")
    except (ValueError, AttributeError):
        return {}
    return output if isinstance(output, dict) else {}
