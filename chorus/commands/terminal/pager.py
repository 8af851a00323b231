"""Long answers: through the user's pager on a terminal, as they are elsewhere. By git's rules."""

import os
import subprocess
import sys
from collections.abc import Iterable

from chorus.commands.terminal.git_settings import read_pager
from chorus.output import print_out


def page(lines: Iterable[str], command: str) -> None:
    """Give the lines as they come: the first screen does not wait for the last line.

    `command`: the git command whose pager it is (`pager.diff` and the like).
    """
    pager = read_pager(command) if sys.stdout.isatty() else None
    if pager is None:
        for line in lines:
            print_out(line)
        return
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=environment)  # noqa: S602  as git does
    assert process.stdin is not None
    try:
        for line in lines:
            process.stdin.write(line.encode("utf-8", "surrogateescape") + b"\n")
            process.stdin.flush()
        process.stdin.close()
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the reader has seen enough, or interrupts what the pager shows
    _wait(process)


def _wait(process: "subprocess.Popen[bytes]") -> None:
    """Until the person leaves the pager: an interrupt is the pager's to deal with."""
    while True:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue
        return
