"""Processes, as psutil and `ps` show them."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from chorus.system.processes.process import Process

# When the system clock is set, psutil moves all start times by the same amount. This process's own start time
# shows the amount.
_OWN_START = psutil.Process().create_time()


def read_process(pid: int) -> Process | None:
    """The process with this id; None if it has ended or may not be read."""
    started = read_start(pid)
    if started is None:
        return None
    try:
        with _translate_errors():
            process = psutil.Process(pid)
            with process.oneshot():
                name, arguments = process.name(), _arguments(process)
        return Process(pid, started, name, arguments, os.getpgid(pid), _foreground_group(pid))
    except (ProcessLookupError, PermissionError):
        return None


def read_start(pid: int) -> str | None:
    """`Process.started` for this id; None if the process has ended or may not be read."""
    try:
        with _translate_errors():
            process = psutil.Process(pid)
            ended = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
            # The hash of the id and the kernel's start time never changes, while `create_time` moves with the
            # clock.
            return None if ended else f"h{hash(process) % 2**64:016x}"
    except (ProcessLookupError, PermissionError):
        return None


def start_time(pid: int, started: str) -> float | None:
    """When the process started, in seconds since 1970; None if unknown. `started`: from `read_start`."""
    if read_start(pid) != started:
        return None
    try:
        with _translate_errors():
            return psutil.Process(pid).create_time() - (psutil.Process().create_time() - _OWN_START)
    except (ProcessLookupError, PermissionError):
        return None


def is_stopped(pid: int) -> bool:
    """True if the process is stopped by a signal, no longer exists, or may not be read."""
    try:
        with _translate_errors():
            return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except (ProcessLookupError, PermissionError):
        return True


def list_group(group: int) -> list[int]:
    found = []
    for pid in psutil.pids():
        with suppress(ProcessLookupError, PermissionError):
            if os.getpgid(pid) == group:
                found.append(pid)
    return found


def open_process(pid: int) -> int | None:
    """Return None: macOS has no descriptor that becomes readable when a process ends."""
    del pid
    return None


def read_idle_shell(pid: int) -> tuple[str, int] | None:
    """Return None: on macOS it is not known whether a pane's first process has children."""
    del pid
    return None


def read_directory(pid: int) -> str:
    """The working directory of a process. Raises OSError if it cannot be read."""
    with _translate_errors():
        return psutil.Process(pid).cwd()


def read_environment(pid: int) -> dict[str, str]:
    """The environment that a process was started with. Raises OSError if it cannot be read."""
    with _translate_errors():
        return psutil.Process(pid).environ()


def _arguments(process: psutil.Process) -> tuple[str, ...]:
    try:
        return tuple(process.cmdline())
    except psutil.AccessDenied:  # another user's
        return ()


def _foreground_group(pid: int) -> int:
    done = subprocess.run(["ps", "-o", "tpgid=", "-p", str(pid)], capture_output=True, text=True)
    text = done.stdout.strip()
    # Without a terminal macOS says 0 and Linux -1.
    return int(text) if text.isdecimal() and text != "0" else -1


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except psutil.NoSuchProcess as error:
        raise ProcessLookupError(str(error)) from error
    except psutil.AccessDenied as error:
        raise PermissionError(str(error)) from error
