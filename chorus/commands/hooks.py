"""`chorus hooks`: install or uninstall hooks in the client's settings, or show which settings have them."""

import argparse
from pathlib import Path

from chorus.agents import load_agent
from chorus.agents.interface import HookStatus, SettingsChange, SettingsScope
from chorus.errors import ExitCode
from chorus.output import print_err, print_json, print_out
from chorus.system.files.git_files import find_work_tree
from chorus.wire.home import Home
from chorus.wire.watcher_process import start

ABOUT = """\
Not needed for `chorus claude`, which uses its own hooks. Other settings in the file
are kept, and a backup is made."""


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="install|uninstall|status")
    for name, summary in (
        ("install", "add the hooks: the client then reports its tool calls, in repositories that use Chorus"),
        ("uninstall", "remove the hooks, and the file if it was created for them"),
        ("status", "show which settings files have the hooks"),
    ):  # fmt: skip
        action = actions.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        default = "" if name == "status" else " (the default)"
        scopes = action.add_mutually_exclusive_group()
        scopes.add_argument("--user", dest="scope", action="store_const", const=SettingsScope.USER,
                            help=f"your settings for all repositories{default}")  # fmt: skip
        scopes.add_argument("--project", dest="scope", action="store_const", const=SettingsScope.PROJECT,
                            help="the repository's settings, shared with others")  # fmt: skip
        scopes.add_argument("--local", dest="scope", action="store_const", const=SettingsScope.LOCAL,
                            help="your settings for this repository")  # fmt: skip
        action.add_argument("--json", action="store_true", help="print JSON")
    wake = actions.add_parser("wake")  # internal: run by the hook to start the watcher
    wake.add_argument("common_dir", type=Path)


def run(args: argparse.Namespace) -> ExitCode:
    if args.action == "wake":
        start(Home(args.common_dir))
        return ExitCode.OK
    setup, root = load_agent().setup, find_work_tree(Path.cwd())
    work_tree = None if root is None else Path(root)
    scope = args.scope or SettingsScope.USER
    match args.action:
        case "install":
            _report(args, setup.install_hooks(scope, work_tree), "hooks installed in")
        case "uninstall":
            change = setup.uninstall_hooks(setup.settings_path(scope, work_tree))
            _report(args, change, "hooks removed from")
        case _:
            scopes = list(SettingsScope) if args.scope is None else [args.scope]
            known = [scope for scope in scopes if scope is SettingsScope.USER or work_tree is not None]
            _print_status(args, [setup.hook_status(scope, work_tree) for scope in known])
    return ExitCode.OK


def _report(args: argparse.Namespace, change: SettingsChange, done: str) -> None:
    if args.json:
        backup = None if change.backup is None else str(change.backup)
        print_json({"path": str(change.path), "changed": change.changed, "backup": backup})
        return
    print_out(f"{done} {change.path}" if change.changed else f"nothing to do in {change.path}")
    if change.backup is not None:
        print_err(f"the previous version is in {change.backup}")


def _print_status(args: argparse.Namespace, found: list[HookStatus]) -> None:
    if args.json:
        print_json([_status_json(status) for status in found])
        return
    for status in found:
        print_out(f"{status.scope.value:<8} {_describe(status):<16} {status.path}")
        if status.problem is not None:
            print_err(f"  {status.problem}")
        elif status.events and not status.current:
            print_err(f"  run `chorus hooks install --{status.scope.value}` again")


def _describe(status: HookStatus) -> str:
    if status.problem is not None:
        return "unreadable"
    if status.current:
        return "installed"
    return "out of date" if status.events else "not installed"


def _status_json(status: HookStatus) -> dict[str, object]:
    return {
        "scope": status.scope.value,
        "path": str(status.path),
        "state": _describe(status),
        "events": list(status.events),
        "problem": status.problem,
    }
