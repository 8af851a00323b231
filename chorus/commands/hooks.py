"""`chorus hooks`: install Chorus's hooks in the client's settings, remove them, show where they are."""

import argparse
import os
from pathlib import Path

from chorus.agents.claude_code.hooks.program import (
    HOOK_PROGRAM,
    find_chorus_program,
    find_plugin_directory,
    render_hook_groups,
    render_portable_hook_groups,
)
from chorus.agents.claude_code.settings.files import (
    backup_directory,
    install_hooks,
    locate_settings,
    read_hook_status,
    uninstall_hooks,
)
from chorus.agents.claude_code.settings.hook_entries import HookGroup
from chorus.agents.interface import HookStatus, SettingsChange, SettingsScope
from chorus.errors import ExitCode
from chorus.output import print_err, print_json, print_out
from chorus.system.git_files import find_work_tree
from chorus.wire.client import start
from chorus.wire.home import Home

ABOUT = """\
Not needed for `chorus claude`, which brings its own hooks. Other settings in the file
are kept, and a backup is made."""


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="install|uninstall|status")
    for name, summary in (
        ("install", "add the hooks: the client then reports its tool calls, in repositories that use Chorus"),
        ("uninstall", "remove the hooks and restore the file as it was"),
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
    match args.action:
        case "install":
            return _report(args, [_install(args.scope or SettingsScope.USER)])
        case "uninstall":
            return _report(args, [_uninstall(args.scope or SettingsScope.USER)])
        case "status":
            return _status(args, list(SettingsScope) if args.scope is None else [args.scope])
        case _:
            start(Home(args.common_dir))
            return ExitCode.OK


def _install(scope: SettingsScope) -> SettingsChange:
    return install_hooks(_locate(scope), _groups(scope), backups=backup_directory())


def _uninstall(scope: SettingsScope) -> SettingsChange:
    return uninstall_hooks(_locate(scope), backups=backup_directory())


def _report(args: argparse.Namespace, changes: list[SettingsChange]) -> ExitCode:
    for change in changes:
        if args.json:
            backup = None if change.backup is None else str(change.backup)
            print_json({"path": str(change.path), "changed": change.changed, "backup": backup})
            continue
        done = {"install": "hooks installed in", "uninstall": "hooks removed from"}[args.action]
        print_out(f"{done} {change.path}" if change.changed else f"nothing to do in {change.path}")
        if change.backup is not None:
            print_err(f"the previous version is in {change.backup}")
    return ExitCode.OK


def _status(args: argparse.Namespace, scopes: list[SettingsScope]) -> ExitCode:
    in_repository = find_work_tree(Path.cwd()) is not None
    known = [scope for scope in scopes if scope is SettingsScope.USER or in_repository]
    found = [read_hook_status(scope, _locate(scope), _groups(scope)) for scope in known]
    if args.json:
        print_json([_render_status(status) for status in found])
    for status in [] if args.json else found:
        print_out(f"{status.scope.value:<8} {_describe(status):<16} {status.path}")
        if status.problem is not None:
            print_err(f"  {status.problem}")
    return ExitCode.OK


def _describe(status: HookStatus) -> str:
    if status.problem is not None:
        return "unreadable"
    if status.current:
        return "installed"
    return "out of date" if status.events else "not installed"


def _render_status(status: HookStatus) -> dict[str, object]:
    return {
        "scope": status.scope.value,
        "path": str(status.path),
        "state": _describe(status),
        "events": list(status.events),
        "problem": status.problem,
    }


def _groups(scope: SettingsScope) -> dict[str, HookGroup]:
    if scope is SettingsScope.PROJECT:
        return render_portable_hook_groups()
    return render_hook_groups(find_plugin_directory() / HOOK_PROGRAM, find_chorus_program())


def _locate(scope: SettingsScope) -> Path:
    return locate_settings(scope, os.environ, find_work_tree(Path.cwd()))
