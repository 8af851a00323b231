"""The session: its id, directory, permission mode and transcript path."""

import ctypes
import json
import os
import re
import subprocess
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from chorus.system.processes.processes import read_start

MODEL = "claude-opus-5-5"
EFFORT = "medium"
PR_SET_NAME = 15  # from <sys/prctl.h>; Linux only


@dataclass(slots=True)
class Session:
    cwd: Path
    home: Path
    version: str
    interactive: bool
    mode: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    prompt_id: str | None = None

    @property
    def entrypoint(self) -> str:
        return "cli" if self.interactive else "sdk-cli"

    @property
    def config(self) -> Path:
        chosen = os.environ.get("CLAUDE_CONFIG_DIR")
        return Path(chosen) if chosen else self.home / ".claude"

    @property
    def projects(self) -> Path:
        """The directory of this project's transcripts: all but letters and digits become dashes."""
        return self.config / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(self.cwd))

    @property
    def transcript(self) -> Path:
        return self.projects / f"{self.id}.jsonl"

    def agent_transcript(self, agent_id: str) -> Path:
        return self.projects / self.id / "subagents" / f"agent-{agent_id}.jsonl"

    def task_output(self, task_id: str) -> Path:
        root = Path(os.environ.get("TMPDIR", "/tmp")) / f"claude-{os.getuid()}"
        return root / self.projects.name / self.id / "tasks" / f"{task_id}.output"

    def git_branch(self) -> str:
        command = ["git", "-C", str(self.cwd), "symbolic-ref", "--short", "-q", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.stdout.strip()

    def environment(self) -> dict[str, str]:
        """The environment of hooks and commands."""
        return {
            **os.environ,
            "CLAUDECODE": "1",
            "CLAUDE_CODE_ENTRYPOINT": self.entrypoint,
            "CLAUDE_CODE_SESSION_ID": self.id,
            "CLAUDE_PID": str(os.getpid()),
            "CLAUDE_PROJECT_DIR": str(self.cwd),
            "PWD": str(self.cwd),
        }


class Registration:
    """The file that tells which session this process runs; removed at a regular exit."""

    def __init__(self, session: Session) -> None:
        self._path = session.config / "sessions" / f"{os.getpid()}.json"

    def write(self, session: Session, status: str = "idle") -> None:
        """Write the session and its status: idle, busy or waiting for the user."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        value = {
            "pid": os.getpid(),
            "sessionId": session.id,
            "cwd": str(session.cwd),
            "version": session.version,
            "kind": "interactive",
            "entrypoint": session.entrypoint,
            # Tells an old file of a reused process id.
            "procStart": read_start(os.getpid()),
            "status": status,
            **({"waitingFor": "permission prompt"} if status == "waiting" else {}),
            "updatedAt": round(time.time() * 1000),
        }
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(value))
        fresh.replace(self._path)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


def set_process_name() -> None:
    """Appear as `claude` in the list of processes, where the system lets a process name itself."""
    set_option = getattr(ctypes.CDLL(None), "prctl", None)
    if set_option is not None:
        set_option(PR_SET_NAME, b"claude")
