"""Find the session and transcript of a running client.

The client writes `sessions/PID.json` into its configuration directory and keeps it current (`/clear` changes
the session in it). Clients that write no such file are matched by the newest transcript of their directory.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.transcripts import transcript_of
from chorus.agents.interface import RunningClient
from chorus.model.ids import SessionId
from chorus.system.processes import Process

CLIENT_NAMES = frozenset({"claude", "claude.exe"})
PRINT_FLAGS = frozenset({"-p", "--print"})


def is_client(process: Process) -> bool:
    """Whether this is Claude Code, by the name of the program or of the script an interpreter runs."""
    names = [Path(word).name for word in process.arguments[:2]]
    if process.name in CLIENT_NAMES or (names and names[0] in CLIENT_NAMES):
        return True
    return len(names) == 2 and names[0] in ("node", "bun") and "claude" in process.arguments[1]


def read_client(process: Process) -> RunningClient | None:
    """Read the files of a running client; None if it is gone."""
    try:
        cwd = str(Path(f"/proc/{process.pid}/cwd").readlink())
        environment = _environment(process.pid)
    except OSError:
        return None
    config = _config_directory(environment)
    file = _read_session_file(config, process)
    cwd = file.get("cwd", cwd)
    session = file.get("sessionId")
    transcript = (
        transcript_of(config / "projects", cwd, session)
        if session
        else _newest_transcript(config, cwd, process)
    )
    if session is None and transcript is not None:
        session = transcript.stem
    headless = not PRINT_FLAGS.isdisjoint(process.arguments)
    known = SessionId(session) if session else None
    return RunningClient(process, cwd, headless, known, transcript, file.get("version"))


def _environment(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return dict(os.fsdecode(pair).split("=", 1) for pair in pairs if b"=" in pair)


def _config_directory(environment: Mapping[str, str]) -> Path:
    chosen = environment.get("CLAUDE_CONFIG_DIR")
    return Path(chosen) if chosen else Path(environment.get("HOME", "/")) / ".claude"


def _read_session_file(config: Path, process: Process) -> Mapping[str, Any]:
    """The client's session file; empty if there is none, or it is of an earlier process with this id."""
    try:
        value = json.loads((config / "sessions" / f"{process.pid}.json").read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(value, dict) or value.get("procStart", process.started) != process.started:
        return {}
    return {key: text for key, text in value.items() if isinstance(text, str)}


def _newest_transcript(config: Path, cwd: str, process: Process) -> Path | None:
    """The transcript of this directory that was written last since the process started."""
    directory = transcript_of(config / "projects", cwd, "any").parent
    try:
        began = Path(f"/proc/{process.pid}").stat().st_mtime
        found = [(path.stat().st_mtime, path) for path in directory.glob("*.jsonl")]
    except OSError:
        return None
    fresh = [(written, path) for written, path in found if written >= began]
    return max(fresh)[1] if fresh else None
