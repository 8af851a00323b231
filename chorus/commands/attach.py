"""`chorus attach`: watch a running client, a pane in which a client will start, or a capture file."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from chorus.agents import load_agent
from chorus.agents.interface import RunningClient, SettingsScope
from chorus.commands.access.watcher import find_supported_home
from chorus.commands.parser.options import add_tmux_options, parse_count
from chorus.errors import ExitCode, NotFound, UsageError
from chorus.model.ids import PaneId
from chorus.output import print_err, print_json, print_out
from chorus.system.processes.processes import read_foreground
from chorus.tmux.address import Address, list_addresses, select_address
from chorus.tmux.errors import ServerTimeout
from chorus.tmux.panes import PaneState, read_pane, read_panes
from chorus.tmux.tmux_server import TmuxServer
from chorus.wire.client import Connection
from chorus.wire.home import Home, NotARepository, find_home, find_work_tree
from chorus.wire.watcher_process import connect_or_start

ABOUT = """\
Without PANE, finds every pane in which Claude Code is running in this repository."""
EXAMPLES = (
    ("chorus attach", "watch all running sessions of this repository"),
    ("chorus attach --hooks", "also add hooks while they run, to record faster and more precisely"),
    ("chorus attach %3", "watch one pane, even if no client is running there yet"),
    ("chorus attach --capture session.log", "follow a headless client that runs outside tmux"),
)


class NoClientRunning(NotFound):
    hint = (
        "Start a session with `chorus claude`, or give a pane from `tmux list-panes -a`: `chorus attach %3`."
    )


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pane", nargs="?", metavar="PANE", help="watch this pane, whatever is running there")
    parser.add_argument(
        "--capture",
        metavar="FILE",
        help="follow a file that another program writes: the output of script(1), or a dump of a screen",
    )
    parser.add_argument(
        "--width", type=parse_count, metavar="N", help="with --capture: the pane's width (default: detected)"
    )
    add_tmux_options(parser)
    parser.add_argument(
        "--hooks",
        action="store_true",
        help="add Chorus's hooks to .claude/settings.local.json while the clients run",
    )
    parser.add_argument("--json", action="store_true", help="print the watched panes as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    if args.width is not None and args.capture is None:
        raise UsageError("--width needs --capture FILE")
    if args.capture is not None and (args.pane is not None or args.hooks):
        raise UsageError("--capture takes neither a PANE nor --hooks")
    home = find_supported_home(Path.cwd())
    if args.capture is not None:
        return follow_capture(home, args)
    if args.pane is not None:
        address = select_address(os.environ, name=args.socket_name, path=args.socket_path)
        targets = [(address, PaneId(args.pane))]
    else:
        targets = find_targets(home, args)
    watched = []
    with connect_or_start(home) as watcher:
        for address, pane in targets:
            watched.append(watcher.ask("watch", socket=str(address.socket), pane=pane))
            if args.hooks and watched[-1]["client"]:
                add_temporary_hooks(watcher, address, pane)
    if args.json:
        print_json(watched)
    else:
        for one in watched:
            print_out(render(one))
        print_err("chorus: `chorus panel` shows their actions and prompts")
    return ExitCode.OK


def follow_capture(home: Home, args: argparse.Namespace) -> ExitCode:
    with connect_or_start(home) as watcher:
        found = watcher.ask(
            "capture", path=str(Path(args.capture).absolute()), cwd=str(Path.cwd()), width=args.width
        )
    if args.json:
        print_json(found)
        return ExitCode.OK
    sessions = ", ".join(found["sessions"]) or "no session yet"
    print_out(f"{args.capture}: {found['events']} events so far, {sessions}")
    print_err("chorus: the file is followed until it is removed or you run `chorus stop`")
    return ExitCode.OK


def add_temporary_hooks(watcher: Connection, address: Address, pane: PaneId) -> None:
    """Add hooks to the work tree's local settings. The watcher removes them later."""
    setup = load_agent().setup
    state = read_pane(TmuxServer(address), pane)
    work_tree, _ = find_work_tree(Path(state.path))
    if not setup.settings_path(SettingsScope.LOCAL, work_tree).parent.exists():
        warn_of_older_client(state)
    change = setup.install_hooks(SettingsScope.LOCAL, work_tree)
    watcher.ask(
        "track_hooks",
        socket=str(address.socket),
        pane=pane,
        settings=str(change.path),
        backups=str(setup.backup_directory()),
        installed=change.changed,
    )


def warn_of_older_client(state: PaneState) -> None:
    """Warn if a client is too old to read a settings directory that was created after its start."""
    agent = load_agent()
    for client in find_clients(state):
        if client.version and not agent.setup.reads_new_settings(client.version):
            print_err(f"chorus: Claude Code {client.version} may ignore the hooks until you restart it")
            print_err("chorus: until then, its calls are read from its transcript, later than through hooks")


def find_clients(state: PaneState) -> list[RunningClient]:
    clients = load_agent().clients
    processes = filter(clients.is_client, read_foreground(state.identity.pane_pid))
    return [client for client in map(clients.read_client, processes) if client is not None]


def find_targets(home: Home, args: argparse.Namespace) -> list[tuple[Address, PaneId]]:
    """Return the panes in which a client runs in this repository. Raise NoClientRunning if there are none."""
    if args.socket_name is None and args.socket_path is None:
        addresses = list_addresses(os.environ)
    else:
        addresses = [select_address(os.environ, name=args.socket_name, path=args.socket_path)]
    found: list[tuple[Address, PaneId]] = []
    for address in addresses:
        try:
            states = read_panes(TmuxServer(address))
        except ServerTimeout as error:
            if len(addresses) == 1:
                raise
            print_err(f"chorus: {error}; the panes of this server are left out")
            continue
        found += [(address, state.id) for state in states if runs_client_in(home, state)]
    if not found:
        raise NoClientRunning(f"Claude Code is not running in any tmux pane for {home.common_dir.parent}")
    return found


def runs_client_in(home: Home, state: PaneState) -> bool:
    for client in find_clients(state):
        try:
            if find_home(Path(client.cwd)) == home:
                return True
        except NotARepository:
            continue
    return False


def render(pane: Mapping[str, object]) -> str:
    if pane["session"]:
        return f"{pane['pane']}: session {pane['session']}"
    if pane["client"]:
        return f"{pane['pane']}: a client without a session yet"
    return f"{pane['pane']}: no client yet; waiting for one to start"
