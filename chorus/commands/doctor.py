"""`chorus doctor`: check the setup and explain how to fix problems."""

import argparse
import shutil
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from chorus import __version__
from chorus.agents import load_agent
from chorus.agents.interface import SettingsScope
from chorus.commands.access.watcher import read_status
from chorus.commands.terminal.git_settings import wants_colour
from chorus.commands.terminal.patch import paint
from chorus.errors import ChorusError, ExitCode
from chorus.history.recorder import Recorder
from chorus.history.records import RecordKind
from chorus.model.json_api import CheckJson, DoctorJson, StatusJson
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
from chorus.wire.client import WatcherNotResponding
from chorus.wire.home import Home, find_home

ABOUT = """\
Each line is one check: what was found and, if something is wrong, how to fix it.
--deep also replays the recorded history and checks that it gives exactly the bytes of
the work tree and the tree of each lane."""
RAISE_LIMITS = "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances, then run `chorus stop`."
# The client needs a second or two for `--version`, more on a busy machine.
PROGRAM_TIMEOUT_SECONDS = 30.0
MAX_LISTED = 5


class Check(NamedTuple):
    name: str
    ok: bool
    detail: str
    fix: str | None = None

    def as_json(self) -> CheckJson:
        return {"name": self.name, "ok": self.ok, "detail": self.detail, "fix": self.fix}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--deep", action="store_true", help="also check the whole history; reads every file")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    checks = list(run_checks(Path.cwd(), deep=args.deep))
    ok = all(check.ok for check in checks)
    if args.json:
        report: DoctorJson = {
            "ok": ok,
            "chorus": __version__,
            "checks": [check.as_json() for check in checks],
        }
        print_json(report)
    else:
        colour = wants_colour()
        for check in checks:
            print_out(render(check, colour=colour))
    return ExitCode.OK if ok else ExitCode.SYSTEM_ERROR


def render(check: Check, *, colour: bool) -> str:
    mark = paint("ok  ", "32", colour) if check.ok else paint("bad ", "31", colour)
    line = f"{mark} {check.name:<12} {printable(check.detail)}"
    return line if check.ok or check.fix is None else f"{line}\n     {'':<12} {check.fix}"


def run_checks(directory: Path, *, deep: bool) -> Iterator[Check]:
    yield check_program("git", ["git", "--version"], "Install git.")
    yield check_tmux()
    yield check_program(
        "client",
        [load_agent().setup.program, "--version"],
        "Install Claude Code, or give its path with --client.",
    )
    try:
        home = find_home(directory)
        repository = Repository.open(directory)
    except ChorusError as error:
        yield Check("repository", False, str(error), error.hint)
        return
    yield check_repository(repository)
    lent = read_lent_settings(home)
    yield from check_watcher(home, lent=bool(lent))
    yield check_hooks(repository, lent)
    if is_store_missing(repository):
        detail = f"{home.root / 'objects'} is missing, and with it the recorded history"
        fix = "Restore `.git/chorus` from a backup, or start over with `chorus gc --all`; your files stay."
        yield Check("history", False, detail, fix)
    elif (home.root / "objects").exists():
        with Recorder.open(directory) as recorder:
            yield from check_recorded(recorder, deep=deep)
        if deep:
            yield check_objects(repository)


def check_program(name: str, command: list[str], fix: str) -> Check:
    program = command[0]
    if shutil.which(program) is None:
        return Check(name, False, f"{program} is not on PATH", fix)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        return Check(
            name, False, f"{program} does not respond within {PROGRAM_TIMEOUT_SECONDS:g} seconds", fix
        )
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


def check_repository(repository: Repository) -> Check:
    identity = repository.identity()
    detail = f"{repository.work_tree}, on {repository.head().ref or 'no branch'}"
    if operation := repository.operation():
        detail += f", {operation} in progress"
    if identity.stated:
        return Check("repository", True, f"{detail}, as {identity.name} <{identity.email}>")
    return Check("repository", True, f"{detail}; user.name and user.email are not set, using {identity.name}")


def read_lent_settings(home: Home) -> set[str]:
    """Return the settings files that have hooks while a client runs (`chorus attach --hooks`)."""
    lending = LentHooks(home.root / LENT_FILE)
    lending.load()
    return {loan.settings for loan in lending.loans}


def check_watcher(home: Home, *, lent: bool = False) -> Iterator[Check]:
    try:
        status = read_status(home)
    except WatcherNotResponding as error:
        yield Check("watcher", False, f"{error}; its log is {home.log}", error.hint)
        return
    watcher = status["watcher"]
    if watcher is None:
        yield Check("watcher", True, "not running; the next command or hook that needs it starts it")
        return
    detail = f"process {watcher['pid']}, version {watcher['version']}, since {watcher['since']}"
    fix = "Run `chorus stop`: the next command starts the new version."
    yield Check("watcher", watcher["version"] == __version__, detail, fix)
    for problem in status["problems"]:
        fix = RAISE_LIMITS if "inotify" in problem else f"See the watcher's log: {home.log}"
        yield Check("sources", False, problem, fix)
    yield check_sessions(status, lent=lent)


def check_sessions(status: StatusJson, *, lent: bool = False) -> Check:
    live = [session for session in status["sessions"] if session["state"] != "gone"]
    described = [f"{s['id'][:8]} {s['state']} by {'+'.join(s['sources'])}" for s in live]
    detail = "; ".join(described) or "none is watched"
    without_hooks = ", ".join(session["id"][:8] for session in live if "hook" not in session["sources"])
    if without_hooks and lent:
        detail += f". The hooks added for {without_hooks} have not run yet: they run with its next tool call"
    elif without_hooks:
        detail += f". Without hooks ({without_hooks}) calls are seen late; `chorus attach --hooks` adds hooks"
    return Check("sessions", True, detail)


def check_hooks(repository: Repository, lent: Collection[str] = ()) -> Check:
    setup = load_agent().setup
    found = []
    for scope in SettingsScope:
        try:
            status = setup.hook_status(scope, Path(repository.work_tree))
        except ChorusError as error:
            return Check("hooks", False, str(error), error.hint)
        if status.problem:
            fix = "Correct the file: until then the client ignores all of it."
            return Check("hooks", False, f"{status.path}: {status.problem}", fix)
        if status.events:
            version = "" if status.current else " (of another version)"
            loan = " (added while a client is running)" if str(status.path) in lent else ""
            found.append(f"{scope.value}{version}{loan}")
    if found:
        return Check("hooks", True, f"installed in {', '.join(found)} settings")
    return Check(
        "hooks", True, "not installed; `chorus claude` brings its own, `chorus hooks install` adds them"
    )


def check_recorded(recorder: Recorder, *, deep: bool) -> Iterator[Check]:
    try:
        yield check_coverage(recorder)
        if deep:
            yield check_history(recorder)
    except ObjectMissing as missing:
        restart = f"start a new one with `git update-ref -d {recorder.timeline.ref}`; lanes and files stay"
        yield Check("history", False, str(missing), f"Restore `.git/chorus` from a backup, or {restart}.")


def check_coverage(recorder: Recorder) -> Check:
    """Report which files are not recorded, and why."""
    recorder.entries()
    skipped: dict[str, None] = {}
    for recorded in recorder.timeline.records:
        if recorded.record.kind in (RecordKind.START, RecordKind.OUTSIDE, RecordKind.ACTION):
            skipped |= dict.fromkeys(recorded.record.skipped)
    if not skipped:
        return Check("coverage", True, "every file that git does not ignore is recorded")
    more = f"; and {len(skipped) - MAX_LISTED} more" if len(skipped) > MAX_LISTED else ""
    return Check("coverage", True, f"not recorded: {'; '.join(list(skipped)[:MAX_LISTED])}{more}")


def check_history(recorder: Recorder) -> Check:
    recorder.record_outside()  # changes that were not recorded yet are no fault of the history
    problems = verify(recorder)
    if not problems:
        return Check("history", True, "the timeline gives the work tree's bytes, and each lane its own tree")
    detail = "; ".join(f"{problem.where}: {problem.what}" for problem in problems[:MAX_LISTED])
    return Check("history", False, detail, "Report this, with the output of `chorus doctor --deep --json`.")


def check_objects(repository: Repository) -> Check:
    """Check Chorus's objects with a second implementation, and the whole repository with git."""
    damage = find_damaged_objects(repository.shared_dir / "objects")
    if damage:
        fix = "Restore `.git/chorus/objects` from a backup."
        return Check("objects", False, "; ".join(damage[:MAX_LISTED]), fix)
    done = repository.git.attempt("fsck", "--strict", "--no-dangling", "--no-progress")
    output = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    return Check(
        "objects",
        done.returncode == 0,
        output or "git fsck --strict found no problems",
        "See `git help fsck`.",
    )
