"""`chorus gc`: make Chorus's own store small, or take Chorus out of the repository."""

import argparse
import time
from pathlib import Path

from chorus.errors import ChorusError, ExitCode, NotFound, UsageError
from chorus.history.recorder import Recorder
from chorus.history.retention import forget_old_records
from chorus.history.workspace import Workspace
from chorus.model.lane_name import LANE_REFS, branch_name
from chorus.output import print_json, print_out
from chorus.store.maintenance.removal import detach, is_store_missing, remove_leftover_refs
from chorus.store.maintenance.side_store import pack, size_of
from chorus.store.maintenance.sweep import sweep
from chorus.store.objects.object_store import ObjectStore
from chorus.store.repository import Repository
from chorus.wire.client import stop
from chorus.wire.home import find_home

# A git setting, lower case as git lists it. Without it nothing is forgotten.
KEEP_DAYS = "chorus.keepdays"
DAY_SECONDS = 86_400


class StoreMissing(ChorusError):
    """What was recorded is gone; the refs to it are not."""

    exit_code = ExitCode.SYSTEM_ERROR
    hint = "Restore `.git/chorus` from a backup, or take the rest out with `chorus gc --all`."


class LanesRemain(ChorusError):
    """Lanes hold work that taking Chorus out would remove."""

    exit_code = ExitCode.REFUSED
    hint = "Land what you want to keep, then `chorus drop --all` in each work tree."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all",
        action="store_true",
        help="take Chorus out: its history, its files, its watcher; no lane may be left",
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    find_home(Path.cwd())  # says in the words of every command that there is no work tree
    repository = Repository.open(Path.cwd())
    torn = is_store_missing(repository)
    if not repository.shared_dir.exists() and not torn:
        raise NotFound("Chorus keeps nothing in this repository")
    if torn:
        done = clear(repository, wanted=args.all)
    else:
        with ObjectStore(repository) as store:
            done = take_out(repository, store) if args.all else tidy(repository, store)
    if args.json:
        print_json(done)
    else:
        words = "Chorus is out of this repository" if args.all else f"packed {done['packed']} objects"
        print_out(f"{words}, freed {done['freed_bytes'] // 1024} KiB")
    return ExitCode.OK


def tidy(repository: Repository, store: ObjectStore) -> dict[str, int]:
    """Drop what nothing reaches, dropped lanes too, and pack the rest. Runs beside the watcher."""
    before = size_of(store.directory)
    forgotten = forget_old(repository)
    sweep(repository, store)
    packed = pack(repository.git, store)
    freed = max(before - size_of(store.directory), 0)
    return {"forgotten": forgotten, "packed": packed, "freed_bytes": freed}


def forget_old(repository: Repository) -> int:
    """Records of this work tree that are older than `chorus.keepDays`, reviewed, and on no lane."""
    days = repository.config.get(KEEP_DAYS)
    if days is None:
        return 0
    if not days.isdecimal():
        raise UsageError(f"{KEEP_DAYS} is {days!r}, not a number of days")
    with Recorder(Workspace(repository)) as recorder:
        recorder.journal.refresh()
        return (
            forget_old_records(recorder, int(time.time()) - int(days) * DAY_SECONDS)
            if recorder.timeline.records
            else 0
        )


def take_out(repository: Repository, store: ObjectStore) -> dict[str, int]:
    left = [name for refs in LANE_REFS for name in repository.refs.list(refs)]
    if left:
        more = f" and {len(left) - 1} more" if len(left) > 1 else ""
        raise LanesRemain(f"there is still {branch_name(left[0])}{more}")
    stop(find_home(Path.cwd()))
    before = size_of(repository.shared_dir)
    return {"brought_home": detach(repository, store), "freed_bytes": before}


def clear(repository: Repository, *, wanted: bool) -> dict[str, int]:
    if not wanted:
        raise StoreMissing(f"{repository.shared_dir / 'objects'} is gone, and with it what was recorded")
    stop(find_home(Path.cwd()))
    remove_leftover_refs(repository)
    return {"brought_home": 0, "freed_bytes": 0}
