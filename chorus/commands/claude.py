"""`chorus claude`: start Claude Code in tmux and watch it."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

from chorus.agents import load_agent
from chorus.commands.access.watcher import find_supported_home
from chorus.commands.panel import panel_command
from chorus.commands.parser.options import add_tmux_options
from chorus.errors import ChorusError, ExitCode, NotFound
from chorus.model.api.requests import WatchArguments
from chorus.model.ids import PaneId
from chorus.output import print_err
from chorus.tmux.address import Address, select_address
from chorus.wire.client import Connection
from chorus.wire.handover import handed_over, take_environment
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_current, connect_started, import_path, start, stop


class NotATerminal(ChorusError):
    exit_code = ExitCode.USAGE
    hint = "Run this in an interactive terminal, or start a headless session with `chorus run MESSAGE`."


class ClientNotFound(NotFound):
    hint = "Install Claude Code, or give its path with --client."


PASSES_ON = True
ABOUT = """\
Inside tmux, the client starts in this pane. The side panel opens beside it, below it if
the pane has fewer than 120 columns, or in a new window if the pane also has fewer than
28 rows. Outside tmux, a new tmux session named after the repository is opened. Your
settings and the repository's files are not changed."""
EXAMPLES = (
    ("chorus claude", "start a session"),
    ("chorus claude -- --continue", "pass options on to Claude Code"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--client", metavar="PATH", help="the client to start (default: claude from PATH)")
    parser.add_argument(
        "--no-mod", action="store_true", help="use hooks only: don't load Chorus's mod into the client"
    )
    parser.add_argument("--no-panel", action="store_true", help="don't open the side panel")
    add_tmux_options(parser)
    parser.add_argument("--environment", metavar="FILE", help=argparse.SUPPRESS)
    parser.usage = f"{parser.prog} [options] [-- ARGS]"


def run(args: argparse.Namespace) -> ExitCode:
    home = find_home(Path.cwd())
    with ExitStack() as at_end:
        running = connect_current(home)
        if running is None:
            find_supported_home(Path.cwd())  # a running watcher has checked this already
        else:
            at_end.enter_context(running)
        if args.environment:
            os.environ.update(take_environment(Path(args.environment)))
        client = find_client(args.client)
        address = select_address(os.environ, name=args.socket_name, path=args.socket_path)
        if "TMUX_PANE" in os.environ and args.socket_name is None and args.socket_path is None:
            become_client(home, address, client, args, running)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise NotATerminal(f"{'stdin' if sys.stdout.isatty() else 'stdout'} is not a terminal")
        if running is None:
            start(home)  # the watcher loads while tmux starts
        name = open_session(home, address, args)
    return show_session(address, name)


def show_session(address: Address, name: str) -> ExitCode:
    """Show the tmux session in this terminal. After a detach, print the command that returns to it."""
    from chorus.tmux.launch import attach_command, has_session  # noqa: PLC0415  loads libtmux
    from chorus.tmux.tmux_server import TmuxServer  # noqa: PLC0415  as above

    done = subprocess.run(attach_command(address, f"={name}"))
    if done.returncode:
        return ExitCode.SYSTEM_ERROR
    if has_session(TmuxServer(address), name):
        usual = select_address({**os.environ, "TMUX": ""}, name=None, path=None).socket
        where = ["-S", os.fspath(address.socket)]
        if address.socket.parent == usual.parent:
            where = [] if address.socket == usual else ["-L", address.socket.name]
        back = shlex.join(["tmux", *where, "attach", "-t", name])
        print_err(f"chorus: detached; the session is still running. Return with: {back}")
    return ExitCode.OK


def find_client(named: str | None) -> str:
    program = named or load_agent().setup.program
    found = shutil.which(program)
    if found is None:
        raise ClientNotFound(f"program not found: {program}")
    return found


def become_client(
    home: Home, address: Address, client: str, args: argparse.Namespace, running: Connection | None
) -> NoReturn:
    """Let the watcher watch this pane, then replace this process with the client."""
    watch: WatchArguments = {
        "socket": str(address.socket),
        "pane": os.environ["TMUX_PANE"],
        "panel": None if args.no_panel else panel_command(),
    }
    if running is None:
        start_watcher(home, watch)
    else:
        with running as watcher:
            report_panel(watcher.ask("watch", **watch).get("panel_error"))
    prepared = load_agent().setup.watched_start(client, args.passed_on, home.socket, mod=not args.no_mod)
    environment = {**os.environ, **prepared.environment}
    os.execve(client, [client, *prepared.arguments], environment)  # noqa: S606  without a shell


def start_watcher(home: Home, watch: WatchArguments) -> None:
    """Start a watcher, and open the side panel.

    The panel is opened before the client starts, so that the client's first screen has its final size.
    """
    stop(home)  # a watcher of another version may be running
    start(home)
    panel = watch.pop("panel", None)
    if panel:
        from chorus.tmux.launch import show_side_pane  # noqa: PLC0415  loads libtmux, while the watcher starts
        from chorus.tmux.tmux_server import TmuxServer  # noqa: PLC0415  as above

        tmux, environment = TmuxServer(Address(Path(watch["socket"]))), {"PYTHONPATH": import_path()}
        report_panel(show_side_pane(tmux, PaneId(watch["pane"]), panel, environment=environment))
    with connect_started(home) as watcher:
        watcher.send("watch", watch)


def report_panel(error: str | None) -> None:
    if error:
        print_err(f"chorus: cannot open the side panel: {error}")


def open_session(home: Home, address: Address, args: argparse.Namespace) -> str:
    """Run `chorus claude` again in a new tmux session, and return that session's name."""
    from chorus.tmux.launch import PanePlacement, choose_session_name, open_pane  # noqa: PLC0415  loads libtmux
    from chorus.tmux.tmux_server import TmuxServer  # noqa: PLC0415  as above

    options = [*(["--no-panel"] if args.no_panel else []), *(["--no-mod"] if args.no_mod else [])]
    if args.client:
        options += ["--client", args.client]
    cwd = Path.cwd()
    environment = {"PYTHONPATH": import_path()}
    with handed_over(home, os.environ) as handed:
        options += ["--environment", str(handed)]
        command = [sys.executable, "-P", "-m", "chorus", "claude", *options, "--", *args.passed_on]
        tmux = TmuxServer(address)
        name = choose_session_name(tmux, home.common_dir.parent.name)
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
        open_pane(
            tmux,
            PanePlacement.SESSION,
            command,
            cwd=cwd,
            environment=environment,
            name=name,
            window=load_agent().setup.program,  # else tmux names the window after its active pane
            # The size at which it will be shown, because the place of the panel depends on it. tmux takes
            # one row for its status line.
            size=(columns, max(rows - 1, 2)),
        )
        return name
