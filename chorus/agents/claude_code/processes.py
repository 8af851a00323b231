"""Find the session and transcript of a running client.

The client keeps its session in `sessions/PID.json` below its configuration directory. If a client has no such
file, take the newest transcript of its working directory that was written since the client started.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.mod import SOCKET_VARIABLE
from chorus.agents.claude_code.transcripts import transcript_of
from chorus.agents.interface import RunningClient
from chorus.model.ids import SessionId
from chorus.system.processes.processes import (
    Process,
    read_directory,
    read_environment,
    read_process,
    start_time,
)

CLIENT_NAMES = frozenset({"claude", "claude.exe"})
# The installer's `claude` is a link to `claude/versions/2.1.326`. A client that restarts itself has that
# name.
INSTALLED_BELOW = ("claude", "versions")
PRINT_FLAGS = frozenset({"-p", "--print"})
# The system counts the times of files and processes in steps of up to a hundredth of a second.
CLOCK_STEP_SECONDS = 0.02


def is_client(process: Process) -> bool:
    """Return whether this is Claude Code, judging by the name of the program or of its script."""
    names = [Path(word).name for word in process.arguments[:2]]
    if process.name in CLIENT_NAMES or (names and names[0] in CLIENT_NAMES):
        return True
    if process.arguments and Path(process.arguments[0]).parts[-3:-1] == INSTALLED_BELOW:
        return True
    return len(names) == 2 and names[0] in ("node", "bun") and "claude" in process.arguments[1]


def read_client(process: Process) -> RunningClient | None:
    try:
        cwd = read_directory(process.pid)
        environment = read_environment(process.pid)
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
    loads_mod = SOCKET_VARIABLE in environment
    return RunningClient(process, cwd, headless, known, transcript, file.get("version"), loads_mod)


def find_client(session: SessionId) -> Process | None:
    """Find a session's client in the caller's configuration directory; None if there is none."""
    directory = _config_directory(os.environ) / "sessions"
    for path in directory.glob("*.json"):
        process = read_process(int(path.stem)) if path.stem.isdecimal() else None
        if process is not None and _read_session_file(directory.parent, process).get("sessionId") == session:
            return process
    return None


def _config_directory(environment: Mapping[str, str]) -> Path:
    chosen = environment.get("CLAUDE_CONFIG_DIR")
    return Path(chosen) if chosen else Path(environment.get("HOME") or Path.home()) / ".claude"


def _read_session_file(config: Path, process: Process) -> Mapping[str, Any]:
    """Return the text values in the client's session file.

    Return nothing if the file is missing or cannot be read, or if another process wrote it.
    """
    path = config / "sessions" / f"{process.pid}.json"
    try:
        value, written = json.loads(path.read_bytes()), path.stat().st_mtime
    except (OSError, ValueError):
        return {}
    if not isinstance(value, dict) or not _is_of(process, value.get("procStart"), written):
        return {}
    return {key: text for key, text in value.items() if isinstance(text, str)}


def _is_of(process: Process, start: object, written: float) -> bool:
    """Return whether a session file belongs to this process, and not to an earlier one with the same id.

    `start` is the start time in the file; if there is none, the file counts as this process's own. If the
    start times cannot be compared, the modification time of the file decides.
    """
    if start is None or start == process.started:
        return True
    if str(start).isdecimal() and process.started.isdecimal():
        return False
    began = start_time(process.pid, process.started)
    return began is not None and written >= began


def _newest_transcript(config: Path, cwd: str, process: Process) -> Path | None:
    """Return the directory's newest transcript; None if it was not written since the process started."""
    directory = transcript_of(config / "projects", cwd, "any").parent
    began = start_time(process.pid, process.started)
    if began is None:
        return None
    try:
        found = [(path.stat().st_mtime, path) for path in directory.glob("*.jsonl")]
    except OSError:
        return None
    fresh = [(written, path) for written, path in found if written >= began - CLOCK_STEP_SECONDS]
    return max(fresh)[1] if fresh else None
