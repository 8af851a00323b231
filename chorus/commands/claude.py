"""`chorus claude`: start Claude Code in tmux and watch it.

Inside tmux the client runs in the current pane; outside, in a new tmux session that is then shown here.
The hooks are passed to this one process with `--settings`: nothing is written to the repository or to
the user's settings.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from chorus.agents import load_agent
from chorus.commands.access.watcher import find_supported_home
from chorus.commands.panel import panel_command
from chorus.commands.parser.argument_parser import add_tmux_options
from chorus.errors import ChorusError, ExitCode, NotFound
from chorus.model.ids import PaneId
from chorus.output import print_err
from chorus.tmux.address import Address, select_address
from chorus.tmux.launch import PanePlacement, attach_command, find_side_panes, open_pane, open_side_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.wire.client import connect_or_start, import_path
from chorus.wire.handover import handed_over, take_environment
from chorus.wire.home import Home


class NotATerminal(ChorusError):
    exit_code = ExitCode.USAGE
    hint = "Run this in an interactive terminal, or start a headless session with `chorus run MESSAGE`."


class ClientNotFound(NotFound):
    hint = "Install Claude Code, or give its path with --client."


PASSES_ON = True
ABOUT = """\
Inside tmux the client starts in this pane, with the side panel beside it. Outside, a
new tmux session is opened. Your settings and the repository's files are not changed."""
EXAMPLES = (
    ("chorus claude", "start a session"),
    ("chorus claude -- --continue", "pass options on to Claude Code"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--client", metavar="PATH", help="the client to start (default: claude from PATH)")
    parser.add_argument("--no-panel", action="store_true", help="don't open the side panel")
    add_tmux_options(parser)
    parser.add_argument("--environment", metavar="FILE", help=argparse.SUPPRESS)
    parser.usage = f"{parser.prog} [options] [-- ARGS]"


def run(args: argparse.Namespace) -> ExitCode:
    home = find_supported_home(Path.cwd())
    if args.environment:
        os.environ.update(take_environment(Path(args.environment)))
    client = find_client(args.client)
    address = select_address(os.environ, name=args.socket_name, path=args.socket_path)
    if "TMUX_PANE" in os.environ and args.socket_name is None and args.socket_path is None:
        become_client(home, address, client, args.passed_on, panel=not args.no_panel)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NotATerminal("stdout is not a terminal")
    pane = open_session(home, address, args)
    os.execvp("tmux", attach_command(address, pane))  # noqa: S606  tmux takes over the terminal
    return ExitCode.OK


def find_client(named: str | None) -> str:
    program = named or load_agent().setup.program
    found = shutil.which(program)
    if found is None:
        raise ClientNotFound(f"program not found: {program}")
    return found


def become_client(
    home: Home, address: Address, client: str, arguments: Sequence[str], *, panel: bool
) -> NoReturn:
    """Replace this process with the client, in this pane, with the watcher watching it."""
    pane = PaneId(os.environ["TMUX_PANE"])
    with connect_or_start(home) as watcher:
        watcher.ask("watch", socket=str(address.socket), pane=pane)
    if panel:
        show_panel(TmuxServer(address), pane)
    command = client_command(client, arguments)
    os.execv(client, command)  # noqa: S606  without a shell


def show_panel(tmux: TmuxServer, pane: PaneId) -> None:
    """Open the side panel to the right of this pane, unless it is open. A failure is only reported."""
    try:
        if not find_side_panes(tmux, pane):
            open_side_pane(tmux, pane, panel_command(), environment={"PYTHONPATH": import_path()})
    except ChorusError as error:
        print_err(f"chorus: no side panel: {error}")


def client_command(client: str, arguments: Sequence[str]) -> list[str]:
    """Return the client's command line, with Chorus's hooks added to the settings the user gives."""
    return [client, *load_agent().setup.add_hooks_to_arguments(arguments)]


def open_session(home: Home, address: Address, args: argparse.Namespace) -> PaneId:
    """Run the same command again, inside a new tmux session."""
    options = ["--no-panel"] if args.no_panel else []
    if args.client:
        options += ["--client", args.client]
    cwd = Path.cwd()
    environment = {"PYTHONPATH": import_path()}
    with handed_over(home, os.environ) as handed:
        options += ["--environment", str(handed)]
        command = [sys.executable, "-P", "-m", "chorus", "claude", *options, "--", *args.passed_on]
        return open_pane(
            TmuxServer(address), PanePlacement.SESSION, command, cwd=cwd, environment=environment
        )
