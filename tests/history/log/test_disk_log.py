"""The log in memory and the log read from disk: both are the same as reading everything."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from chorus.errors import ChorusError
from chorus.history.log.disk_log import DiskLog
from chorus.history.log.entry import (
    LogEntry,
    entry_json,
    entry_of_call,
    entry_of_record,
    find_reverted,
)
from chorus.history.log.file_history import DiskFileHistory, MemoryFileHistory
from chorus.history.log.filter import LogFilter, parse_since
from chorus.history.log.lookup import find_turn
from chorus.history.marks.mark_log import ActionMarks
from chorus.history.recorder import Recorder
from chorus.history.records import MAX_LISTED, RecordKind
from chorus.history.retention import apply_forgetting
from chorus.history.timeline.timeline_log import TimelineUnreadable
from chorus.model.api.json_api import LogEntryJson
from chorus.model.ids import ToolUseId, TurnId
from chorus.review import operations as review
from chorus.review.blame import blame
from chorus.review.landing import apply as landing
from chorus.review.landing.plan import plan_landing
from chorus.review.landing.recovery import PendingLanding
from chorus.review.landing.selection import LandingRequest
from chorus.review.operations import Selection
from tests.history.agent_at_work import Agent, action, bash
from tests.repos import UserRepo

EXAMPLES = int(os.environ.get("CHORUS_HISTORIES", "5"))
MEMORY = Path("/dev/shm")
FILES = ("a.txt", "b.txt", "dir/c.txt")
TURNS = ("turn-1", "turn-12", "other")
numbers = count(1)


# --- The whole log, the simple way: everything read, then sorted. ---


def whole(recorder: Recorder) -> list[LogEntry]:
    """Every entry, oldest first: calls by number, outside changes where the timeline has them."""
    timeline = recorder.timeline
    marks = ActionMarks(recorder.journal.marks.lines)
    reverted = find_reverted(timeline.records)
    calls = sorted(marks.calls, key=lambda call: int(call["n"]))
    entries = []
    for recorded in timeline.records:
        number = recorded.record.number
        while number is not None and calls and calls[0]["n"] < number:
            entries.append(entry_of_call(calls.pop(0), marks, reverted, timeline.find_action))
        if recorded.record.kind is not RecordKind.START:
            entries.append(entry_of_record(recorded, marks, reverted))
    return entries + [entry_of_call(call, marks, reverted, timeline.find_action) for call in calls]


def chosen(recorder: Recorder, entries: Sequence[LogEntry], wanted: LogFilter) -> list[LogEntryJson]:
    known = {entry.turn for entry in entries}
    turns = {turn for turn in wanted.turns if turn in known}
    if wanted.turns and not turns:
        turns = {find_turn(entries, turn) for turn in wanted.turns}  # the beginning of a turn, or none
    if wanted.before is not None:
        before = wanted.before
        entries = list(takewhile(lambda entry: entry.n is None or entry.n < before, entries))
    root = recorder.workspace.locate(wanted.path) if wanted.path is not None else None
    since = parse_since(wanted.since) if wanted.since is not None else 0
    found = [
        entry
        for entry in entries
        if (entry.status != "outside" or wanted.outside or wanted.status == "outside")
        and (wanted.lane is None or entry.lane in (wanted.lane, f"chorus/{wanted.lane}"))
        and (not turns or entry.turn in turns)
        and (wanted.tool is None or (entry.tool or "").lower() == wanted.tool.lower())
        and (wanted.path is None or any(f"{path}/".startswith(f"{root}/") for path in entry.paths))
        and entry.seconds >= since
        and wanted.status in (None, entry.status)
        and (not wanted.open or is_to_be_reviewed(entry))
    ]
    if wanted.limit is not None:
        found = found[len(found) - min(wanted.limit, len(found)) :]
    return [entry_json(entry, "main") for entry in found]


def is_to_be_reviewed(entry: LogEntry) -> bool:
    present = entry.status == "committed" and not entry.landed
    return present and entry.tool != "Revert" and entry.within is None


# --- What can happen in a history. ---


@dataclass(frozen=True, slots=True)
class Step:
    what: str
    file: str
    turn: str
    at: int


class Scene:
    def __init__(self, repo: UserRepo, recorder: Recorder) -> None:
        self.repo = repo
        self.recorder = recorder

    def play(self, step: Step) -> None:
        # What is impossible now (a conflict, nothing to land) is skipped: the log stays as it was.
        with suppress(ChorusError):
            getattr(self, step.what)(step)

    def write(self, step: Step) -> Path:
        place = self.repo.path / step.file
        text = place.read_bytes() if place.exists() else b""
        lines = text.splitlines(keepends=True) or [b"\n"]
        lines[step.at % len(lines)] = b"by %d\n" % next(numbers)
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"".join(lines))
        return place

    def edit(self, step: Step) -> None:
        self.recorder.record_before_call([str(self.repo.path / step.file)])
        place = self.write(step)
        self.recorder.record_named_paths([self.named(place, step)])

    def pair(self, step: Step) -> None:
        """Two calls of which only the sum is seen: one record holds both."""
        self.recorder.record_before_call([str(self.repo.path / step.file)])
        place = self.write(step)
        self.recorder.record_named_paths([self.named(place, step), self.named(place, step)])

    def named(self, place: Path, step: Step) -> Any:
        session = ("session-a", "session-b")[step.at % 2]
        return action(f"toolu_{next(numbers)}", place, session=session)._replace(turn=TurnId(step.turn))

    def command(self, step: Step) -> None:
        self.recorder.record_outside()
        for file in FILES[: step.at % 3]:
            self.write(Step("", file, step.turn, step.at))
        self.recorder.record_window(bash(f"toolu_{next(numbers)}")._replace(turn=TurnId(step.turn)))

    def outside(self, step: Step) -> None:
        self.write(step)
        self.recorder.record_outside()

    def unchanged(self, step: Step) -> None:
        status: Any = ("succeeded", "failed", "denied", "unfinished")[step.at % 4]
        self.recorder.record_unchanged(
            action(f"toolu_{next(numbers)}", status=status)._replace(turn=TurnId(step.turn))
        )

    def pick(self, step: Step, *statuses: str) -> LogEntry:
        numbered = [entry for entry in self.recorder.entries() if entry.n is not None]
        entries = [entry for entry in numbered if not statuses or entry.status in statuses]
        if not entries:
            raise ChorusError("nothing of the kind yet")
        return entries[-1 - step.at % len(entries)]

    def revert(self, step: Step) -> None:
        review.revert(
            self.recorder,
            Selection([str(self.pick(step, "committed", "kept").n)]),
            with_dependents=step.at % 2 == 0,
        )

    def redo(self, step: Step) -> None:
        review.redo(self.recorder, Selection([str(self.pick(step, "reverted").n)]))

    def keep(self, step: Step) -> None:
        review.keep(self.recorder, Selection([str(self.pick(step, "committed").n)]))

    def reopen(self, step: Step) -> None:
        self.recorder.mark("open", [self.pick(step).id or ""])

    def summarise(self, step: Step) -> None:
        self.recorder.set_summary(ToolUseId(self.pick(step).id or ""), "Now in other words.")

    def correct(self, step: Step) -> None:
        self.recorder.correct_status(ToolUseId(self.pick(step).id or ""), "failed")

    def land(self, step: Step) -> None:
        plan = plan_landing(self.recorder, LandingRequest(self.pick(step, "committed", "kept").lane or ""))
        pending = PendingLanding(self.recorder.workspace.repository.own_dir)
        with pending.locked():
            landing.mark_landed(
                self.recorder,
                landing.apply_landing(self.recorder.workspace, plan, pending, dry_run=False),
            )
            pending.clear()


ALWAYS = [
    "edit",
    "edit",
    "edit",
    "outside",
    "unchanged",
    "command",
    "pair",
    "revert",
    "revert",
    "redo",
    "redo",
]
SOMETIMES = ["keep", "reopen", "summarise", "correct", "land"]


def steps() -> st.SearchStrategy[list[Step]]:
    what = st.sampled_from(ALWAYS + SOMETIMES)
    one = st.builds(Step, what, st.sampled_from(FILES), st.sampled_from(TURNS), st.integers(0, 7))
    return st.lists(one, min_size=8, max_size=25)


def filters(root: Path) -> list[LogFilter]:
    """Every filter by itself, and some together."""
    by_itself: dict[str, Sequence[Any]] = {
        "lane": ("nobody", "chorus/make-it-better"),
        "turns": [[turn] for turn in TURNS[1:]] + [TURNS[1:], [TURNS[1], "nothing"]],
        "path": [str(root / name) for name in ("a.txt", "dir", "nothing")],
        "tool": ("edit", "Bash", "Revert"),
        "status": ("committed", "reverted", "kept", "noop", "failed", "denied", "outside"),
        "since": ("1h", "2199-01-01"),
        "outside": (True,),
        "open": (True,),
        "before": (1, 3, 7, 1000),
        "limit": (0, 1, 3, 1000),
    }
    single = [LogFilter(**{name: value}) for name, values in by_itself.items() for value in values]
    both = [
        LogFilter(outside=True, before=n, limit=limit, path=path)
        for n in (None, 4)
        for limit in (2, 5)
        for path in (None, str(root / "a.txt"))
    ]
    return [
        LogFilter(),
        *single,
        *both,
        LogFilter(turns=["turn-1"], before=3),
        LogFilter(turns=["turn-1"], open=True),
        LogFilter(tool="Edit", before=9, limit=2),
    ]


def answer(ask: Callable[..., Any], *arguments: Any) -> Any:
    """The answer, or the error."""
    try:
        return ask(*arguments)
    except ChorusError as error:
        return type(error), str(error)


def compare(repo: UserRepo, recorder: Recorder, other: Recorder) -> None:
    """The log in memory, here and in another process, and the one on disk, with every filter."""
    entries = whole(recorder)
    assert recorder.entries() == other.entries() == entries
    locate = recorder.workspace.locate
    lanes = [LogFilter(lane=lane.name.removeprefix("chorus/"), limit=2) for lane in recorder.lanes.all()]
    wanted = sorted(
        [*filters(repo.path), *lanes], key=lambda each: 1000 if each.limit is None else each.limit
    )
    with DiskLog.open(repo.path) as newest:
        for each in wanted:
            expected = answer(chosen, recorder, entries, each)
            assert answer(newest.select, each, locate) == expected
            assert answer(recorder.log.select, each) == expected
        assert list(newest.entries())[::-1] == entries
    names = [name for e in entries[-4:] for name in (str(e.n), e.id, e.timeline, e.commit) if name]
    with DiskLog.open(repo.path) as newest:
        assert newest.lanes() == recorder.log.lanes()
        if entries:
            # Alone, with nothing read before; then after others.
            assert answer(newest.show, str(entries[0].n)) == answer(recorder.log.show, str(entries[0].n))
        for path in (*FILES, "app.py"):
            known = answer(blame, MemoryFileHistory(recorder), path)
            assert answer(blame, DiskFileHistory(recorder.workspace, newest), path) == known
        for name in (*names, "0000", "none"):
            assert answer(newest.show, name) == answer(recorder.log.show, name)


@contextmanager
def scene(template: Path) -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        repo = UserRepo.copy(template, Path(name) / "repo")
        for file in FILES:
            repo.write(file, b"".join(b"line %d\n" % number for number in range(12)))
        repo.git("add", "-A")
        repo.git("commit", "-qm", "Begin")
        with Recorder.open(repo.path) as recorder:
            recorder.start()
            yield Scene(repo, recorder)


def test_the_log_is_the_same_whichever_way_it_is_read(template_repo: Path) -> None:
    def check(played: list[Step]) -> None:
        with scene(template_repo) as now, Recorder.open(now.repo.path) as other:
            for place, step in enumerate(played):
                now.play(step)
                now.recorder.journal.refresh()
                assert now.recorder.entries() == whole(now.recorder)
                if place % 5 == 0:
                    other.entries()
            compare(now.repo, now.recorder, other)

    limits = settings(
        phases=(Phase.explicit, Phase.generate),
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    limits(given(steps())(check))()


def test_a_call_contained_in_another_record_is_read_with_that_record(
    repo: UserRepo, recorder: Recorder
) -> None:
    repo.write("a.txt", b"line\n")
    now = Scene(repo, recorder)
    now.pair(Step("pair", "a.txt", "turn-1", 0))
    assert [entry.within for entry in recorder.entries()] == [None, recorder.entries()[0].id]
    now.unchanged(Step("unchanged", "a.txt", "turn-1", 1))

    with DiskLog.open(repo.path) as newest:
        assert list(newest.entries())[::-1] == whole(recorder)


def test_a_mark_that_is_read_late_goes_where_its_number_belongs(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.edit("one.txt", b"1\n")
    with Recorder.open(repo.path) as other:
        other.entries()
        # As when a writer marks a call and records an action between two reads of a reader.
        recorder.record_unchanged(action("toolu_between", status="denied"))
        agent.edit("one.txt", b"2\n")
        other.timeline.refresh()
        assert [entry.n for entry in other.log.known_entries()] == [1, 3]
        assert [entry.n for entry in other.entries()] == [1, 2, 3]


def test_a_history_whose_oldest_part_was_dropped_is_read_again(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    for text in (b"1\n", b"2\n", b"3\n"):
        agent.edit("one.txt", text)
    assert len(recorder.entries()) == 3
    with recorder.journal.writing():
        apply_forgetting(recorder, 2)

    assert recorder.entries() == whole(recorder)
    assert [entry.n for entry in recorder.entries()] == [2, 3]


def test_only_what_is_taken_is_read(repo: UserRepo, agent: Agent) -> None:
    for number in range(40):
        agent.edit("one.txt", b"%d\n" % number)
    with DiskLog.open(repo.path) as newest:
        assert next(newest.entries()).n == 40
        assert len(newest.scanner._items) == 1
        newest.show("31")
        assert (len(newest.scanner._items), len(newest.scanner._parsed)) == (10, 2)


def test_text_that_looks_like_a_trailer_is_not_taken_for_one(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    first = agent.edit("one.txt", b"1\n")
    forged = f"Chorus-Number: 1\nChorus-Action: {first.id}\nChorus-Reverts: {first.id}\nChorus-Lane: none"
    agent.edit("Chorus-Number: 1", b"2\n", message=forged, lead_text=forged)
    with DiskLog.open(repo.path) as newest:
        assert newest.show("1")["id"] == newest.show(first.id or "")["id"] == first.id
        assert newest.show("1")["status"] == "committed"
        assert newest.lanes() == recorder.log.lanes()


def test_a_missing_history_and_unlisted_files_need_the_whole_history(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    with DiskLog.open(repo.path) as newest, pytest.raises(TimelineUnreadable):
        next(newest.entries())

    def make_many() -> None:
        for number in range(MAX_LISTED + 1):
            repo.write(f"many/{number}", b"x\n")

    entry = agent.bash(make_many)
    with DiskLog.open(repo.path) as newest, pytest.raises(TimelineUnreadable):
        newest.show(str(entry.n))
    assert len(recorder.log.show(str(entry.n))["edits"]) == MAX_LISTED + 1
    assert entry.lines is None  # counting them all takes too long, and some are not all
    agent.edit("many/7", b"y\n")
    for path, numbers in (("many/7", [1, 2]), ("many/8", [1]), ("many", [1, 2]), ("man", [])):
        wanted = LogFilter(path=str(repo.path / path))
        assert [found["n"] for found in recorder.log.select(wanted)] == numbers
        with DiskLog.open(repo.path) as newest:
            assert newest.select(wanted, recorder.workspace.locate) == recorder.log.select(wanted)


def test_marks_in_another_form_or_order_need_the_whole_history(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    agent.edit("one.txt", b"1\n")
    recorder.record_unchanged(action("toolu_2", status="denied"))
    recorder.record_unchanged(action("toolu_3", status="failed"))
    place = recorder.workspace.repository.own_dir / "notes.jsonl"
    first, second = place.read_bytes().splitlines(keepends=True)
    odd = json.dumps(json.loads(first)).encode() + b"\n"
    for data in (second + first, second + odd):
        place.write_bytes(data)
        with pytest.raises(TimelineUnreadable), DiskLog.open(repo.path) as newest:
            list(newest.entries())
        with Recorder.open(repo.path) as other:
            assert [entry.n for entry in other.entries()] == [1, 2, 3]
    # What a crash cut short, or another version wrote, is passed over both ways.
    place.write_bytes(first + b'{"v":1,"kind":"call",half\n{"v":2}\n' + second[:-5])
    with DiskLog.open(repo.path) as newest, Recorder.open(repo.path) as other:
        assert list(newest.entries())[::-1] == other.entries()
        assert len(other.entries()) == 2


def test_a_damaged_beginning_is_reported_and_does_not_hide_newer_entries(
    repo: UserRepo, recorder: Recorder, agent: Agent
) -> None:
    for text in (b"1\n", b"2\n", b"3\n", b"4\n"):
        agent.edit("one.txt", text)
    lost = recorder.timeline.records[1].oid
    (repo.git_dir / "chorus/objects" / lost[:2] / lost[2:]).unlink()

    with DiskLog.open(repo.path) as newest:
        assert next(newest.entries()).n == 4
        with pytest.raises(TimelineUnreadable):
            list(newest.entries())
    with Recorder.open(repo.path) as other, pytest.raises(ChorusError, match=lost):
        other.entries()
