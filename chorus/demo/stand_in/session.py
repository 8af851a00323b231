"""A session of the stand-in, and its files in the client's formats: registration and transcript."""

import json
import os
import re
import subprocess
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chorus.system.processes.processes import read_start

# The client the stand-in was measured against.
CLIENT_VERSION = "2.1.325"
MODEL = "claude-opus-5-5"
USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 5,
}

Json = dict[str, Any]


@dataclass(slots=True)
class Session:
    cwd: Path
    mode: str
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    prompt_id: str | None = None

    @property
    def config(self) -> Path:
        return Path(os.environ.get("HOME", "/")) / ".claude"

    @property
    def transcript(self) -> Path:
        """The path at which the client would write the transcript."""
        return self.config / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(self.cwd)) / f"{self.id}.jsonl"

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "CLAUDECODE": "1",
            "CLAUDE_CODE_ENTRYPOINT": "cli",
            "CLAUDE_CODE_SESSION_ID": self.id,
            "CLAUDE_PID": str(os.getpid()),
            "CLAUDE_PROJECT_DIR": str(self.cwd),
        }


class Registration:
    """The file that names the session of this process, in the client's format."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._path = session.config / "sessions" / f"{os.getpid()}.json"
        self._status = ""

    def update(self, status: str) -> None:
        """Write the file if the status (idle, busy or waiting) changed."""
        if status == self._status:
            return
        self._status = status
        value = {
            "pid": os.getpid(),
            "sessionId": self._session.id,
            "cwd": str(self._session.cwd),
            "version": CLIENT_VERSION,
            "kind": "interactive",
            "entrypoint": "cli",
            "procStart": read_start(os.getpid()),  # shows that a file is old if its process id was reused
            "status": status,
            **({"waitingFor": "permission prompt"} if status == "waiting" else {}),
            "updatedAt": round(time.time() * 1000),
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(value))
        fresh.replace(self._path)

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)


class Transcript:
    """The session's messages, one JSON object per line."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: str | None = None
        command = ["git", "-C", str(session.cwd), "symbolic-ref", "--short", "-q", "HEAD"]
        self._branch = subprocess.run(command, capture_output=True, text=True).stdout.strip()

    def add_user(self, content: object, **fields: object) -> str:
        """Add a message of the user, or the results of tool calls. Return the new line's id."""
        message = {"role": "user", "content": content}
        return self._add({"promptId": self._session.prompt_id, "type": "user", "message": message, **fields})

    def add_assistant(self, message_id: str, block: Json, stop_reason: str) -> str:
        """Add one block of a message of the model. Return the new line's id."""
        message = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [block],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": USAGE,
        }
        return self._add({"type": "assistant", "message": message})

    def _add(self, fields: Json) -> str:
        line = {
            "parentUuid": self._last,
            "isSidechain": False,
            **fields,
            "uuid": str(uuid.uuid4()),
            "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": str(self._session.cwd),
            "sessionId": self._session.id,
            "version": CLIENT_VERSION,
            "gitBranch": self._branch,
        }
        path = self._session.transcript
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._last = str(line["uuid"])
        return self._last
