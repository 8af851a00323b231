"""A recorder killed at any point loses nothing, doubles nothing, breaks nothing."""

import os
import random
from collections.abc import Callable
from pathlib import Path

from chorus.history.recorder import Recorder
from chorus.model.action import Action
from tests.history.agent_at_work import action, bash, reported
from tests.history.crash_child import run_and_be_killed, run_and_die
from tests.history.invariants import assert_whole
from tests.repos import UserRepo

LINES = [f"line {number}\n" for number in range(20)]
RANDOM_KILLS = 30
# So many of the calls are tried, evenly spread; `make bench` tries every one.
POINTS = int(os.environ.get("CHORUS_CRASH_POINTS", "25"))


class Story:
    """What a client did, reported to the recorder from the start each time it plays."""

    def __init__(self, repo: UserRepo) -> None:
        self.repo = repo
        self.events: list[Callable[[Recorder], object]] = []
        self.ids: list[str] = []

    def edit(self, name: str, before: str | None, after: str, session: str = "session-a") -> None:
        place = self.repo.write(name, after.encode())
        done = action(f"t{len(self.ids)}", place, session=session, report=reported(place, before, after))
        self.report(done, lambda recorder: recorder.record_named_paths([done]))

    def deny(self) -> None:
        done = bash(f"t{len(self.ids)}", status="denied")
        self.report(done, lambda recorder: recorder.record_unchanged(done))

    def report(self, done: Action, event: Callable[[Recorder], object]) -> None:
        self.ids.append(done.id)
        self.events.append(event)

    def play(self) -> None:
        with Recorder.open(self.repo.path) as recorder:
            for event in self.events:
                event(recorder)


def started(template: Path, place: Path) -> Story:
    """A work tree whose timeline has begun, and in it three edits, one call denied, one edit with context."""
    repo = UserRepo.copy(template, place)
    repo.write("long.txt", "".join(LINES).encode())
    with Recorder.open(repo.path) as recorder:
        recorder.start()
    story = Story(repo)
    text = "".join(LINES)
    story.edit("new.txt", None, "new\n")
    story.edit("long.txt", text, text + "more\n")
    story.deny()
    story.edit("new.txt", "new\n", "new\nand more\n", session="session-b")
    return story


def assert_recorded_once(story: Story) -> None:
    with Recorder.open(story.repo.path) as recorder:
        for event in story.events:
            event(recorder)
        recorder.record_outside()
        entries = recorder.entries()
        assert [entry.id for entry in entries if entry.id] == story.ids
        assert [entry.n for entry in entries if entry.id] == list(range(1, len(story.ids) + 1))
        assert_whole(story.repo, recorder)
        tips = {str(entry.lane): entry.commit for entry in entries if entry.lane}
        refs = story.repo.git("for-each-ref", "--format=%(refname:short) %(objectname)", "refs/heads/chorus")
        assert dict(line.split() for line in refs.splitlines()) == tips


def test_a_kill_before_any_writing_call_loses_nothing(template_repo: Path, memory_path: Path) -> None:
    calls = run_and_die(started(template_repo, memory_path / "count").play)
    assert calls > 100
    for number in range(0, calls, max(1, calls // POINTS)):
        story = started(template_repo, memory_path / f"at-{number}")
        run_and_die(story.play, at_call=number)
        assert_recorded_once(story)


def test_a_kill_before_the_timeline_starts_loses_nothing(template_repo: Path, memory_path: Path) -> None:
    def start(place: Path) -> UserRepo:
        return UserRepo.copy(template_repo, place)

    def play(repo: UserRepo) -> Callable[[], object]:
        return lambda: Recorder.open(repo.path).start()

    calls = run_and_die(play(start(memory_path / "count")))
    for number in range(0, calls, max(1, calls // POINTS)):
        repo = start(memory_path / f"at-{number}")
        run_and_die(play(repo), at_call=number)
        with Recorder.open(repo.path) as recorder:
            recorder.record_outside()
            assert_whole(repo, recorder)


def test_kills_at_random_moments_lose_nothing(template_repo: Path, memory_path: Path) -> None:
    story = started(template_repo, memory_path / "repo")
    dice = random.Random(1)
    for _ in range(RANDOM_KILLS):
        run_and_be_killed(story.play, 0.05, dice)
    assert_recorded_once(story)


def test_recovery_leaves_the_watchers_own_lock_alone(repo: UserRepo) -> None:
    """Without it, a second watcher would start beside the first."""
    own = repo.git_dir / "chorus"
    own.mkdir()
    (own / "watcher.lock").write_text("1\n")
    (own / "index.lock").write_text("left by a recorder that was killed")
    with Recorder.open(repo.path) as recorder:
        recorder.start()
    assert (own / "watcher.lock").read_text() == "1\n"
    assert not (own / "index.lock").exists()


def test_a_kill_between_a_shared_record_and_the_mark_of_its_second_call(
    template_repo: Path, memory_path: Path
) -> None:
    """Two edits that cannot be separated: the last has both, and the log still has the other."""

    def play(repo: UserRepo) -> Callable[[], object]:
        place = repo.path / "app.py"
        return lambda: Recorder.open(repo.path).record_named_paths([action("t1", place), action("t2", place)])

    def begun(place: Path) -> UserRepo:
        repo = UserRepo.copy(template_repo, place)
        with Recorder.open(repo.path) as recorder:
            recorder.start()
        repo.write("app.py", b"both\n")
        return repo

    calls = run_and_die(play(begun(memory_path / "count")))
    for number in range(calls - 12, calls):
        repo = begun(memory_path / f"at-{number}")
        run_and_die(play(repo), at_call=number)
        with Recorder.open(repo.path) as recorder:
            recorder.record_named_paths([action("t1", repo.path / "app.py")])
            recorder.record_named_paths([action("t2", repo.path / "app.py")])
            entries = {entry.id: entry for entry in recorder.entries()}
            assert set(entries) == {"t1", "t2"}
            if entries["t2"].timeline is not None:
                assert entries["t1"].within == "t2"
            assert_whole(repo, recorder)
