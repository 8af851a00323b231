"""`chorus run`: start a headless session in a tmux pane and watch it through the pane."""

import argparse
import errno
import json
import os
import shlex
import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from chorus.agents import load_agent
from chorus.commands.access.messages import (
    add_message_options,
    check_message,
    read_image,
    wait_for_turn,
)
from chorus.commands.access.watcher import find_supported_home
from chorus.commands.claude import find_client
from chorus.commands.parser.options import add_tmux_options
from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.model.ids import PaneId
from chorus.output import print_json, print_out
from chorus.tmux.address import select_address
from chorus.tmux.launch import PanePlacement, open_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.wire.client import Connection
from chorus.wire.handover import handed_over
from chorus.wire.protocol import WatcherError
from chorus.wire.watcher_process import connect_or_start, import_path

# How long the Python program in the pane may take to start: far longer than it needs on a busy machine.
START_TIMEOUT_SECONDS = 60.0


class RunNotStarted(ChorusError):
    hint = "Look at the pane, or run `chorus doctor`."


ABOUT = """\
A headless session prints its events instead of drawing an interface: answer its prompts
in the panel or with `chorus approve`, and send it further messages with `chorus send`."""
PASSES_ON = True
EXAMPLES = (
    ("chorus run 'fix the failing test'", "start a session with this message"),
    ("chorus run 'go on' --resume ID", "continue an earlier session"),
    ("chorus run 'say hello' --wait --end", "print the answer and end the session"),
    ("chorus run 'look it up' --mcp notes='python notes.py'", "use your own MCP server"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", metavar="MESSAGE", help="the first message")
    add_message_options(parser)
    parser.add_argument(
        "--end", action="store_true", help="with --wait or --follow: end the session after the turn"
    )
    parser.add_argument("--resume", metavar="SESSION", help="continue an earlier session")
    parser.add_argument("--fork", action="store_true", help="with --resume: continue under a new session id")
    parser.add_argument(
        "--mode",
        choices=load_agent().setup.permission_modes,
        metavar="MODE",
        help="the permission mode: " + ", ".join(load_agent().setup.permission_modes),
    )
    parser.add_argument(
        "--mcp",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="an MCP server for this session: a command that speaks JSON-RPC on stdio (repeatable)",
    )
    parser.add_argument("--client", metavar="PATH", help="the client to start (default: claude from PATH)")
    parser.add_argument(
        "--no-mod", action="store_true", help="use hooks only: don't load Chorus's mod into the client"
    )
    add_tmux_options(parser)
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON: the session's name and pane; with --wait the turn, with --follow "
        "its events and the turn",
    )
    parser.usage = f"{parser.prog} [options] MESSAGE [-- ARGS]"


def run(args: argparse.Namespace) -> ExitCode:
    check_message(args.message, args.image)
    if args.fork and args.resume is None:
        raise UsageError("--fork needs --resume SESSION")
    if args.end and not (args.wait or args.follow):
        raise UsageError("--end needs --wait or --follow")
    images = [read_image(one) for one in args.image]
    servers = parse_servers(args.mcp)
    home = find_supported_home(Path.cwd())
    client = find_client(args.client)
    address = select_address(os.environ, name=args.socket_name, path=args.socket_path)
    headless = load_agent().setup.headless_arguments(
        args.resume, fork=args.fork, mode=args.mode, servers=list(servers)
    )
    name = f"run-{uuid.uuid4().hex[:6]}"
    with connect_or_start(home) as watcher:
        pipe = home.root / f"{name}.in"
        start = load_agent().setup.watched_start(
            client, [*headless, *args.passed_on], home.socket, mod=not args.no_mod
        )
        with handed_over(home, {**os.environ, **start.environment}) as environment, fifo(pipe):
            feeder = [
                sys.executable,
                "-P",
                "-m",
                "chorus.watcher.panes.stdin_feeder",
                str(pipe),
                str(environment),
                *(["--mcp", json.dumps(servers)] if servers else []),
                client,
                *start.arguments,
            ]
            pane = open_headless_pane(TmuxServer(address), feeder, name)
            wait_for_reader(pipe)
        if args.wait or args.follow:
            watcher.ask("subscribe")
        watcher.ask(
            "watch",
            socket=str(address.socket),
            pane=pane,
            run=name,
            pipe=str(pipe),
            servers=list(servers),
            resumes=args.resume,
        )
        try:
            sent = watcher.ask("send", run=name, message=args.message, images=images)
        except WatcherError:
            watcher.ask("ready", run=name)  # raises an error that says how the client ended
            raise
        watcher.ask("ready", run=name)
        if args.wait or args.follow:
            try:
                return wait_for_turn(watcher, args, sent)
            finally:
                if args.end and not isinstance(sys.exception(), KeyboardInterrupt):
                    end_session(watcher, name)
    if args.json:
        print_json({"run": name, "pane": pane, "socket": str(address.socket)})
    else:
        print_out(
            f"{name} in pane {pane}; send more with `chorus send MESSAGE`, end it with `chorus send --end`"
        )
    return ExitCode.OK


def end_session(watcher: Connection, name: str) -> None:
    with suppress(WatcherError):  # the session has ended by itself
        watcher.ask("end", run=name, wait=True)


def parse_servers(given: list[str]) -> dict[str, str]:
    """Parse NAME=COMMAND pairs."""
    servers: dict[str, str] = {}
    for one in given:
        name, _, command = one.partition("=")
        if not name or not command:
            raise UsageError(f"--mcp {one!r} is not NAME=COMMAND")
        program = plain_program(command)
        if program is not None and shutil.which(program) is None:
            raise UsageError(f"MCP server {name}: program not found: {program}")
        servers[name] = command
    return servers


def plain_program(command: str) -> str | None:
    """Return the program that a shell command runs; None if that cannot be told without a shell."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return words[0] if words and not set(words[0]) & set("$`~*?[") else None


@contextmanager
def fifo(path: Path) -> Iterator[None]:
    """Create a named pipe, and remove it if the block fails."""
    os.mkfifo(path, 0o600)
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def wait_for_reader(pipe: Path) -> None:
    """Wait until a program has opened the pipe: a message written earlier would be lost.

    Raise RunNotStarted after START_TIMEOUT_SECONDS.
    """
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        try:
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            return
        except OSError as error:
            if error.errno != errno.ENXIO or time.monotonic() > deadline:
                raise RunNotStarted(
                    f"headless session {pipe.stem} did not start: "
                    f"its client did not open its input ({error.strerror})"
                ) from error
        time.sleep(0.01)


def open_headless_pane(tmux: TmuxServer, command: list[str], name: str) -> PaneId:
    """Open a window next to the current pane.

    Open a new session if there is no current pane, or if it is on another tmux server.
    """
    is_current = tmux.address == select_address(os.environ, name=None, path=None)
    here = os.environ.get("TMUX_PANE") if is_current else None
    placement = PanePlacement.WINDOW if here else PanePlacement.SESSION
    environment = {"PYTHONPATH": import_path()}
    beside = PaneId(here) if here else None
    return open_pane(
        tmux, placement, command, cwd=Path.cwd(), environment=environment, name=name, beside=beside
    )
