"""`chorus panel`: the side panel with the actions, diffs and prompts of all sessions."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from chorus.commands.parser.options import add_here_option, add_tmux_options
from chorus.errors import ExitCode, UsageError
from chorus.output import print_out
from chorus.wire.home import Home, find_work_tree

# The user's settings for display and editor. A new tmux pane would get them from the process that started the
# tmux server, perhaps with another locale, editor and PATH.
USER_VARIABLES = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "COLORFGBG", "CHORUS_THEME", "EDITOR", "VISUAL",
    "XDG_CONFIG_HOME", "XDG_STATE_HOME",
)  # fmt: skip

ABOUT = """\
Shows what the sessions did, and lets you revert, keep and land actions and answer
prompts. Press ? in the panel for its keys."""
EXAMPLES = (
    ("chorus panel", "open the panel in this terminal"),
    ("chorus panel --toggle", "for a tmux key: bind C run-shell 'chorus panel --toggle'"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--plain", action="store_true", help="print a live log of plain lines instead")
    how.add_argument(
        "--toggle",
        action="store_true",
        help="open or close the panel in this tmux window (a popup if the window is small)",
    )
    parser.add_argument(
        "--theme", choices=("auto", "dark", "light"), default="auto", help="colour theme (default: auto)"
    )
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    parser.add_argument("--unicode", action="store_true", help="draw with Unicode, whatever the locale says")
    parser.add_argument("--bell", action="store_true", help="ring the bell for each new prompt")
    add_here_option(parser)
    tmux = parser.add_argument_group("options for --toggle")
    tmux.add_argument("--pane", metavar="ID", help="open next to this pane (default: the current one)")
    add_tmux_options(tmux)


def run(args: argparse.Namespace) -> ExitCode:
    if args.toggle:
        return _toggle(args)
    work_tree, home = find_work_tree(Path.cwd())
    if args.plain or not is_terminal():
        return _run_plain(home, work_tree, here=args.here)
    return _run_panel(args, home, work_tree)


def is_terminal() -> bool:
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout)) and os.environ.get("TERM") != "dumb"


def _run_panel(args: argparse.Namespace, home: Home, work_tree: Path) -> ExitCode:
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)  # the size of the terminal that started the tmux server, not of this pane
    from chorus.panel.state.feed import Feed, FeedReader  # noqa: PLC0415  loaded only for the full panel

    reader = FeedReader(Feed(home, work_tree, here=args.here))
    reader.start()  # requests run while Textual loads, which takes longer
    from chorus.panel.app import Panel, PanelSettings  # noqa: PLC0415  only for the full panel
    from chorus.panel.style.labels import wants_ascii  # noqa: PLC0415  only for the full panel
    from chorus.panel.style.theme import count_colours, is_dark  # noqa: PLC0415  only for the full panel

    settings = PanelSettings(
        home,
        work_tree,
        dark=is_dark(os.environ, args.theme),
        colours=count_colours(os.environ),
        ascii=args.ascii or (wants_ascii(os.environ) and not args.unicode),
        bell=args.bell,
        here=args.here,
    )
    panel = Panel(settings, reader)
    panel.run()
    return ExitCode.BUG if panel.return_code else ExitCode.OK


def _run_plain(home: Home, work_tree: Path, *, here: bool) -> ExitCode:
    from chorus.panel.plain import PlainLog  # noqa: PLC0415  only for the plain log
    from chorus.panel.state.feed import Feed  # noqa: PLC0415  only for the plain log

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # There is nothing to clean up, and Python misses an interrupt that arrives right before it waits.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    log = PlainLog()
    for message in Feed(home, work_tree, here=here).messages():
        for line in log.feed(message):
            print_out(line)
        sys.stdout.flush()
    return ExitCode.OK


def panel_command(options: Sequence[str] = ()) -> list[str]:
    """Return the command that runs the panel in another pane, with this process's USER_VARIABLES."""
    absent = [word for name in USER_VARIABLES if name not in os.environ for word in ("-u", name)]
    variables = [f"{name}={os.environ[name]}" for name in USER_VARIABLES if name in os.environ]
    return ["env", *absent, *variables, sys.executable, "-P", "-m", "chorus", "panel", *options]


def _toggle(args: argparse.Namespace) -> ExitCode:
    from chorus.model.ids import PaneId  # noqa: PLC0415  only --toggle talks to tmux
    from chorus.tmux.address import select_address  # noqa: PLC0415  only for --toggle
    from chorus.tmux.launch import (  # noqa: PLC0415  only --toggle talks to tmux
        close_side_panes,
        has_room_for_side_pane,
        open_popup,
        open_side_pane,
    )
    from chorus.tmux.tmux_server import TmuxServer  # noqa: PLC0415  only for --toggle
    from chorus.wire.watcher_process import import_path  # noqa: PLC0415  only for --toggle

    pane = args.pane or os.environ.get("TMUX_PANE")
    if not pane and "TMUX" not in os.environ:
        raise UsageError("not inside tmux", hint="Run this inside tmux, or give a pane with --pane.")
    tmux = TmuxServer(select_address(os.environ, name=args.socket_name, path=args.socket_path))
    if not pane:  # run by a key binding: tmux knows which pane the user is in
        (pane,) = tmux.run(["display-message", "-p", "#{pane_id}"])
    if close_side_panes(tmux, PaneId(pane)):
        return ExitCode.OK
    options = [option for option in ("--ascii", "--unicode", "--bell", "--here") if getattr(args, option[2:])]
    options += [] if args.theme == "auto" else ["--theme", args.theme]
    environment = {"PYTHONPATH": import_path()}
    place = open_side_pane if has_room_for_side_pane(tmux, PaneId(pane)) else open_popup
    place(tmux, PaneId(pane), panel_command(options), environment=environment)
    return ExitCode.OK
