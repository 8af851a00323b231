"""The processes in the foreground of a terminal, identified by id and start time: ids are reused."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    started: str  # only to compare: clock ticks since boot, or the text of ps
    name: str
    arguments: tuple[str, ...]
    group: int
    foreground_group: int  # of its terminal; -1 without one


def read_process(pid: int) -> Process | None:
    """The process with this id; None if there is none."""
    return _read_from_proc(pid) if _PROC.is_dir() else _read_from_ps(pid)


def read_foreground(pane_pid: int) -> list[Process]:
    """The processes in the foreground of the pane's terminal, by id. Empty if nothing runs there."""
    shell = read_process(pane_pid)
    if shell is None:
        return []
    found = [read_process(pid) for pid in _list_pids()]
    group = shell.foreground_group
    return sorted((p for p in found if p is not None and p.group == group), key=lambda p: p.pid)


def is_in_foreground(process: Process, pane_pid: int) -> bool:
    """Whether keys typed into the pane reach this very process, and it is running.

    A client stopped by Ctrl-Z has a shell in front of it. One stopped by a signal draws nothing, so its
    screen may be out of date.
    """
    now, pane = read_process(process.pid), read_process(pane_pid)
    if now is None or pane is None or now.started != process.started:
        return False
    return now.group == pane.foreground_group and not _is_stopped(process.pid)


def _is_stopped(pid: int) -> bool:
    if not _PROC.is_dir():
        done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
        return done.stdout.startswith("T")
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3] in b"Tt"


def _list_pids() -> list[int]:
    if _PROC.is_dir():
        return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    done = subprocess.run(["ps", "-A", "-o", "pid="], capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()]


def _read_from_proc(pid: int) -> Process | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes().decode("utf-8", "replace")
        arguments = (_PROC / str(pid) / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name is in parentheses and may contain anything, parentheses too.
    name, fields = stat[stat.index("(") + 1 : stat.rindex(")")], stat[stat.rindex(")") + 2 :].split()
    if fields[0] in "ZX":
        return None
    command_line = tuple(os.fsdecode(word) for word in arguments.split(b"\0")[:-1])
    return Process(pid, fields[19], name, command_line, int(fields[2]), int(fields[5]))


def _read_from_ps(pid: int) -> Process | None:
    command = ["ps", "-o", "pgid=,tpgid=,stat=,lstart=", "-p", str(pid)]
    columns = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
    ).stdout.split()
    if len(columns) < 8 or columns[2].startswith("Z"):
        return None
    done = subprocess.run(["ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True)
    arguments = tuple(done.stdout.split())
    name = Path(arguments[0]).name if arguments else ""
    return Process(pid, " ".join(columns[3:8]), name, arguments, int(columns[0]), int(columns[1]))
