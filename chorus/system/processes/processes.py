"""The processes of this machine, and those in the foreground of a pane."""

from chorus.system.processes.process import Process
from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.processes import (
        is_stopped,
        list_group,
        open_process,
        read_directory,
        read_environment,
        read_idle_shell,
        read_process,
        read_start,
        start_time,
    )
else:
    from chorus.system.macos.processes import (
        is_stopped,
        list_group,
        open_process,
        read_directory,
        read_environment,
        read_idle_shell,
        read_process,
        read_start,
        start_time,
    )

__all__ = [
    "Process",
    "is_in_foreground",
    "is_stopped",
    "list_group",
    "open_process",
    "read_directory",
    "read_environment",
    "read_foreground",
    "read_idle_shell",
    "read_process",
    "read_start",
    "start_time",
]


def read_foreground(pane_pid: int) -> list[Process]:
    """The processes in the foreground of the pane's terminal, sorted by id; empty if unknown."""
    shell = read_process(pane_pid)
    if shell is None:
        return []
    found = [read_process(pid) for pid in list_group(shell.foreground_group)]
    return sorted((process for process in found if process is not None), key=lambda process: process.pid)


def is_in_foreground(process: Process, pane_pid: int) -> bool:
    """True if this process is running and gets the keys typed into the pane.

    False for a stopped process: its screen may be out of date.
    """
    now, pane = read_process(process.pid), read_process(pane_pid)
    if now is None or pane is None or now.started != process.started:
        return False
    return now.group == pane.foreground_group and not is_stopped(process.pid)
