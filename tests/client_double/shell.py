"""Bash: output, exit code, and in auto mode the files that changed meanwhile.

A command in the background goes on alone; its end is reported with `on_end`.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.client_double.patch import structured_patch
from tests.client_double.session import Session
from tests.client_double.values import Json, Outcome, failure

DEFAULT_TIMEOUT_MS = 120_000
# Limits of what is compared around a command: enough for a scratch repository.
MAX_FILES = 500
MAX_BYTES = 1_000_000
NO_OUTPUT = "(Bash completed with no output)"


class Shell:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._running: set[subprocess.Popen[str]] = set()

    def run(self, arguments: Mapping[str, Any], *, read_before: Iterable[Path]) -> Outcome:
        before = _contents(self._session.cwd) if self._session.mode == "auto" else None
        stale = {path: _changed_at(path) for path in read_before}
        seconds = float(arguments.get("timeout", DEFAULT_TIMEOUT_MS)) / 1000
        process = self._start(str(arguments["command"]), subprocess.PIPE)
        try:
            stdout, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.communicate()
            return failure(f"Command timed out after {seconds:g}s", tagged=False)
        finally:
            self._running.discard(process)
        stdout, stderr = stdout.rstrip("\n"), stderr.rstrip("\n")
        if process.returncode:
            text = "\n".join(filter(None, [f"Exit code {process.returncode}", stderr, stdout]))
            return failure(text, tagged=False)
        result = _result(stdout, stderr)
        if before is not None:
            result["bashEditDiff"] = _edit_diff(before, _contents(self._session.cwd))
            hint = ""
        else:
            touched = [path for path, moment in stale.items() if _changed_at(path) != moment]
            hint = _stale_hint(touched, self._session.cwd)
            result |= {"staleReadFileStateHint": hint} if hint else {}
        text = "\n".join(filter(None, [stdout, stderr, hint])) or NO_OUTPUT
        return Outcome(text, result, is_error=False)

    def start(self, arguments: Mapping[str, Any], task_id: str, on_end: Callable[[int], None]) -> Outcome:
        """Start a command in the background."""
        output = self._session.task_output(task_id)
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("w") as file:
            process = self._start(str(arguments["command"]), file.fileno())

        def wait() -> None:
            code = process.wait()
            self._running.discard(process)
            on_end(code)

        threading.Thread(target=wait, daemon=True).start()
        text = f"Command running in background with ID: {task_id}. Output is being written to: {output}."
        return Outcome(text, {**_result("", ""), "backgroundTaskId": task_id}, is_error=False)

    def stop(self) -> None:
        """Kill the running commands."""
        for process in list(self._running):
            _kill(process)

    def _start(self, command: str, output: int) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self._session.cwd,
            env=self._session.environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output if output != subprocess.PIPE else subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._running.add(process)
        return process


def _result(stdout: str, stderr: str) -> Json:
    return {
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }


def _kill(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _changed_at(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _stale_hint(touched: list[Path], cwd: Path) -> str:
    if not touched:
        return ""
    names = ", ".join(os.path.relpath(path, cwd) for path in touched)
    files = "1 file" if len(touched) == 1 else f"{len(touched)} files"
    return f"[This command modified {files} you've previously read: {names}. Call Read before editing.]"


def _contents(cwd: Path) -> dict[Path, str]:
    command = ["git", "-C", str(cwd), "ls-files", "-z", "-co", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True).stdout
    paths = [cwd / os.fsdecode(name) for name in listed.split(b"\0") if name][:MAX_FILES]
    return {path: path.read_text(errors="replace") for path in paths if _is_small_file(path)}


def _is_small_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_BYTES


def _edit_diff(before: dict[Path, str], after: dict[Path, str]) -> Json:
    changed = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    files = [
        {
            "filePath": str(path),
            "hunks": structured_patch(before.get(path, ""), after.get(path, "")),
            **({"created": True} if path not in before else {}),
        }
        for path in changed
    ]
    return {"files": files, "moreFiles": 0, "changedFiles": [str(path) for path in changed]}
