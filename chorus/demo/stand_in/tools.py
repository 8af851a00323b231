"""The tools of the story: Read, Edit, Write and Bash, with the results that the client reports."""

import difflib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorus.demo.stand_in.session import Json, Session

POLL_SECONDS = 0.05
# Commands that the client runs without asking while it accepts edits.
UNASKED_COMMANDS = {
    "cat",
    "cp",
    "echo",
    "grep",
    "head",
    "ls",
    "mkdir",
    "mv",
    "pwd",
    "rm",
    "sed",
    "tail",
    "touch",
}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool. `text` is for the model, `report` for hooks and the transcript."""

    text: str
    report: Json | str
    is_error: bool = False

    @property
    def patch(self) -> list[str]:
        hunks = self.report.get("structuredPatch", []) if isinstance(self.report, dict) else []
        return [line for hunk in hunks for line in hunk["lines"]]


class Tools:
    def __init__(self, session: Session, interrupt: threading.Event) -> None:
        self._session = session
        self._interrupt = interrupt
        self.allowed: set[str] = set()  # programs the user allowed for the session

    def must_ask(self, name: str, tool_input: Mapping[str, Any]) -> bool:
        program = program_of(tool_input)
        return (
            name == "Bash" and self._session.mode != "auto" and program not in UNASKED_COMMANDS | self.allowed
        )

    def run(self, name: str, tool_input: Mapping[str, Any]) -> ToolResult:
        try:
            match name:
                case "Read":
                    return _read(Path(tool_input["file_path"]))
                case "Edit":
                    return _edit(Path(tool_input["file_path"]), tool_input)
                case "Write":
                    return _write(Path(tool_input["file_path"]), str(tool_input["content"]))
                case "Bash":
                    return self._run_command(str(tool_input["command"]))
        except OSError as error:
            return failure(f"{error.strerror}: {error.filename}")
        return failure(f"No such tool available: {name}")

    def _run_command(self, command: str) -> ToolResult:
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self._session.cwd,
            env=self._session.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        while True:
            try:
                stdout, stderr = process.communicate(timeout=POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if self._interrupt.is_set():
                    os.killpg(process.pid, signal.SIGKILL)
        stdout, stderr = stdout.rstrip("\n"), stderr.rstrip("\n")
        if process.returncode:
            return failure("\n".join(filter(None, [f"Exit code {process.returncode}", stderr, stdout])))
        report = {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False}
        return ToolResult("\n".join(filter(None, [stdout, stderr])), report)


def program_of(tool_input: Mapping[str, Any]) -> str:
    return str(tool_input.get("command", "")).partition(" ")[0]


def failure(text: str) -> ToolResult:
    return ToolResult(text, f"Error: {text}", is_error=True)


def _read(path: Path) -> ToolResult:
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    file = {"filePath": str(path), "content": text, "numLines": len(lines), "startLine": 1}
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    return ToolResult(numbered, {"type": "text", "file": {**file, "totalLines": len(lines)}})


def _edit(path: Path, tool_input: Mapping[str, Any]) -> ToolResult:
    old, new = str(tool_input["old_string"]), str(tool_input["new_string"])
    before = path.read_text(encoding="utf-8")
    if before.count(old) != 1:
        return failure(f"String to replace not found in file, or found more than once.\nString: {old}")
    after = before.replace(old, new)
    _replace_file(path, after)
    report = {
        "filePath": str(path),
        "oldString": old,
        "newString": new,
        "originalFile": before,
        "structuredPatch": structured_patch(before, after),
        "userModified": False,
        "replaceAll": False,
    }
    return ToolResult(f"The file {path} has been updated successfully.", report)


def _write(path: Path, content: str) -> ToolResult:
    before = path.read_text(encoding="utf-8") if path.exists() else None
    _replace_file(path, content)
    report = {
        "type": "create" if before is None else "update",
        "filePath": str(path),
        "content": content,
        "structuredPatch": [] if before is None else structured_patch(before, content),
        "originalFile": before,
        "userModified": False,
    }
    return ToolResult(f"File {'created' if before is None else 'updated'} successfully at: {path}", report)


def _replace_file(path: Path, text: str) -> None:
    """Write a file as the client does: a new file next to it, then a rename."""
    temporary = path.with_name(f"{path.name}.tmp.{os.getpid()}.{os.urandom(6).hex()}")
    temporary.write_text(text, encoding="utf-8")
    if path.exists():
        temporary.chmod(path.stat().st_mode)
    temporary.replace(path)


def structured_patch(before: str, after: str) -> list[Json]:
    """Return the hunks between two texts, as the client reports them. Both texts must end with a newline."""
    old, new = before.splitlines(), after.splitlines()
    hunks = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines = []
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                lines += [" " + line for line in old[start:end]]
            else:
                lines += ["-" + line for line in old[start:end]] + [
                    "+" + line for line in new[new_start:new_end]
                ]
        (_, first, _, new_first, _), (_, _, last, _, new_last) = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first + 1 if last > first else first,
                "oldLines": last - first,
                "newStart": new_first + 1 if new_last > new_first else new_first,
                "newLines": new_last - new_first,
                "lines": lines,
            }
        )
    return hunks
