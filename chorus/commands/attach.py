"""`chorus attach`: watch a client that runs already, or a pane in which one will."""

import argparse
import os
from pathlib import Path

from chorus.agents.claude_code.hooks.program import (
    HOOK_PROGRAM,
    find_chorus_program,
    find_plugin_directory,
    render_hook_groups,
)
from chorus.agents.claude_code.processes import is_client, read_client
from chorus.agents.claude_code.settings.files import backup_directory, install_hooks, locate_settings
from chorus.agents.interface import SettingsScope
from chorus.commands.access.watcher import find_supported_home
from chorus.errors import ExitCode, NotFound
from chorus.model.ids import PaneId
from chorus.output import print_err, print_json, print_out
from chorus.system.processes import read_foreground
from chorus.tmux.address import Address, list_addresses, select_address
from chorus.tmux.panes import PaneState, read_pane, read_panes
from chorus.tmux.tmux_server import TmuxServer
from chorus.wire.client import Connection, connect_or_start
from chorus.wire.home import Home, NotARepository, find_home, find_work_tree

# The oldest client seen to take up settings in a `.claude` made while it ran; 2.1.191 did not.
SEES_NEW_SETTINGS = (2, 1, 257)


class NoClientRunning(NotFound):
    hint = "Start one with `chorus claude`, or name a pane: `chorus attach %3` (see `tmux list-panes -a`)."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pane", nargs="?", metavar="PANE", help="the pane to watch, whatever runs there (%%3)"
    )
    parser.add_argument("-L", dest="name", metavar="NAME", help="the tmux server with this socket name")
    parser.add_argument("-S", dest="socket", metavar="PATH", help="the tmux server with this socket")
    parser.add_argument(
        "--hooks",
        action="store_true",
        help="lend the clients Chorus's hooks, in .claude/settings.local.json, for as long as they run",
    )
    parser.add_argument("--json", action="store_true", help="the panes that are watched, for programs")


def run(args: argparse.Namespace) -> ExitCode:
    home = find_supported_home(Path.cwd())
    if args.pane is not None:
        address = select_address(os.environ, name=args.name, path=args.socket)
        targets = [(address, PaneId(args.pane))]
    else:
        targets = find_targets(home, args)
    watched = []
    with connect_or_start(home) as watcher:
        for address, pane in targets:
            watched.append(watcher.ask("watch", socket=str(address.socket), pane=pane))
            if args.hooks and watched[-1]["client"]:
                lend_hooks(watcher, address, pane)
    if args.json:
        print_json(watched)
    else:
        for pane in watched:
            print_out(render(pane))
        print_err("chorus: `chorus panel` shows what is done and asked there")
    return ExitCode.OK


def lend_hooks(watcher: Connection, address: Address, pane: PaneId) -> None:
    """The running client takes up hooks from the settings file by itself; the watcher removes them later."""
    state = read_pane(TmuxServer(address), pane)
    work_tree, _ = find_work_tree(Path(state.path))
    settings = locate_settings(SettingsScope.LOCAL, os.environ, work_tree)
    if not settings.parent.exists():
        warn_of_older_client(state)
    groups = render_hook_groups(find_plugin_directory() / HOOK_PROGRAM, find_chorus_program())
    change = install_hooks(settings, groups, backups=backup_directory())
    watcher.ask(
        "lend",
        socket=str(address.socket),
        pane=pane,
        settings=str(settings),
        backups=str(backup_directory()),
        installed=change.changed,
    )


def warn_of_older_client(state: PaneState) -> None:
    """Such a client does not look into a settings directory that was not there when it started."""
    for process in filter(is_client, read_foreground(state.identity.pane_pid)):
        client = read_client(process)
        if client is not None and client.version and is_older(client.version, SEES_NEW_SETTINGS):
            print_err(
                f"chorus: client {client.version} may not see hooks in a .claude that is new: start it anew"
            )
            print_err("chorus: until then its calls are told of by its transcript, later than by hooks")


def is_older(version: str, than: tuple[int, ...]) -> bool:
    """Whether a version is below another; one that cannot be read is not."""
    parts = version.split(".")
    return all(part.isdecimal() for part in parts) and tuple(map(int, parts)) < than


def find_targets(home: Home, args: argparse.Namespace) -> list[tuple[Address, PaneId]]:
    """Every pane in which a client works in this repository."""
    if args.name is None and args.socket is None:
        addresses = list_addresses(os.environ)
    else:
        addresses = [select_address(os.environ, name=args.name, path=args.socket)]
    found = [
        (address, state.id)
        for address in addresses
        for state in read_panes(TmuxServer(address))
        if runs_client_in(home, state)
    ]
    if not found:
        raise NoClientRunning(f"no pane runs Claude Code in {home.common_dir.parent}")
    return found


def runs_client_in(home: Home, state: PaneState) -> bool:
    for process in filter(is_client, read_foreground(state.identity.pane_pid)):
        client = read_client(process)
        try:
            if client is not None and find_home(Path(client.cwd)) == home:
                return True
        except NotARepository:
            continue
    return False


def render(pane: dict[str, object]) -> str:
    if pane["session"]:
        return f"{pane['pane']}: session {pane['session']}"
    if pane["client"]:
        return f"{pane['pane']}: a client that has not begun a session yet"
    return f"{pane['pane']}: no client yet; watched until one starts"
