"""Long answers: through the user's pager on a terminal, as they are elsewhere."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable

from chorus.output import answer


def wants_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def page(lines: Iterable[str]) -> None:
    """Give the lines as they come: the first screen does not wait for the last line."""
    pager = _pager() if sys.stdout.isatty() else None
    if pager is None:
        for line in lines:
            answer(line)
        return
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(pager, shell=True, stdin=subprocess.PIPE, env=environment)  # noqa: S602  as git does
    assert process.stdin is not None
    try:
        for line in lines:
            process.stdin.write(line.encode("utf-8", "surrogateescape") + b"\n")
        process.stdin.close()
    except BrokenPipeError:
        pass  # the reader has seen enough
    process.wait()


def _pager() -> str | None:
    """The pager git would use here; None for none."""
    if shutil.which("git") is None:
        return None
    found = subprocess.run(["git", "var", "GIT_PAGER"], capture_output=True, text=True).stdout.strip()
    return None if found in ("", "cat") else found
