"""`chorus run`: a headless session in a tmux pane, watched through the pane."""

import argparse
import errno
import os
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chorus.commands.access.watcher import find_supported_home
from chorus.commands.claude import client_command, find_client
from chorus.errors import ChorusError, ExitCode
from chorus.model.ids import PaneId
from chorus.output import print_json, print_out
from chorus.tmux.address import select_address
from chorus.tmux.launch import PanePlacement, open_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.wire.client import connect_or_start
from chorus.wire.handover import handed_over

HEADLESS = [
    "-p",
    "--verbose",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--permission-prompt-tool",
    "stdio",
]

# The program in the pane is a Python that starts: far longer than that takes on a busy machine.
START_SECONDS = 60.0


class RunNotStarted(ChorusError):
    hint = "Look at the pane, or run `chorus doctor`."


# `-- ARGS` goes to the client.
PASSES_ON = True


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MESSAGE", help="what the session is asked to do first")
    parser.add_argument("--resume", metavar="SESSION", help="go on with an earlier session")
    parser.add_argument("--client", metavar="PATH", help="the client to start (default: claude, from PATH)")
    parser.add_argument("-L", dest="name", metavar="NAME", help="the tmux server with this socket name")
    parser.add_argument("-S", dest="socket", metavar="PATH", help="the tmux server with this socket")
    parser.add_argument("--json", action="store_true", help="the run and its pane, for programs")
    parser.usage = f"{parser.prog} [options] MESSAGE [-- ARGS]"
    parser.epilog = "What stands after -- is given to the client as it is."


def run(args: argparse.Namespace) -> ExitCode:
    home = find_supported_home(Path.cwd())
    client = find_client(args.client)
    address = select_address(os.environ, name=args.name, path=args.socket)
    name = f"run-{uuid.uuid4().hex[:6]}"
    resume = ["--resume", args.resume] if args.resume else []
    with connect_or_start(home) as watcher:
        pipe = home.root / f"{name}.in"
        words = client_command(client, [*HEADLESS, *resume, *args.passed_on])
        with handed_over(home, os.environ) as environment, fifo(pipe):
            feeder = [
                sys.executable,
                "-P",
                "-m",
                "chorus.watcher.panes.stdin_feeder",
                str(pipe),
                str(environment),
                *words,
            ]
            pane = open_headless_pane(TmuxServer(address), feeder, name)
            wait_for_reader(pipe)
        watcher.ask("watch", socket=str(address.socket), pane=pane, run=name, pipe=str(pipe))
        watcher.ask("send", run=name, message=args.message)
    if args.json:
        print_json({"run": name, "pane": pane, "socket": str(address.socket)})
    else:
        print_out(f"{name} in pane {pane}; `chorus send MESSAGE` says more, `chorus send --end` ends it")
    return ExitCode.OK


@contextmanager
def fifo(path: Path) -> Iterator[None]:
    """A named pipe for the program that is started inside. If it cannot be started, none is left."""
    os.mkfifo(path, 0o600)
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def wait_for_reader(pipe: Path) -> None:
    """Until the program in the pane reads its pipe: what is said to nobody is lost."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            return
        except OSError as error:
            if error.errno != errno.ENXIO or time.monotonic() > deadline:
                raise RunNotStarted(f"nothing reads {pipe.name}: {error.strerror}") from error
        time.sleep(0.01)


def open_headless_pane(tmux: TmuxServer, command: list[str], name: str) -> PaneId:
    """A window beside the pane this was typed in, or a session of its own."""
    here = os.environ.get("TMUX_PANE")
    place = PanePlacement.WINDOW if here else PanePlacement.SESSION
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent)}
    beside = PaneId(here) if here else None
    return open_pane(tmux, place, command, cwd=Path.cwd(), environment=environment, name=name, beside=beside)
