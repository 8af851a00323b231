"""`chorus stop`: end this repository's watcher. Sessions go on; what they do is caught up later."""

import argparse
import os
import signal
import time
from pathlib import Path

from chorus.errors import ChorusError, ExitCode
from chorus.output import print_err
from chorus.system.processes import read_process
from chorus.wire.client import START_SECONDS, WatcherNotResponding, is_locked, stop
from chorus.wire.home import Home, find_home

PROGRAM = "chorus.watcher"
LOOK_SECONDS = 0.01


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kill", action="store_true", help="do not ask: end a watcher that does not answer; nothing is lost"
    )


def run(args: argparse.Namespace) -> ExitCode:
    home = find_home(Path.cwd())
    if not (kill(home) if args.kill else stop(home)):
        print_err("chorus: no watcher was running")
        return ExitCode.NOT_FOUND
    return ExitCode.OK


def kill(home: Home) -> bool:
    """End the process that holds the repository's lock; False if none does."""
    if not is_locked(home):
        return False
    name = home.lock.read_text().strip()
    process = read_process(int(name)) if name.isdecimal() else None
    # A watcher that has just begun may not have written its name over another's yet.
    if process is None or PROGRAM not in process.arguments:
        raise ChorusError(f"{home.lock} names no watcher that runs: {name!r}", hint="Try again in a moment.")
    os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + START_SECONDS
    while is_locked(home):
        if time.monotonic() > deadline:
            raise WatcherNotResponding(
                f"process {process.pid} does not end", hint="See whether its disk answers."
            )
        time.sleep(LOOK_SECONDS)
    return True
