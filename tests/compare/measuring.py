"""What is measured of each contender: time, what it kept apart, disk, the person's work, the traps."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.compare.contenders import Contender
from tests.compare.edits import GIT_CONFIG, make_repository, plan_calls
from tests.compare.playing import Place, SessionFailed, client_command, disk_used, play
from tests.compare.traps import TRAPS, Trap

SLOW_EDITS = 20
SLOW_SECONDS = 1.0
SLOW_FILES = 100


@dataclass(slots=True)
class Row:
    name: str
    version: str = ""
    edits: int = 0
    missing: str | None = None  # why there is nothing else to say
    added_ms: dict[int, float] = field(default_factory=dict)  # by the repository's size
    added_bytes: dict[int, int] = field(default_factory=dict)
    captured: int | None = None
    captured_slowly: int | None = None
    branch_untouched: bool = True
    work_untouched: bool = True
    traps: dict[str, str] = field(default_factory=dict)  # name -> "right", "refused", "wrong"


def measure_cost(contender: Contender, row: Row, sizes: list[int], edits: int) -> None:
    """Time and disk. One contender after another: nothing else runs meanwhile."""
    row.edits = min(edits, contender.edits or edits)
    for size in sizes:
        bare, bare_bytes = _cost_of_edits(Contender(), size, row.edits)
        took, added = _cost_of_edits(contender, size, row.edits, row)
        if contender.is_timed:
            row.added_ms[size] = (took - bare) * 1000 / row.edits
        row.added_bytes[size] = added - bare_bytes


def judge(contender: Contender, row: Row) -> None:
    """What it keeps apart at a person's pace, and takes back. Nothing is timed: all may do it at once."""
    if contender.takes_back:
        _play_slowly(contender, row)
        row.traps = {trap.name: _judge(contender, trap) for trap in TRAPS}


def _cost_of_edits(contender: Contender, size: int, count: int, row: Row | None = None) -> tuple[float, int]:
    """What the edits took, without what any session takes; and the bytes there are afterwards."""
    # The first one also brings programs into memory.
    empty = min(_session(contender, size, 0)[0] for _ in range(2))
    took, added = _session(contender, size, count, row)
    return took - empty, added


def _session(contender: Contender, size: int, count: int, row: Row | None = None) -> tuple[float, int]:
    """One session in a repository of that size; seconds it took and bytes there are afterwards."""
    with _place() as place:
        make_repository(place.project, place.home, files=size)
        _leave_own_work(place)
        before = _branch_state(place)
        with _attached(contender, place):
            command = client_command(place, plan_calls(count), contender.settings(place))
            took = play(place, contender.wrap(place, command))
            if row is not None:
                row.captured = contender.captured(place)
                row.branch_untouched = row.branch_untouched and _branch_state(place) == before
                row.work_untouched = row.work_untouched and _own_work_is_left(place)
            return took, disk_used(place.project, place.home)


def _play_slowly(contender: Contender, row: Row) -> None:
    """A session with a second between two edits, as a model that thinks makes them."""
    with _place() as place:
        make_repository(place.project, place.home, files=SLOW_FILES)
        with _attached(contender, place):
            calls = plan_calls(SLOW_EDITS)
            command = client_command(place, calls, contender.settings(place), pause_seconds=SLOW_SECONDS)
            play(place, contender.wrap(place, command))
            row.captured_slowly = contender.captured(place)


def _judge(contender: Contender, trap: Trap) -> str:
    try:
        return _spring(contender, trap)
    except SessionFailed:
        return "refused"  # it does not even let the session begin


def _spring(contender: Contender, trap: Trap) -> str:
    with _place() as place:
        _make_repository_of(place, trap)
        identifiers = [f"toolu_trap_{number}" for number in range(len(trap.calls))]
        calls = [{**call, "id": identifier} for call, identifier in zip(trap.calls, identifiers, strict=True)]
        with _attached(contender, place):
            command = client_command(place, calls, contender.settings(place), pause_seconds=SLOW_SECONDS)
            play(place, contender.wrap(place, command))
            for name, (old, new) in trap.users.items():
                path = place.project / name
                path.write_bytes(path.read_bytes().replace(old, new))
            before = _contents(place, trap)
            problem = contender.take_back(place, identifiers, trap.target)
            after = _contents(place, trap)
    if after == trap.expected:
        return "right"
    return "refused" if problem is not None and after == before else "wrong"


def _make_repository_of(place: Place, trap: Trap) -> None:
    place.home.mkdir()
    place.project.mkdir()
    (place.home / ".gitconfig").write_text(GIT_CONFIG)
    for name, content in trap.files.items():
        (place.project / name).write_bytes(content)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
        place.run("git", *command)
    for name, content in trap.own.items():
        (place.project / name).write_bytes(content)
    for key, value in trap.config.items():
        place.run("git", "config", key, value)


def _contents(place: Place, trap: Trap) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for name in trap.expected:
        path = place.project / name
        found[name] = path.read_bytes() if path.exists() else None
    return found


@contextmanager
def _place() -> Iterator[Place]:
    root = Path(tempfile.mkdtemp(prefix="chorus-compare-run-"))
    try:
        yield Place(root / "project", root / "home")
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def _attached(contender: Contender, place: Place) -> Iterator[None]:
    contender.start(place)
    try:
        yield
    finally:
        contender.close(place)


def _leave_own_work(place: Place) -> None:
    """What the person has not committed yet: one file staged, one not."""
    (place.project / "staged.txt").write_text("staged\n")
    place.run("git", "add", "staged.txt")
    (place.project / "own.txt").write_text("mine\n")


def _own_work_is_left(place: Place) -> bool:
    status = place.run("git", "status", "--porcelain", "staged.txt", "own.txt").stdout
    return status == "A  staged.txt\n?? own.txt\n"


def _branch_state(place: Place) -> tuple[str, bytes]:
    head = place.run("git", "rev-parse", "HEAD").stdout
    return head, (place.project / ".git" / "index").read_bytes()
