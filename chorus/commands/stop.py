"""`chorus stop`: stop this repository's watcher."""

import argparse
import os
import signal
import time
from pathlib import Path

from chorus.errors import ChorusError, ExitCode
from chorus.output import print_err
from chorus.system.processes.processes import read_process
from chorus.wire.client import WatcherNotResponding
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import START_TIMEOUT_SECONDS, has_watcher, stop

ABOUT = """\
Sessions continue, and their hooks do not start the watcher again. The next command that
needs the watcher starts a new one, which then records what the sessions did in between."""
PROGRAM = "chorus.watcher"
POLL_SECONDS = 0.01


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kill", action="store_true", help="kill a watcher that does not respond; nothing recorded is lost"
    )


def run(args: argparse.Namespace) -> ExitCode:
    home = find_home(Path.cwd())
    if not (kill(home) if args.kill else stop(home)):
        print_err("chorus: no watcher is running")
        return ExitCode.NOT_FOUND
    return ExitCode.OK


def kill(home: Home) -> bool:
    """Kill the process that holds the repository's lock. Return False if there is none."""
    if not has_watcher(home):
        return False
    pid = home.lock.read_text().strip()
    process = read_process(int(pid)) if pid.isdecimal() else None
    # A watcher that has just started may not have written its own pid over an older one yet.
    if process is None or PROGRAM not in process.arguments:
        raise ChorusError(
            f"a watcher is running, but {home.lock} does not hold its process id (found {pid!r})",
            hint="Try again in a moment.",
        )
    os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while has_watcher(home):
        if time.monotonic() > deadline:
            raise WatcherNotResponding(
                f"process {process.pid} did not exit",
                hint="Check whether the disk responds, then run `chorus stop --kill` again.",
            )
        time.sleep(POLL_SECONDS)
    return True
