"""`chorus doctor`: what is healthy, what is not covered, and how to mend it.

Each check gives one line: what was looked at, whether it is well, what was seen, what to do. `--deep`
also proves that the timeline gives the work tree's bytes and each lane its own tree.
"""

import argparse
import os
import shutil
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from chorus import __version__
from chorus.agents.claude_code.hooks.program import (
    HOOK_PROGRAM,
    find_chorus_program,
    find_plugin_directory,
    render_hook_groups,
)
from chorus.agents.claude_code.settings.files import locate_settings, read_hook_status
from chorus.agents.interface import SettingsScope
from chorus.commands.log import paint
from chorus.commands.terminal.git_settings import wants_colour
from chorus.errors import ChorusError, ExitCode
from chorus.history.recorder import Recorder
from chorus.history.records import RecordKind
from chorus.model.json_api import StatusJson
from chorus.output import print_json, print_out
from chorus.review.verify import verify
from chorus.store.maintenance.object_check import find_damaged_objects
from chorus.store.maintenance.removal import is_store_missing
from chorus.store.objects.object_store import ObjectMissing
from chorus.store.repository import Repository
from chorus.text.sanitize import printable
from chorus.tmux.errors import TmuxNotInstalled
from chorus.tmux.tmux_server import MIN_VERSION, is_supported, read_version
from chorus.watcher.state.lent_hooks import LENT_FILE, LentHooks
from chorus.wire.client import WatcherNotResponding, WatcherNotRunning, connect
from chorus.wire.home import Home, find_home

RAISE_LIMITS = "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances, then run `chorus stop`."
# A program that says nothing about itself for this long is not well; the client needs a second or two.
ANSWER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    detail: str
    fix: str | None = None


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--deep", action="store_true", help="also prove the recorded history; reads every file"
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    checks = list(examine(Path.cwd(), deep=args.deep))
    ok = all(check.ok for check in checks)
    if args.json:
        print_json({"ok": ok, "chorus": __version__, "checks": [asdict(check) for check in checks]})
    else:
        colour = wants_colour()
        for check in checks:
            print_out(render(check, colour=colour))
    return ExitCode.OK if ok else ExitCode.SYSTEM_ERROR


def render(check: Check, *, colour: bool) -> str:
    mark = paint("ok  ", "32", colour) if check.ok else paint("bad ", "31", colour)
    line = f"{mark} {check.name:<12} {printable(check.detail)}"
    return line if check.ok or check.fix is None else f"{line}\n     {'':<12} {check.fix}"


def examine(directory: Path, *, deep: bool) -> Iterator[Check]:
    yield check_program("git", ["git", "--version"], "Install git.")
    yield check_tmux()
    yield check_program("client", ["claude", "--version"], "Install Claude Code, or use --client PATH.")
    try:
        home = find_home(directory)
        repository = Repository.open(directory)
    except ChorusError as error:
        yield Check("repository", False, str(error), error.hint)
        return
    yield check_repository(repository)
    lent = read_loans(home)
    yield from check_watcher(home, lent=bool(lent))
    yield check_hooks(repository, lent)
    if is_store_missing(repository):
        told = f"{home.root / 'objects'} is gone, and with it what was recorded"
        fix = "Restore `.git/chorus` from a backup, or begin anew with `chorus gc --all`; your files stay."
        yield Check("history", False, told, fix)
    elif (home.root / "objects").exists():
        with Recorder.open(directory) as recorder:
            yield from check_recorded(recorder, deep=deep)
        if deep:
            yield check_objects(repository)


def check_repository(repository: Repository) -> Check:
    identity = repository.identity()
    told = f"{repository.work_tree}, on {repository.head().ref or 'no branch'}"
    if operation := repository.operation():
        told += f", in the middle of a {operation}"
    if identity.stated:
        return Check("repository", True, f"{told}, as {identity.name} <{identity.email}>")
    return Check("repository", True, f"{told}; no user.name and user.email, so commits name {identity.name}")


def read_loans(home: Home) -> set[str]:
    """The settings files that hold hooks for as long as a client runs (`chorus attach --hooks`)."""
    lending = LentHooks(home.root / LENT_FILE)
    lending.load()
    return {loan.settings for loan in lending.loans}


def check_watcher(home: Home, *, lent: bool = False) -> Iterator[Check]:
    try:
        with connect(home) as watcher:
            status = watcher.ask("status")
    except WatcherNotRunning:
        yield Check("watcher", True, "does not run; the next command or hook that needs it starts it")
        return
    except WatcherNotResponding as error:
        told = f"{error}; its log is {home.log}"
        yield Check("watcher", False, told, error.hint)
        return
    own = status["watcher"]
    assert own is not None
    version = own["version"]
    told = f"process {own['pid']}, version {version}, since {own['since']}"
    yield Check(
        "watcher", version == __version__, told, "Run `chorus stop`: the next command starts the new one."
    )
    for problem in status["problems"]:
        fix = RAISE_LIMITS if "inotify" in problem else f"The watcher's log says more: {home.log}"
        yield Check("sources", False, problem, fix)
    yield check_sessions(status, lent=lent)


def check_sessions(status: StatusJson, *, lent: bool = False) -> Check:
    live = [session for session in status["sessions"] if session["state"] != "gone"]
    told = [f"{s['id'][:8]} {s['state']} by {'+'.join(s['sources'])}" for s in live]
    bare = [session["id"][:8] for session in live if "hook" not in session["sources"]]
    detail = "; ".join(told) or "none is watched"
    if bare and lent:
        detail += f". The hooks lent to {', '.join(bare)} have told nothing yet: they do with its next step"
    elif bare:
        detail += (
            f". Without hooks ({', '.join(bare)}) calls are told of late; `chorus attach --hooks` lends some"
        )
    return Check("sessions", True, detail)


def check_hooks(repository: Repository, lent: Collection[str] = ()) -> Check:
    try:
        groups = render_hook_groups(find_plugin_directory() / HOOK_PROGRAM, find_chorus_program())
    except ChorusError as error:
        return Check("hooks", False, str(error), error.hint)
    found = []
    for scope in SettingsScope:
        status = read_hook_status(scope, locate_settings(scope, os.environ, repository.work_tree), groups)
        if status.problem:
            return Check(
                "hooks",
                False,
                f"{status.path}: {status.problem}",
                "Correct the file: the client ignores all of it as it is.",
            )
        if status.events:
            told = "" if status.current else " (of another version)"
            told += " (lent while a client runs)" if str(status.path) in lent else ""
            found.append(f"{scope.value}{told}")
    if found:
        return Check("hooks", True, f"installed in {', '.join(found)} settings")
    return Check(
        "hooks", True, "not installed; `chorus claude` brings its own, `chorus hooks install` adds them"
    )


def check_coverage(recorder: Recorder) -> Check:
    """What the last look left out, and why."""
    recorder.entries()
    left: dict[str, None] = {}
    for recorded in recorder.timeline.records:
        if recorded.record.kind in (RecordKind.START, RecordKind.OUTSIDE, RecordKind.ACTION):
            left |= dict.fromkeys(recorded.record.skipped)
    if not left:
        return Check("coverage", True, "everything git does not ignore is followed")
    shown = "; ".join(list(left)[:5]) + (f"; and {len(left) - 5} more" if len(left) > 5 else "")
    return Check("coverage", True, f"not followed: {shown}")


def check_recorded(recorder: Recorder, *, deep: bool) -> Iterator[Check]:
    try:
        yield check_coverage(recorder)
        if deep:
            yield check_history(recorder)
    except ObjectMissing as missing:
        anew = f"begin a new one with `git update-ref -d {recorder.timeline.ref}`; lanes and files stay"
        yield Check("history", False, str(missing), f"Restore `.git/chorus` from a backup, or {anew}.")


def check_history(recorder: Recorder) -> Check:
    recorder.record_outside()  # what nobody has looked at yet is no fault of the history
    problems = verify(recorder)
    if not problems:
        return Check("history", True, "the timeline gives the work tree's bytes, and each lane its own tree")
    told = "; ".join(f"{problem.where}: {problem.what}" for problem in problems[:5])
    return Check("history", False, told, "Report this, with the output of `chorus doctor --deep --json`.")


def check_objects(repository: Repository) -> Check:
    """Chorus's own objects by a second reader, and the whole repository by git."""
    damage = find_damaged_objects(repository.shared_dir / "objects")
    if damage:
        return Check("objects", False, "; ".join(damage[:5]), "Restore `.git/chorus/objects` from a backup.")
    done = repository.git.attempt("fsck", "--strict", "--no-dangling", "--no-progress")
    told = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    return Check(
        "objects", done.returncode == 0, told or "git fsck --strict finds nothing", "See `git help fsck`."
    )


def check_program(name: str, command: list[str], fix: str) -> Check:
    program = command[0]
    if shutil.which(program) is None:
        return Check(name, False, f"{program} is not on PATH", fix)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWER_SECONDS)
    except subprocess.TimeoutExpired:
        return Check(name, False, f"{program} does not answer within {ANSWER_SECONDS:g} seconds", fix)
    except OSError as error:
        return Check(name, False, f"{program} cannot be started: {error.strerror}", fix)
    return Check(name, done.returncode == 0, (done.stdout or done.stderr).strip().split("\n")[0], fix)


def check_tmux() -> Check:
    oldest = ".".join(map(str, MIN_VERSION))
    fix = f"Install tmux {oldest} or newer: attach, claude and run need it."
    try:
        version = read_version()
    except TmuxNotInstalled:
        return Check("tmux", False, "tmux is not on PATH", fix)
    return Check("tmux", is_supported(version), f"tmux {version}", fix)
