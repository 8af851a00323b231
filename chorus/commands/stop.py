"""`chorus stop`: end this repository's agent. Sessions go on; what they do is caught up later."""

import argparse
from pathlib import Path

from chorus.errors import ExitCode
from chorus.output import note
from chorus.wire.client import stop
from chorus.wire.home import find_home


def configure(parser: argparse.ArgumentParser) -> None:
    del parser  # no options


def run(args: argparse.Namespace) -> ExitCode:
    del args
    if not stop(find_home(Path.cwd())):
        note("chorus: no agent was running")
        return ExitCode.NOTHING
    return ExitCode.DONE
