"""A shell that runs nothing, as a pane has it most of the time."""

import os
import pty
import subprocess
from collections.abc import Iterator

import pytest

from chorus.system.processes.processes import read_idle_shell
from chorus.system.this_system import IS_LINUX
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(not IS_LINUX, reason="read from /proc")


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[bytes]]:
    master, terminal = pty.openpty()
    with subprocess.Popen(
        ["sh", "-i"], stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
    ) as process:
        os.close(terminal)
        process.type = lambda text: os.write(master, text)  # type: ignore[attr-defined]  # added above
        yield process
        process.kill()
    os.close(master)


def test_a_shell_that_runs_nothing_is_idle(shell: subprocess.Popen[bytes]) -> None:
    idle = wait_for(lambda: read_idle_shell(shell.pid), what="an idle shell")
    assert idle[0] == "sh"
    assert read_idle_shell(shell.pid) == idle


@pytest.mark.parametrize("command", [b"sleep 3600\n", b"exec sleep 3600\n"])
def test_a_program_in_a_shell_is_noticed(shell: subprocess.Popen[bytes], command: bytes) -> None:
    idle = wait_for(lambda: read_idle_shell(shell.pid), what="an idle shell")
    shell.type(command)  # type: ignore[attr-defined]  # added above
    wait_for(lambda: read_idle_shell(shell.pid) != idle, what="the program")


def test_a_shell_that_has_ended_is_not_idle() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert read_idle_shell(child.pid) is None
