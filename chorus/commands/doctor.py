"""`chorus doctor`: check the setup and explain how to fix problems."""

import argparse
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from chorus import __version__
from chorus.agents import load_agent
from chorus.agents.interface import SettingsScope
from chorus.commands.access.watcher import is_stopped, read_status
from chorus.commands.terminal.git_settings import wants_colour
from chorus.commands.terminal.patch import paint
from chorus.errors import ChorusError, ExitCode
from chorus.history.recorder import Recorder
from chorus.history.records import RecordKind
from chorus.model.api.json_api import CheckJson, DoctorJson, StatusJson
from chorus.model.session import LIVE_SOURCES
from chorus.output import print_json, print_out, style
from chorus.review.verify import Problem, find_unrecorded, verify_history
from chorus.store.maintenance.object_check import find_damaged_objects
from chorus.store.maintenance.removal import is_store_missing
from chorus.store.objects.object_store import ObjectMissing
from chorus.store.repository import Repository
from chorus.system.files.durable_writes import file_system_types
from chorus.system.files.file_systems import is_remote
from chorus.system.files.private_files import is_private
from chorus.tmux.errors import TmuxNotInstalled
from chorus.tmux.tmux_server import MIN_VERSION, is_supported, read_version
from chorus.watcher.state.temporary_hooks import TEMPORARY_HOOKS_FILE, TemporaryHooks
from chorus.wire.client import WatcherNotResponding, WatcherNotRunning, WatcherUnreachable, connect
from chorus.wire.home import Home, find_home

ABOUT = """\
Each line is one check: what was found and, if something is wrong, how to fix it.
--deep also replays the recorded history and checks that it reproduces the work tree and
each lane byte for byte."""
RAISE_LIMITS = "Raise fs.inotify.max_user_watches and fs.inotify.max_user_instances, then run `chorus stop`."
# The Python versions that Chorus is tested with, and the oldest git that has everything it uses.
OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)
OLDEST_GIT = (2, 34)
# The client needs a second or two for `--version`, more on a busy machine.
PROGRAM_TIMEOUT_SECONDS = 30.0
MAX_LISTED = 5
# A watcher records a change between calls after a grace of 5 seconds at most.
SETTLE_SECONDS = 8.0
SETTLE_POLL_SECONDS = 0.3


class Check(NamedTuple):
    name: str
    ok: bool
    detail: str
    fix: str | None = None

    def as_json(self) -> CheckJson:
        return {"name": self.name, "ok": self.ok, "detail": self.detail, "fix": self.fix}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--deep",
        action="store_true",
        help="also replay the whole history and compare it with every file (slow)",
    )
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
            print_out(*render(check, colour=colour))
    return ExitCode.OK if ok else ExitCode.SYSTEM_ERROR


def render(check: Check, *, colour: bool) -> list[str]:
    mark = paint("ok  ", "32", colour) if check.ok else paint("bad ", "31", colour)
    line = style(mark, f" {check.name:<12} {check.detail}")
    return [line] if check.ok or check.fix is None else [line, f"     {'':<12} {check.fix}"]


def run_checks(directory: Path, *, deep: bool) -> Iterator[Check]:
    yield check_python()
    yield check_git()
    yield check_tmux()
    yield check_program(
        "client",
        [load_agent().setup.program, "--version"],
        "Install Claude Code, or give its path: `chorus claude --client PATH`.",
    )
    try:
        home = find_home(directory)
        repository = Repository.open(directory)
    except ChorusError as error:
        yield Check("repository", False, str(error), error.hint)
        return
    yield check_repository(repository)
    yield check_disk(repository, home)
    temporary = read_temporary_settings(home)
    yield from check_watcher(home, temporary=bool(temporary))
    yield check_hooks(repository, temporary)
    if is_store_missing(repository):
        detail = f"{home.root / 'objects'} is missing, and with it the recorded history"
        fix = "Restore `.git/chorus` from a backup, or start over with `chorus gc --all`; your files stay."
        yield Check("history", False, detail, fix)
    elif (home.root / "objects").exists():
        with Recorder.open(directory) as recorder:
            yield from check_recorded(recorder, home, deep=deep)
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


def check_python() -> Check:
    version = sys.version_info[:2]
    detail = f"Python {platform.python_version()} on {platform.system()} {platform.release()}"
    if version > NEWEST_PYTHON:
        detail += f"; Chorus is tested up to {_dotted(NEWEST_PYTHON)}"
    fix = f"Install Chorus with Python {_dotted(OLDEST_PYTHON)} or newer."
    return Check("python", version >= OLDEST_PYTHON, detail, fix)


def check_git() -> Check:
    fix = f"Install git {_dotted(OLDEST_GIT)} or newer."
    check = check_program("git", ["git", "--version"], fix)
    numbers = re.search(r"(\d+)\.(\d+)", check.detail)
    if check.ok and numbers is not None and (int(numbers[1]), int(numbers[2])) < OLDEST_GIT:
        return Check("git", False, f"{check.detail} is too old", fix)
    return check


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def check_disk(repository: Repository, home: Home) -> Check:
    """Report the limits of the file system. Fail if other users may read Chorus's files."""
    found = []
    if repository.config.get("chorus.filewatch") == "poll":
        found.append("chorus.fileWatch is poll: changes are found by scanning")
    elif is_remote(repository.work_tree):
        found.append("a network mount: changes are found by scanning")
    if repository.config.get_bool("core.ignorecase", default=False):
        found.append("file names are not case-sensitive")
    if home.root.exists() and not is_private(home.root.stat()):
        fix = "If others use this machine, move the repository to a file system with file permissions."
        return Check("disk", False, f"other users may read {home.root}: its permissions cannot be set", fix)
    types = "+".join(sorted(file_system_types(repository.work_tree))) or "unknown type"
    return Check("disk", True, "; ".join([types, *found]))


def check_tmux() -> Check:
    fix = f"Install tmux {_dotted(MIN_VERSION)} or newer: attach, claude and run need it."
    try:
        version = read_version()
    except TmuxNotInstalled:
        return Check("tmux", False, "tmux is not on PATH", fix)
    return Check("tmux", is_supported(version), f"tmux {version}", fix)


def check_repository(repository: Repository) -> Check:
    identity = repository.committer.identity()
    detail = f"{repository.work_tree}, on {repository.head().ref or 'no branch'}"
    if operation := repository.operation():
        detail += f", {operation} in progress"
    if identity.stated:
        return Check("repository", True, f"{detail}, as {identity.name} <{identity.email}>")
    return Check("repository", True, f"{detail}; user.name and user.email are not set, using {identity.name}")


def read_temporary_settings(home: Home) -> set[str]:
    """Return the settings files that have hooks only while a client runs (`chorus attach --hooks`)."""
    hooks = TemporaryHooks(home.root / TEMPORARY_HOOKS_FILE)
    with suppress(OSError):  # then no watcher starts either, and its log says why
        hooks.load()
    return {one.settings for one in hooks.installations}


def check_watcher(home: Home, *, temporary: bool = False) -> Iterator[Check]:
    try:
        status = read_status(home)
    except WatcherNotResponding as error:
        yield Check("watcher", False, f"{error}; its log is {home.log}", error.hint)
        return
    except WatcherUnreachable as error:
        yield Check("watcher", False, str(error), error.hint)
        return
    watcher = status["watcher"]
    if watcher is None:
        why = "stopped by `chorus stop`; nothing is recorded until a command starts it"
        later = "not running; the next command or hook that needs it starts it"
        yield Check("watcher", True, why if is_stopped(home) else later)
        return
    detail = f"process {watcher['pid']}, version {watcher['version']}, since {watcher['since']}"
    fix = "Run `chorus stop`: the next command starts the new version."
    yield Check("watcher", watcher["version"] == __version__, detail, fix)
    for problem in status["problems"]:
        fix = RAISE_LIMITS if "inotify" in problem else f"See the watcher's log: {home.log}"
        yield Check("sources", False, problem, fix)
    yield check_sessions(status, temporary=temporary)


def check_sessions(status: StatusJson, *, temporary: bool = False) -> Check:
    live = [session for session in status["sessions"] if session["state"] != "gone"]
    described = [f"{s['id'][:8]} {s['state']}, read from {'+'.join(s['sources'])}" for s in live]
    detail = "; ".join(described) or "no session is watched"
    late = [session for session in live if LIVE_SOURCES.isdisjoint(session["sources"])]
    paneless = ", ".join(session["id"][:8] for session in live if session["pane"] is None)
    without_hooks = ", ".join(session["id"][:8] for session in late)
    if without_hooks and temporary:
        detail += f". The hooks added for {without_hooks} have not run yet: they run at the next tool call"
    elif without_hooks:
        detail += (
            f". No hooks in {without_hooks}: calls are seen late; add hooks with `chorus attach --hooks`"
        )
    if paneless:
        detail += (
            f". No tmux pane for {paneless}: Chorus sees only the prompts that the hook or the mod reports, "
            "and can press no key"
        )
    return Check("sessions", True, detail)


def check_hooks(repository: Repository, temporary: Collection[str] = ()) -> Check:
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
            added = str(status.path) in temporary
            renew = "" if added else f": run `chorus hooks install --{scope.value}` again"
            version = "" if status.current else f" (out of date{renew})"
            note = " (added while a client is running)" if added else ""
            found.append(f"{scope.value}{version}{note}")
    if found:
        return Check("hooks", True, f"installed in these settings: {', '.join(found)}")
    detail = "not installed: `chorus claude` needs none; run `chorus hooks install` for other sessions"
    return Check("hooks", True, detail)


def check_recorded(recorder: Recorder, home: Home, *, deep: bool) -> Iterator[Check]:
    try:
        yield check_coverage(recorder)
        if deep:
            yield check_history(recorder, home)
    except ObjectMissing as missing:
        file = recorder.workspace.repository.common_dir / recorder.timeline.ref
        restart = f"remove `{file}` to start a new history; lanes and files stay"
        yield Check("history", False, str(missing), f"Restore `.git/chorus` from a backup, or {restart}.")


def check_coverage(recorder: Recorder) -> Check:
    # A call that named only such files has no record of its own.
    skipped = {why: None for entry in recorder.entries() for why in entry.skipped}
    for recorded in recorder.timeline.records:
        if recorded.record.kind in (RecordKind.START, RecordKind.OUTSIDE, RecordKind.ACTION):
            skipped |= dict.fromkeys(recorded.record.skipped)
    if not skipped:
        return Check("coverage", True, "every file that git does not ignore is recorded")
    more = f"; and {len(skipped) - MAX_LISTED} more" if len(skipped) > MAX_LISTED else ""
    return Check("coverage", True, f"not recorded: {'; '.join(list(skipped)[:MAX_LISTED])}{more}")


def check_history(recorder: Recorder, home: Home) -> Check:
    """Replay the history, and compare the result with the lanes and the work tree."""
    report = "Report this, with the output of `chorus doctor --deep --json`."
    problems = verify_history(recorder)
    if problems:
        return Check("history", False, _list_problems(problems), report)
    unrecorded, is_watched = find_lasting_differences(recorder, home)
    if not unrecorded:
        detail = "replaying the timeline gives the work tree, and replaying each lane gives its tree"
        return Check("history", True, detail)
    if is_watched:
        return Check("history", False, _list_problems(unrecorded), report)
    waiting = len(list(home.spool.glob("[0-9]*")))
    events = f", {waiting} hook events are waiting" if waiting else ""
    detail = (
        f"replaying each lane gives its tree; {len(unrecorded)} changed files are not recorded yet{events}"
    )
    return Check("history", True, f"{detail}: {_list_problems(unrecorded)}")


def find_lasting_differences(recorder: Recorder, home: Home) -> tuple[list[Problem], bool]:
    """Return the unrecorded changes on disk, and whether a watcher runs and all its sessions are idle.

    A running watcher gets SETTLE_SECONDS to record the changes.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        is_idle = sync_watcher(home)
        unrecorded = find_unrecorded(recorder)
        if not unrecorded or is_idle is None or time.monotonic() > deadline:
            return unrecorded, is_idle is True
        time.sleep(SETTLE_POLL_SECONDS)


def sync_watcher(home: Home) -> bool | None:
    """Let the watcher catch up, and return whether all its sessions are idle or gone.

    Return None if no watcher is running, or if it does not respond.
    """
    try:
        with connect(home) as watcher:
            watcher.ask("sync")
            return all(session["state"] in ("idle", "gone") for session in watcher.ask("sessions"))
    except (WatcherNotRunning, WatcherNotResponding):
        return None


def _list_problems(problems: Sequence[Problem]) -> str:
    more = f"; and {len(problems) - MAX_LISTED} more" if len(problems) > MAX_LISTED else ""
    return "; ".join(f"{problem.where}: {problem.what}" for problem in problems[:MAX_LISTED]) + more


def check_objects(repository: Repository) -> Check:
    """Check Chorus's objects; if they are intact, check the whole repository with `git fsck`."""
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
