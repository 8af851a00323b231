"""Random histories of two sessions and a user: an action is reverted as git merges, or not at all."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chorus.history.log.entry import LogEntry
from chorus.history.recorder import Recorder
from chorus.review.operations import Selection, redo, revert
from chorus.review.revert.apply import NothingToRevert
from chorus.review.revert.plan import RevertConflict
from tests.history.agent_at_work import Agent, action, on_disk, replayed
from tests.repos import UserRepo

EXAMPLES = int(os.environ.get("CHORUS_HISTORIES", "12"))
# A failing history is short already; shrinking it would take minutes.
PHASES = (Phase.explicit, Phase.generate)
MEMORY = Path("/dev/shm")
FILES = ("a.txt", "b.txt", "dir/c.txt", "new.txt")
# Few different lines: the same text occurs in many places, as in code.
WORDS = (b"x = 1\n", b"}\n", b"\n", b"one\r\n", b"$& \\1 .*\n", b"end")

File = tuple[int, bytes]
Disk = dict[str, File]


@dataclass(frozen=True, slots=True)
class Step:
    """One change by the user or a session: lines, a whole file, a mode, or several files at once."""

    who: str
    what: str
    file: str
    at: int
    lines: tuple[bytes, ...]


def steps(*people: str) -> st.SearchStrategy[list[Step]]:
    what = st.sampled_from(["lines", "lines", "lines", "write", "binary", "delete", "mode", "command"])
    words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(tuple)
    one = st.builds(Step, st.sampled_from(people), what, st.sampled_from(FILES), st.integers(0, 14), words)
    return st.lists(one, min_size=2, max_size=10)


@contextmanager
def history(template: Path, played: list[Step]) -> Iterator[tuple[UserRepo, Recorder, Disk]]:
    """The steps played in a repository of their own, and the disk before the first."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        repo = UserRepo.copy(template, Path(name) / "repo")
        for file in FILES[:3]:
            repo.write(file, b"".join(b"line %d\n" % number for number in range(12)))
        with Recorder.open(repo.path) as recorder:
            recorder.start()
            start = on_disk(repo)
            for step in played:
                play(repo, recorder, step)
            recorder.record_outside()
            yield repo, recorder, start


def play(repo: UserRepo, recorder: Recorder, step: Step) -> None:
    place = repo.path / step.file
    if step.who == "user":
        CHANGES[step.what](repo, place, step)
    elif step.what == "command":
        Agent(repo, recorder, step.who).bash(lambda: CHANGES[step.what](repo, place, step))
    else:
        recorder.record_before_call([str(place)])
        CHANGES[step.what](repo, place, step)
        recorder.record_named_paths([action(f"toolu_{next(Agent.numbers)}", place, session=step.who)])


def change_lines(_repo: UserRepo, place: Path, step: Step) -> None:
    lines = place.read_bytes().splitlines(keepends=True) if place.exists() else []
    at = min(step.at, len(lines))
    lines[at : at + step.at % 3] = step.lines
    write(place, b"".join(lines))


def write(place: Path, data: bytes) -> None:
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(data)


def run_command(repo: UserRepo, place: Path, step: Step) -> None:
    change_lines(repo, place, step)
    change_lines(repo, repo.path / "b.txt", step)
    if step.at % 4 == 0 and place.exists():
        place.rename(repo.path / "moved.txt")


def change_mode(_repo: UserRepo, place: Path, _step: Step) -> None:
    if place.exists():
        place.chmod(place.stat().st_mode ^ 0o111)


CHANGES: dict[str, Callable[[UserRepo, Path, Step], None]] = {
    "lines": change_lines,
    "write": lambda _, place, step: write(place, b"".join(step.lines * 2)),
    "binary": lambda _, place, step: write(place, b"\0" + b"".join(step.lines)),
    "delete": lambda _, place, __: place.unlink(missing_ok=True),
    "mode": change_mode,
    "command": run_command,
}


def everything_else(repo: UserRepo, lane: str | None) -> dict[str, object]:
    """What reverting an action of this lane must leave alone, apart from files."""
    refs = repo.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    own = ("refs/chorus/timeline/", f"refs/heads/{lane} ")
    return {
        "index": (repo.path / ".git/index").read_bytes(),
        "head": (repo.path / ".git/HEAD").read_bytes(),
        "refs": [line for line in refs if not line.startswith(own)],
    }


def merged_by_git(folder: Path, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """The merge by git; None where it conflicts.

    Where one side changed nothing, or both did the same, it compares no lines, in binary files either.
    """
    if base in (ours, theirs) or ours == theirs:
        return theirs if ours == base else ours
    for name, data in (("base", base), ("ours", ours), ("theirs", theirs)):
        (folder / name).write_bytes(data)
    words = ["git", "merge-file", "-p", "-q", "ours", "base", "theirs"]
    done = subprocess.run(words, cwd=folder, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def undone(folder: Path, before: File | None, after: File | None, now: File | None) -> File | str | None:
    """The file without the change from `before` to `after`, or "conflict"."""
    if now in (after, before):
        return before
    if before is None or after is None or now is None:
        return "conflict"
    data = merged_by_git(folder, after[1], now[1], before[1])
    mode = now[0] if before[0] == after[0] else before[0]
    return "conflict" if data is None else (mode, data)


def expected(folder: Path, recorder: Recorder, entry: LogEntry, disk: Disk) -> Disk | None:
    """The disk after the revert, by git's own merge; None where it conflicts."""
    result = dict(disk)
    for edit in recorder.edits(entry):
        read = recorder.workspace.read
        sides = [None if e is None else (e.mode, read(e) or b"") for e in (edit.before, edit.after)]
        new = undone(folder, sides[0], sides[1], disk.get(edit.path))
        if isinstance(new, str):
            return None
        if new is None:
            result.pop(edit.path, None)
        else:
            result[edit.path] = new
    return result


def changes(recorder: Recorder) -> list[LogEntry]:
    return [e for e in recorder.entries() if e.timeline and e.n is not None and e.status == "committed"]


def check_one(folder: Path, repo: UserRepo, recorder: Recorder, entry: LogEntry) -> None:
    disk, rest = on_disk(repo), everything_else(repo, entry.lane)
    wanted = expected(folder, recorder, entry, disk)
    chosen = Selection([str(entry.n)])
    if wanted is None or wanted == disk:
        with pytest.raises(NothingToRevert if wanted else RevertConflict):
            revert(recorder, chosen)
        assert (on_disk(repo), everything_else(repo, entry.lane)) == (disk, rest)
        return
    revert(recorder, chosen)
    assert (on_disk(repo), everything_else(repo, entry.lane)) == (wanted, rest)
    redo(recorder, chosen)
    assert (on_disk(repo), everything_else(repo, entry.lane)) == (disk, rest)


def many(check: Callable[[list[Step]], None], *people: str) -> None:
    limits = settings(
        phases=PHASES, max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck)
    )
    limits(given(steps(*people))(check))()


def test_an_action_is_reverted_as_git_merges_or_not_at_all_and_redone(
    template_repo: Path, tmp_path: Path
) -> None:
    def check(played: list[Step]) -> None:
        with history(template_repo, played) as (repo, recorder, _):
            for entry in changes(recorder):
                check_one(tmp_path, repo, recorder, entry)
            assert replayed(recorder) == on_disk(repo)

    many(check, "session-a", "session-a", "session-b", "user")


def test_reverting_all_actions_newest_first_gives_the_starting_files(template_repo: Path) -> None:
    def check(played: list[Step]) -> None:
        with history(template_repo, played) as (repo, recorder, start):
            for entry in reversed(changes(recorder)):
                revert(recorder, Selection([str(entry.n)]))
            assert on_disk(repo) == replayed(recorder) == start

    many(check, "session-a", "session-b")
