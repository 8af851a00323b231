"""Processes as /proc shows them.

psutil reads the same files, but takes 27 ms to import and twice as long for each process.
"""

import os
import time
from contextlib import suppress
from pathlib import Path

from chorus.system.processes.process import Process

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
READ_BYTES = 2**14
# There is no such process, or it is another user's and /proc is mounted with `hidepid`.
UNREADABLE = (FileNotFoundError, ProcessLookupError, PermissionError)


def read_process(pid: int) -> Process | None:
    """The process with this id; None if it has ended or may not be read."""
    try:
        stat = _read(pid, "stat").decode("utf-8", "replace")
        arguments = _read(pid, "cmdline")
    except UNREADABLE:
        return None
    # The name is in parentheses and may contain anything, parentheses too.
    name, fields = stat[stat.index("(") + 1 : stat.rindex(")")], stat[stat.rindex(")") + 2 :].split()
    if fields[0] in "ZX":
        return None
    command_line = tuple(os.fsdecode(word) for word in arguments.split(b"\0")[:-1])
    return Process(pid, fields[19], name, command_line, int(fields[2]), int(fields[5]))


def read_start(pid: int) -> str | None:
    """`Process.started` for this id; None if the process has ended or may not be read."""
    try:
        stat = _read(pid, "stat")
    except UNREADABLE:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[0] in (b"Z", b"X") else fields[19].decode("ascii")


def start_time(pid: int, started: str) -> float | None:
    """When the process started, in seconds since 1970; None if unknown. `started`: from `read_start`."""
    if not started.isdecimal():
        return None
    # This clock is finer than /proc/uptime. With a coarser clock, a file that the process wrote right after
    # its start could seem older than the process.
    since_boot = time.clock_gettime(time.CLOCK_BOOTTIME)
    now = time.time()
    start = now - since_boot + int(started) / TICKS_PER_SECOND
    if start < now + 1:
        return start
    # The result is in the future: in some containers, the clock and the process's start count from different
    # moments.
    try:
        return Path(f"/proc/{pid}").stat().st_mtime
    except OSError:
        return None


def is_stopped(pid: int) -> bool:
    """True if the process is stopped by a signal, no longer exists, or may not be read."""
    try:
        stat = _read(pid, "stat")
    except UNREADABLE:
        return True
    return stat[stat.rindex(b")") + 2 : stat.rindex(b")") + 3] in b"Tt"


def list_group(group: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208  the names alone
        with suppress(ValueError, ProcessLookupError, PermissionError):
            pid = int(name)
            if os.getpgid(pid) == group:
                found.append(pid)
    return found


def open_process(pid: int) -> int | None:
    """A descriptor that is readable once the process has ended. None if the process cannot be opened."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def read_idle_shell(pid: int) -> tuple[str, int] | None:
    """The name and foreground group of a pane's first process; None if it has children or cannot be read.

    While a shell is idle, the result stays the same.
    """
    try:
        if _read(pid, f"task/{pid}/children"):
            return None
    except OSError:
        return None  # not every kernel has this file
    process = read_process(pid)
    return (process.name, process.foreground_group) if process is not None else None


def read_directory(pid: int) -> str:
    """The working directory of a process. Raises OSError if it cannot be read."""
    return str(Path(f"/proc/{pid}/cwd").readlink())


def read_environment(pid: int) -> dict[str, str]:
    """The environment that a process was started with. Raises OSError if it cannot be read."""
    pairs = _read(pid, "environ").split(b"\0")
    return dict(os.fsdecode(pair).split("=", 1) for pair in pairs if b"=" in pair)


def _read(pid: int, name: str) -> bytes:
    # A file object would double the time, and this runs for every hook event.
    file = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        read = os.read(file, READ_BYTES)
        while more := os.read(file, READ_BYTES):
            read += more
        return read
    finally:
        os.close(file)
