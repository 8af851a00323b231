"""`chorus panel`: what the sessions did and ask, in a pane beside them.

Receives the options; runs the panel until the person leaves. Closing it never stops the watching.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from chorus.errors import ExitCode, UsageError
from chorus.output import print_out
from chorus.wire.home import Home, find_work_tree

# How things are shown to a person and opened. A new pane has these from whatever started the tmux server,
# long ago and perhaps with another locale, no editor and another PATH.
OF_THE_PERSON = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "COLORFGBG", "CHORUS_THEME", "EDITOR", "VISUAL",
    "XDG_CONFIG_HOME", "XDG_STATE_HOME",
)  # fmt: skip


def configure(parser: argparse.ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--plain", action="store_true", help="print a live log of plain lines instead")
    how.add_argument(
        "--toggle", action="store_true", help="open or close the panel's pane in this tmux window"
    )
    parser.add_argument(
        "--theme", choices=("auto", "dark", "light"), default="auto", help="colours (default: auto)"
    )
    parser.add_argument("--ascii", action="store_true", help="draw with ASCII only")
    parser.add_argument("--unicode", action="store_true", help="draw with Unicode whatever the locale says")
    parser.add_argument("--bell", action="store_true", help="ring when a new prompt is asked")
    tmux = parser.add_argument_group("tmux, for --toggle")
    tmux.add_argument("--pane", metavar="ID", help="the pane to open beside (default: this one)")
    tmux.add_argument("-L", dest="socket_name", metavar="NAME", help="the tmux server of this name")
    tmux.add_argument("-S", dest="socket_path", metavar="PATH", help="the tmux server at this socket")


def run(args: argparse.Namespace) -> ExitCode:
    if args.toggle:
        return _toggle(args)
    work_tree, home = find_work_tree(Path.cwd())
    if args.plain or not _is_terminal():
        return _run_plain(home, work_tree)
    return _run_panel(args, home, work_tree)


def _is_terminal() -> bool:
    return all(stream.isatty() for stream in (sys.stdin, sys.stdout)) and os.environ.get("TERM") != "dumb"


def _run_panel(args: argparse.Namespace, home: Home, work_tree: Path) -> ExitCode:
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)  # of the terminal the tmux server was started from, not of this pane
    from chorus.panel.feed import Feed, FeedReader  # noqa: PLC0415  each way of running pays for its own

    reader = FeedReader(Feed(home, work_tree))
    reader.start()  # the watcher is asked while the toolkit loads, which takes longer
    from chorus.panel.app import Panel, PanelSettings  # noqa: PLC0415
    from chorus.panel.labels import wants_ascii  # noqa: PLC0415
    from chorus.panel.theme import count_colours, is_dark  # noqa: PLC0415

    settings = PanelSettings(
        home,
        work_tree,
        dark=is_dark(os.environ, args.theme),
        colours=count_colours(os.environ),
        ascii=args.ascii or (wants_ascii(os.environ) and not args.unicode),
        bell=args.bell,
    )
    panel = Panel(settings, reader)
    panel.run()
    return ExitCode.BUG if panel.return_code else ExitCode.OK


def _run_plain(home: Home, work_tree: Path) -> ExitCode:
    from chorus.panel.feed import Feed  # noqa: PLC0415
    from chorus.panel.plain import PlainLog  # noqa: PLC0415

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # There is nothing to tidy up, and Python overlooks an interrupt that comes right before it waits.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    log = PlainLog()
    for message in Feed(home, work_tree).messages():
        for line in log.feed(message):
            print_out(line)
        sys.stdout.flush()
    return ExitCode.OK


def panel_command(options: Sequence[str] = ()) -> list[str]:
    """The panel as a command to run in a pane: this very code, and what this shell says of its person."""
    absent = [word for name in OF_THE_PERSON if name not in os.environ for word in ("-u", name)]
    given = [f"{name}={os.environ[name]}" for name in OF_THE_PERSON if name in os.environ]
    return ["env", *absent, *given, sys.executable, "-P", "-m", "chorus", "panel", *options]


def _toggle(args: argparse.Namespace) -> ExitCode:
    from chorus.model.ids import PaneId  # noqa: PLC0415  only --toggle talks to tmux
    from chorus.tmux.address import select_address  # noqa: PLC0415
    from chorus.tmux.launch import close_side_panes, open_side_pane  # noqa: PLC0415
    from chorus.tmux.tmux_server import TmuxServer  # noqa: PLC0415

    pane = args.pane or os.environ.get("TMUX_PANE")
    if not pane:
        raise UsageError("not inside tmux", hint="Run this inside tmux, or name the pane with --pane.")
    tmux = TmuxServer(select_address(os.environ, name=args.socket_name, path=args.socket_path))
    if close_side_panes(tmux, PaneId(pane)):
        return ExitCode.OK
    options = [option for option in ("--ascii", "--unicode", "--bell") if getattr(args, option[2:])]
    options += [] if args.theme == "auto" else ["--theme", args.theme]
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent)}
    open_side_pane(tmux, PaneId(pane), panel_command(options), environment=environment)
    return ExitCode.OK
