"""Show long output in the user's pager, by git's rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from chorus.commands.terminal.git_settings import read_pager
from chorus.output import harmless, print_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from subprocess import Popen


def page(lines: Iterable[str], command: str) -> None:
    """Show each line as soon as it is yielded, in the pager of `git <command>` if stdout is a terminal."""
    pager = read_pager(command) if sys.stdout.isatty() else None
    if pager is None:
        for line in lines:
            print_out(line)
        return
    import subprocess  # noqa: PLC0415  only for a terminal

    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=environment)  # noqa: S602  as git does
    assert process.stdin is not None
    try:
        for line in lines:
            process.stdin.write(harmless(line).encode() + b"\n")
            process.stdin.flush()
        process.stdin.close()
    except (BrokenPipeError, KeyboardInterrupt):
        pass  # the user has left the pager, or interrupts it
    _wait(process)


def _wait(process: Popen[bytes]) -> None:
    """Wait until the user leaves the pager, which handles interrupts itself."""
    while True:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue
        return
