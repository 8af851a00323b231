"""The first minute in a large repository: edits that follow at once after the session starts.

A real watcher, and hook events in the client's shape through the hook program, which waits as it does for a
client. Each edit has to be recorded with its own change. Then the real client does the same.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.hooks.program import HOOK_PROGRAM, find_plugin_directory
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start, start, stop

SIZES = (5_000, 50_000, 200_000)
EDITS = 30
COMMANDS = 3
FILES_PER_DIRECTORY = 200
TIMEOUT_SECONDS = 300.0
SESSION = "5e55101e-0000-4000-8000-000000000001"
HOOK = find_plugin_directory() / HOOK_PROGRAM


def main() -> None:
    for size in SIZES:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            project = Path(scratch) / "proj"
            make_repository(project, size)
            seconds, lost = measure(project)
            verdict = "each with its own change" if not lost else f"LOST: {lost}"
            print(f"  {size:>7,} files: {EDITS} edits and {COMMANDS} commands in {seconds:.1f} s, {verdict}")
        play_real_client(size)


def play_real_client(size: int) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "tests/e2e/test_first_edits.py"]
    done = subprocess.run(command, env={**os.environ, "TEST_REPOSITORY_FILES": str(size)})
    if done.returncode != 0:
        raise AssertionError(f"the real client in {size:,} files: pytest ended with {done.returncode}")


def make_repository(project: Path, size: int) -> None:
    for number in range(size):
        if number % FILES_PER_DIRECTORY == 0:
            directory = project / f"d{number // FILES_PER_DIRECTORY}"
            directory.mkdir(parents=True)
        (directory / f"f{number}.txt").write_text(f"one {number}\ntwo\nthree\n")
    author = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=project, check=True)


def measure(project: Path) -> tuple[float, list[str]]:
    """Play the session; return how long it took, and what was not recorded as it should be."""
    home = find_home(project)
    home.spool.mkdir(parents=True)
    start(home)
    began = time.perf_counter()
    session = HookedSession(project)
    session.tell("SessionStart", source="startup")
    for number in range(EDITS):
        session.edit(f"d0/f{number % 10}.txt", number)
        if number % 10 == 5:
            session.command(f"d0/f{number % 10}.txt", number)
    session.tell("Stop")
    seconds = time.perf_counter() - began
    lost = find_lost(home, project, session.expected)
    stop(home)
    return seconds, lost


class HookedSession:
    """A session without hooks of its own: this writes the files, and runs the hook as the client does."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.expected: dict[str, list[str]] = {}
        self._transcript = project.parent / f"{SESSION}.jsonl"
        self._transcript.touch()

    def tell(self, name: str, **more: Any) -> None:
        event = {"hook_event_name": name, "session_id": SESSION, "transcript_path": str(self._transcript)}
        event |= {"cwd": str(self.project), "permission_mode": "acceptEdits", **more}
        subprocess.run(
            [HOOK, sys.executable],
            cwd=self.project,
            env={**os.environ, "CLAUDE_PROJECT_DIR": str(self.project)},
            input=json.dumps(event).encode(),
            check=True,
        )

    def edit(self, path: str, number: int) -> None:
        place = self.project / path
        before = place.read_text()
        old = before.splitlines()[1]
        after = before.replace(old, f"edit {number}", 1)
        given = {"file_path": str(place), "old_string": old, "new_string": f"edit {number}"}
        call: dict[str, Any] = {
            "tool_name": "Edit",
            "tool_use_id": f"toolu_edit_{number}",
            "tool_input": given,
        }
        self.tell("PreToolUse", **call)
        place.write_text(after)
        report = {"filePath": str(place), "originalFile": before, "structuredPatch": [patch(before, after)]}
        self.tell("PostToolUse", **call, tool_response=report)
        self.expected[f"toolu_edit_{number}"] = [f"-{old}", f"+edit {number}"]

    def command(self, path: str, number: int) -> None:
        place = self.project / path
        before = place.read_text()
        old = before.splitlines()[2]
        after = before.replace(old, f"command {number}", 1)
        given = {"command": f"sed -i 's/{old}/command {number}/' {place}"}
        call: dict[str, Any] = {
            "tool_name": "Bash",
            "tool_use_id": f"toolu_bash_{number}",
            "tool_input": given,
        }
        self.tell("PreToolUse", **call)
        place.write_text(after)
        files = [{"filePath": str(place), "hunks": [patch(before, after)]}]
        diff = {"files": files, "moreFiles": 0, "changedFiles": [str(place)]}
        self.tell("PostToolUse", **call, tool_response={"stdout": "", "stderr": "", "bashEditDiff": diff})
        self.expected[f"toolu_bash_{number}"] = [f"-{old}", f"+command {number}"]


def patch(before: str, after: str) -> dict[str, Any]:
    """One hunk over the whole file, as the client reports a change of a short file."""
    old, new = before.splitlines(), after.splitlines()
    lines = []
    for was, now in zip(old, new, strict=True):
        lines += [f" {was}"] if was == now else [f"-{was}", f"+{now}"]
    return {"oldStart": 1, "oldLines": len(old), "newStart": 1, "newLines": len(new), "lines": lines}


def find_lost(home: Home, project: Path, expected: dict[str, list[str]]) -> list[str]:
    """Return the calls that are not recorded with exactly their own lines."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    entries: dict[str, Any] = {}
    while len(entries) < len(expected) and time.monotonic() < deadline:
        with connect_or_start(home) as watcher:
            found = watcher.ask("log", cwd=str(project))
        entries = {str(entry["id"]): entry for entry in found if entry["id"] in expected}
        time.sleep(0.2)
    return [name for name, lines in expected.items() if changed_lines(project, entries.get(name)) != lines]


def changed_lines(project: Path, entry: Any) -> list[str]:
    if entry is None or entry["commit"] is None:
        return []
    command = ["git", "show", "--format=", "-U0", entry["commit"]]
    shown = subprocess.run(command, cwd=project, capture_output=True, text=True).stdout
    return [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
