"""`chorus run`: start a headless session in a tmux pane and watch it through the pane."""

import argparse
import errno
import os
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chorus.agents import load_agent
from chorus.commands.access.watcher import find_supported_home
from chorus.commands.claude import client_command, find_client
from chorus.commands.parser.argument_parser import add_tmux_options
from chorus.errors import ChorusError, ExitCode
from chorus.model.ids import PaneId
from chorus.output import print_json, print_out
from chorus.tmux.address import select_address
from chorus.tmux.launch import PanePlacement, open_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.wire.client import connect_or_start, import_path
from chorus.wire.handover import handed_over

# The program in the pane is Python: far longer than it takes to start on a busy machine.
START_TIMEOUT_SECONDS = 60.0


class RunNotStarted(ChorusError):
    hint = "Look at the pane, or run `chorus doctor`."


PASSES_ON = True
EXAMPLES = (
    ("chorus run 'fix the failing test'", "start a session with this message"),
    ("chorus run 'go on' --resume ID", "continue an earlier session"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MESSAGE", help="the first message")
    parser.add_argument("--resume", metavar="SESSION", help="continue an earlier session")
    parser.add_argument("--client", metavar="PATH", help="the client to start (default: claude from PATH)")
    add_tmux_options(parser)
    parser.add_argument("--json", action="store_true", help="print the session's name and its pane as JSON")
    parser.usage = f"{parser.prog} [options] MESSAGE [-- ARGS]"


def run(args: argparse.Namespace) -> ExitCode:
    home = find_supported_home(Path.cwd())
    client = find_client(args.client)
    address = select_address(os.environ, name=args.socket_name, path=args.socket_path)
    headless = load_agent().setup.headless_arguments(args.resume)
    name = f"run-{uuid.uuid4().hex[:6]}"
    with connect_or_start(home) as watcher:
        pipe = home.root / f"{name}.in"
        client_arguments = client_command(client, [*headless, *args.passed_on])
        with handed_over(home, os.environ) as environment, fifo(pipe):
            feeder = [
                sys.executable,
                "-P",
                "-m",
                "chorus.watcher.panes.stdin_feeder",
                str(pipe),
                str(environment),
                *client_arguments,
            ]
            pane = open_headless_pane(TmuxServer(address), feeder, name)
            wait_for_reader(pipe)
        watcher.ask("watch", socket=str(address.socket), pane=pane, run=name, pipe=str(pipe))
        watcher.ask("send", run=name, message=args.message)
    if args.json:
        print_json({"run": name, "pane": pane, "socket": str(address.socket)})
    else:
        print_out(
            f"{name} in pane {pane}; send more with `chorus send MESSAGE`, end it with `chorus send --end`"
        )
    return ExitCode.OK


@contextmanager
def fifo(path: Path) -> Iterator[None]:
    """Create a named pipe for the program started inside; remove it if that fails."""
    os.mkfifo(path, 0o600)
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def wait_for_reader(pipe: Path) -> None:
    """Wait until the program in the pane has opened its pipe: what is written before is lost."""
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        try:
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            return
        except OSError as error:
            if error.errno != errno.ENXIO or time.monotonic() > deadline:
                raise RunNotStarted(
                    f"the headless session did not start: nothing reads {pipe.name} ({error.strerror})"
                ) from error
        time.sleep(0.01)


def open_headless_pane(tmux: TmuxServer, command: list[str], name: str) -> PaneId:
    """Open a window next to the current pane, or a new tmux session outside tmux."""
    here = os.environ.get("TMUX_PANE")
    placement = PanePlacement.WINDOW if here else PanePlacement.SESSION
    environment = {"PYTHONPATH": import_path()}
    beside = PaneId(here) if here else None
    return open_pane(
        tmux, placement, command, cwd=Path.cwd(), environment=environment, name=name, beside=beside
    )
