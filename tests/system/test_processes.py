"""Both implementations of processes, on this machine: psutil, which macOS needs, reads Linux's too."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

from chorus.system.macos import processes as by_psutil
from chorus.system.processes.process import Process
from chorus.system.this_system import IS_LINUX
from tests.waiting import wait_for

if IS_LINUX:
    from chorus.system.linux import processes as by_proc

    IMPLEMENTATIONS = [by_proc, by_psutil]
else:
    IMPLEMENTATIONS = [by_psutil]


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda module: module.__name__.split(".")[-2])
def processes(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = request.param
    return module


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"], cwd=tmp_path, process_group=0)  # in a group of its own
    yield process
    process.kill()
    process.wait()


def test_a_process_is_read_whole(processes: ModuleType, child: subprocess.Popen[bytes]) -> None:
    wait_for(lambda: _is_executed(processes, child.pid), what="it is executed")
    found = processes.read_process(child.pid)
    assert (found.pid, found.name, found.arguments[1:]) == (child.pid, "sleep", ("60",))
    assert Path(found.arguments[0]).name == "sleep"
    assert found.group == child.pid
    assert found.started == processes.read_start(child.pid)
    assert processes.list_group(child.pid) == [child.pid]


def test_a_process_that_may_not_be_read_counts_as_none(
    processes: ModuleType, child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `hidepid=1`, /proc shows that other users' processes are there, and nothing of them."""
    open_file = os.open

    def open_own(path: str, *arguments: int, **more: Any) -> int:
        if path.startswith(f"/proc/{child.pid}/"):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), path)
        return open_file(path, *arguments, **more)

    def refuse(process: psutil.Process) -> str:
        raise psutil.AccessDenied(process.pid)

    monkeypatch.setattr(os, "open", open_own)
    monkeypatch.setattr(psutil.Process, "status", refuse)
    assert processes.read_process(child.pid) is None
    assert processes.read_start(child.pid) is None
    assert processes.is_stopped(child.pid)


def _is_executed(processes: ModuleType, pid: int) -> bool:
    process = processes.read_process(pid)
    return process is not None and process.name == "sleep" and bool(process.arguments)


def test_where_a_process_is_and_its_environment(processes: ModuleType, tmp_path: Path) -> None:
    # Not a program of the system: macOS keeps the environment of those to itself.
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    environment = {"HOME": "/some home", "EMPTY": "", "PATH": os.environ["PATH"]}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdin=pipe, stdout=pipe) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()  # it is executed
        assert processes.read_directory(child.pid) == str(tmp_path)
        found = processes.read_environment(child.pid)
        assert (found["HOME"], found["EMPTY"]) == ("/some home", "")
        child.stdin.close()


def test_the_start_as_a_time(processes: ModuleType, child: subprocess.Popen[bytes]) -> None:
    began = processes.start_time(child.pid, processes.read_start(child.pid))
    # psutil counts on Linux from the boot time in whole seconds.
    assert abs(time.time() - began) < 30
    assert processes.start_time(child.pid, "") is None
    assert processes.start_time(child.pid, "Mon Nov 16 12:00:00 2026") is None


def test_a_start_stays_the_same_when_the_system_clock_is_set(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A double: psutil reports every process later by as much as the clock was set, as on macOS."""
    read = psutil.Process.create_time
    before = by_psutil.read_start(child.pid)
    assert before is not None
    began = by_psutil.start_time(child.pid, before)
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: read(process) + 90)
    assert by_psutil.read_start(child.pid) == before
    assert by_psutil.start_time(child.pid, before) == pytest.approx(began, abs=2)


def test_a_stopped_process_is_known(processes: ModuleType, child: subprocess.Popen[bytes]) -> None:
    assert not processes.is_stopped(child.pid)
    os.kill(child.pid, signal.SIGSTOP)
    wait_for(lambda: processes.is_stopped(child.pid), what="it is stopped")


def test_a_process_that_has_ended_is_none(processes: ModuleType) -> None:
    child = subprocess.Popen(["true"])
    wait_for(lambda: processes.read_process(child.pid) is None, what="it has ended")
    assert processes.read_start(child.pid) is None  # a zombie
    child.wait()
    assert processes.read_process(child.pid) is None
    assert processes.is_stopped(child.pid)
    assert processes.list_group(child.pid) == []
    for read in (processes.read_directory, processes.read_environment):
        with pytest.raises(OSError):  # noqa: PT011  any kind of it is what callers expect
            read(child.pid)


def test_the_foreground_group_of_a_terminal(processes: ModuleType) -> None:
    """A shell with job control and a program in its foreground, in a terminal of their own."""
    pid, terminal = os.forkpty()
    if pid == 0:
        # By its path, and not last: some shells have a sleep of their own, or become the last program.
        os.execvp("sh", ["sh", "-c", f"set -m; {shutil.which('sleep')} 61; true"])
    try:
        shell = wait_for(lambda: _with_job(processes, pid), what="the program has the terminal")
        names = {processes.read_process(each).name for each in processes.list_group(shell.foreground_group)}
        assert names == {"sleep"}
    finally:
        os.close(terminal)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _with_job(processes: ModuleType, pid: int) -> Process | None:
    shell: Process = processes.read_process(pid)
    jobs = [processes.read_process(each) for each in processes.list_group(shell.foreground_group)]
    return shell if shell.foreground_group != shell.group and jobs and jobs[0].name == "sleep" else None


def test_a_process_without_a_terminal_has_no_foreground_group(processes: ModuleType) -> None:
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        assert processes.read_process(child.pid).foreground_group == -1
    finally:
        child.kill()
        child.wait()
