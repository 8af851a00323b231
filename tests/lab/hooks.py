"""Run the hook program as the client does: a process with an event on stdin."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# `make test-shells` names one after the other; the client runs the program itself, by its first line.
SHELL = shlex.split(os.environ.get("TEST_SHELL", ""))
SHELL[:1] = [shutil.which(name) or name for name in SHELL[:1]]  # also found with another PATH
HOOK = Path(__file__).parent.parent.parent / "hooks" / "chorus-hook"


def start_hook(
    project: Path, *arguments: str, environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*SHELL, HOOK, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd or project,
        env={
            "PATH": os.environ["PATH"],
            "CLAUDE_PROJECT_DIR": str(project),
            "CLAUDE_PID": "77",
            **(environment or {}),
        },
    )


def send(hook: subprocess.Popen[bytes], event: Mapping[str, Any]) -> None:
    """Give the hook its event and let it run."""
    assert hook.stdin is not None
    hook.stdin.write(json.dumps(event).encode())
    hook.stdin.close()
    hook.stdin = None


def run_hook(project: Path, event: Mapping[str, Any], *arguments: str, **more: Any) -> bytes:
    """Run one hook to the end and return its stdout. It must never fail or write to stderr."""
    hook = start_hook(project, *arguments, **more)
    out, err = hook.communicate(json.dumps(event).encode(), timeout=30)
    assert (hook.returncode, err) == (0, b"")
    return out
