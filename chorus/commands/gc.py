"""`chorus gc`: compact Chorus's object store, or remove Chorus from the repository."""

import argparse
import time
from contextlib import suppress
from pathlib import Path

from chorus.errors import ChorusError, ExitCode, NotFound, UsageError
from chorus.history.recorder import Recorder
from chorus.history.retention import forget_old_records
from chorus.history.workspace import Workspace
from chorus.model.api.json_api import GcJson
from chorus.model.lane_name import LANE_REFS, branch_name
from chorus.output import print_json, print_out
from chorus.store.maintenance.removal import (
    clear_the_way,
    detach,
    find_complete_lanes,
    is_store_missing,
    remove_leftover_refs,
)
from chorus.store.maintenance.side_store import pack, size_of
from chorus.store.maintenance.sweep import sweep
from chorus.store.objects.object_store import ObjectStore, attach
from chorus.store.repository import Repository
from chorus.wire.home import find_home
from chorus.wire.registry import forget
from chorus.wire.watcher_process import stop

# The git setting for how long records are kept, in lower case as git lists it. Not set: all are kept.
KEEP_DAYS = "chorus.keepdays"
DAY_SECONDS = 86_400
ABOUT = """\
Dropped lanes can no longer be restored afterwards. With the git setting
chorus.keepDays, reviewed actions older than that many days are removed too."""
EXAMPLES = (
    ("chorus gc", "delete what is no longer needed and pack the rest"),
    ("chorus gc --all", "remove Chorus from this repository"),
)


class StoreMissing(ChorusError):
    """The recorded objects are missing, but refs still point to them."""

    exit_code = ExitCode.SYSTEM_ERROR
    hint = "Restore `.git/chorus` from a backup, or remove the rest with `chorus gc --all`."


class LanesRemain(ChorusError):
    """Removing Chorus would delete lanes."""

    exit_code = ExitCode.REFUSED
    hint = "Land what you want to keep, then run `chorus drop --all` in each work tree."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all",
        action="store_true",
        help="remove Chorus's history, files and watcher from the repository (drop all lanes first)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    home = find_home(Path.cwd())  # raises the usual error outside a work tree
    repository = Repository.open(Path.cwd())
    broken = clear_the_way(repository) if args.all else []
    missing = is_store_missing(repository)
    if not repository.shared_dir.exists() and not missing:
        raise NotFound("Chorus has not been used in this repository")
    if missing:
        done = remove_leftovers(repository, confirmed=args.all)
    else:
        with ObjectStore(repository) as store:
            done = remove_chorus(repository, store) if args.all else compact(repository, store)
    if args.all:
        done["lost"] = sorted({*done.get("lost", ()), *map(branch_name, broken)})
        forget(home)
    if args.json:
        print_json(done)
    else:
        for name in done.get("kept", ()):
            print_out(f"kept as a plain branch: {name}")
        for name in done.get("lost", ()):
            print_out(f"removed, because its commits are gone: {name}")
        summary = (
            "Chorus was removed from this repository" if args.all else f"packed {done['packed']} objects"
        )
        print_out(f"{summary}, freed {done['freed_bytes'] // 1024} KiB")
    return ExitCode.OK


def compact(repository: Repository, store: ObjectStore) -> GcJson:
    """Drop old records, delete unreachable objects, and pack the rest. A watcher may be running."""
    before = size_of(store.directory)
    forgotten = forget_old(repository)
    sweep(repository, store)
    packed = pack(repository.git, store)
    freed = max(before - size_of(store.directory), 0)
    return {"forgotten": forgotten, "packed": packed, "freed_bytes": freed}


def forget_old(repository: Repository) -> int:
    """Drop records of this work tree that are older than `chorus.keepDays` days. Return their number.

    Stop at the first record that is open or on an existing lane. Without that setting, drop none.
    """
    days = repository.config.get(KEEP_DAYS)
    if days is None:
        return 0
    if not days.isdecimal():
        raise UsageError(
            f"{KEEP_DAYS} is {days!r}, not a number of days",
            hint=f"Set it with `git config {KEEP_DAYS} 30`.",
        )
    with Recorder(Workspace(repository)) as recorder:
        recorder.journal.refresh()
        return (
            forget_old_records(recorder, int(time.time()) - int(days) * DAY_SECONDS)
            if recorder.timeline.records
            else 0
        )


def remove_chorus(repository: Repository, store: ObjectStore) -> GcJson:
    """Remove Chorus from the repository. Raise LanesRemain if a work tree still has an intact lane.

    Intact lanes that belong to no work tree stay as plain branches.
    """
    attach(store.main_directory)  # the alternates line may be missing; git reads the lanes through it
    existing = [ref for refs in LANE_REFS for ref in repository.refs.list(refs)]
    complete = find_complete_lanes(repository) if existing else set()
    known = find_known_lanes(repository) if complete else {}
    left = [f"{branch_name(ref)} in {known[ref]}" for ref in sorted(complete) if ref in known]
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        raise LanesRemain(
            f"{'lanes' if more else 'a lane'} still exist{'' if more else 's'}: {left[0]}{more}"
        )
    stop(find_home(Path.cwd()))
    before = size_of(repository.shared_dir)
    copied = detach(repository, store, complete)
    return {
        "brought_home": copied,
        "freed_bytes": before,
        "kept": sorted(map(branch_name, complete)),
        "lost": [branch_name(ref) for ref in existing if ref not in complete],
    }


def find_known_lanes(repository: Repository) -> dict[str, Path]:
    """Return the work tree of each lane, by the lane's ref. Skip work trees that cannot be read."""
    found: dict[str, Path] = {}
    for line in repository.git.text("worktree", "list", "--porcelain").splitlines():
        name, _, path = line.partition(" ")
        if name == "worktree":
            with suppress(ChorusError, OSError), Recorder.open(Path(path)) as recorder:
                recorder.journal.refresh()
                tree = recorder.workspace.repository.work_tree
                found |= {lane.ref: tree for lane, _ in recorder.lanes.existing()}
    return found


def remove_leftovers(repository: Repository, *, confirmed: bool) -> GcJson:
    if not confirmed:
        raise StoreMissing(
            f"{repository.shared_dir / 'objects'} is missing, and with it the recorded history"
        )
    stop(find_home(Path.cwd()))
    remove_leftover_refs(repository)
    return {"brought_home": 0, "freed_bytes": 0}
