"""Random histories of two sessions and a user, with many changes that touch.

Every line that is written has a text of its own, so the texts alone show who changed which line:
an action is reverted unless someone changed one of its lines since.
"""

import itertools
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chorus.history.log.entry import LogEntry
from chorus.history.recorder import Recorder
from chorus.review.operations import Selection, redo, revert
from chorus.review.revert.apply import NothingToRevert
from chorus.review.revert.conflict import RevertConflict
from chorus.store.objects.trees import TreeEntry
from tests.history.agent_at_work import Agent, action, on_disk, replayed
from tests.repos import UserRepo

EXAMPLES = int(os.environ.get("CHORUS_HISTORIES", "12"))
# A failing history is short already; shrinking it would take minutes.
PHASES = (Phase.explicit, Phase.generate)
MEMORY = Path("/dev/shm")
FILES = ("a.txt", "b.txt", "dir/c.txt", "new.txt")
WORDS = (b"x = 1", b"}", b"", b"one\r", b"$& \\1 .*")

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


serial = itertools.count()


def new_lines(step: Step) -> list[bytes]:
    """The step's lines, each with a text that occurs nowhere else; it names who wrote it."""
    return [b"%s %d %s" % (step.who.encode(), next(serial), word) for word in step.lines]


def split(data: bytes) -> list[bytes]:
    return data.removesuffix(b"\n").split(b"\n") if data else []


def change_lines(_repo: UserRepo, place: Path, step: Step) -> None:
    data = place.read_bytes() if place.exists() else b""
    lines = split(data)
    at = min(step.at, len(lines))
    lines[at : at + step.at % 3] = new_lines(step)
    newline = b"" if step.at == 13 else b"\n"
    write(place, b"\n".join(lines) + newline)


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
    "write": lambda _, place, step: write(place, b"\n".join(new_lines(step)) + b"\n"),
    "binary": lambda _, place, step: write(place, b"\0" + b"".join(new_lines(step))),
    "delete": lambda _, place, __: place.unlink(missing_ok=True),
    "mode": change_mode,
    "command": run_command,
}


def everything_else(repo: UserRepo, lane: str | None) -> dict[str, object]:
    """What reverting an action of this lane must leave alone, apart from files."""
    refs = repo.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    own = f"refs/heads/{lane} "
    return {
        "index": (repo.path / ".git/index").read_bytes(),
        "head": (repo.path / ".git/HEAD").read_bytes(),
        "refs": [line for line in refs if not line.startswith(own)],
    }


def is_reverted(before: File | None, after: File | None, now: File | None, new: File | None) -> bool:
    """Whether `new` is `now` without the change from `before` to `after`, judged by the lines' own texts."""
    if now in (after, before):
        return new == before
    assert before is not None
    assert after is not None
    assert now is not None
    assert new is not None
    lines = [split(file[1]) for file in (before, after, now, new)]
    removed = [line for line in lines[0] if line not in lines[1]]
    added = [line for line in lines[1] if line not in lines[0]]
    kept = [line for line in lines[2] if line not in added]
    return (
        [line for line in lines[3] if line not in removed] == [line for line in kept if line not in removed]
        and [line for line in lines[3] if line in removed] == removed
        and new[0] == (now[0] if before[0] == after[0] else before[0])
    )


class Verdict(Enum):
    """What a revert of one file must do, as far as the lines' own texts tell."""

    REVERT = "revert"
    CONFLICT = "conflict"
    EITHER = "either"  # a line of the action is gone: deleted, or changed into another line


def judge(before: File | None, after: File | None, now: File | None) -> Verdict:
    if now in (after, before):
        return Verdict.REVERT
    if before is None or after is None or now is None:
        return Verdict.CONFLICT
    if any(b"\0" in file[1] for file in (before, after, now)):
        clear = before[1] == after[1] or now[1] in (before[1], after[1])
        return Verdict.REVERT if clear else Verdict.CONFLICT
    removed = [line for line in split(before[1]) if line not in split(after[1])]
    added = [line for line in split(after[1]) if line not in split(before[1])]
    if all(line in split(now[1]) for line in added):
        return Verdict.REVERT
    return Verdict.CONFLICT if len(removed) == len(added) == 1 else Verdict.EITHER


def changes(recorder: Recorder) -> list[LogEntry]:
    return [e for e in recorder.entries() if e.timeline and e.n is not None and e.status == "committed"]


def sides_of(recorder: Recorder, entry: LogEntry) -> dict[str, tuple[File | None, File | None]]:
    read = recorder.workspace.read

    def content(entry: TreeEntry | None) -> File | None:
        return None if entry is None else (entry.mode, read(entry) or b"")

    return {edit.path: (content(edit.before), content(edit.after)) for edit in recorder.edits(entry)}


def check_one(repo: UserRepo, recorder: Recorder, entry: LogEntry) -> None:
    disk, rest = on_disk(repo), everything_else(repo, entry.lane)
    sides = sides_of(recorder, entry)
    chosen = Selection([str(entry.n)])
    verdicts = {judge(*both, disk.get(path)) for path, both in sides.items()}
    try:
        revert(recorder, chosen)
    except (RevertConflict, NothingToRevert) as refusal:
        assert (on_disk(repo), everything_else(repo, entry.lane)) == (disk, rest)
        if isinstance(refusal, RevertConflict):
            assert verdicts != {Verdict.REVERT}
        elif verdicts == {Verdict.REVERT}:
            assert all(is_reverted(*both, disk.get(path), disk.get(path)) for path, both in sides.items())
        return
    assert Verdict.CONFLICT not in verdicts
    now = on_disk(repo)
    for path, both in sides.items():
        if judge(*both, disk.get(path)) is Verdict.REVERT:
            assert is_reverted(*both, disk.get(path), now.get(path))
    assert {p: f for p, f in now.items() if p not in sides} == {
        p: f for p, f in disk.items() if p not in sides
    }
    assert everything_else(repo, entry.lane) == rest
    redo(recorder, chosen)
    assert (on_disk(repo), everything_else(repo, entry.lane)) == (disk, rest)


def many(check: Callable[[list[Step]], None], *people: str) -> None:
    limits = settings(
        phases=PHASES, max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck)
    )
    limits(given(steps(*people))(check))()


def test_an_action_is_reverted_unless_its_lines_were_changed_since_and_redone(template_repo: Path) -> None:
    def check(played: list[Step]) -> None:
        with history(template_repo, played) as (repo, recorder, _):
            for entry in changes(recorder):
                check_one(repo, recorder, entry)
            assert replayed(recorder) == on_disk(repo)

    many(check, "session-a", "session-a", "session-b", "user")


def test_reverting_all_actions_newest_first_gives_the_starting_files(template_repo: Path) -> None:
    def check(played: list[Step]) -> None:
        with history(template_repo, played) as (repo, recorder, start):
            for entry in reversed(changes(recorder)):
                revert(recorder, Selection([str(entry.n)]))
            assert on_disk(repo) == replayed(recorder) == start

    many(check, "session-a", "session-b")
