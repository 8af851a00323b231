"""A full or read-only disk: a clear error, nothing half done, and all is well when there is room again."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.errors import ChorusError
from chorus.history.recorder import Recorder
from chorus.model.action import Action
from chorus.store.lock_file import CannotWrite
from tests.history.agent_at_work import action, bash, entry_of, reported
from tests.history.invariants import assert_whole, untouched
from tests.imitation.disk import unmount
from tests.repos import UserRepo

SIZE = "6m"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    if os.getuid() != 0:
        pytest.skip("only root may mount a disk")
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(place)], capture_output=True
    )
    if done.returncode:
        pytest.skip("mounting a disk is not allowed here")
    try:
        yield place
    finally:
        unmount(str(place))


@pytest.fixture
def repo_on_it(template_repo: Path, small_disk: Path) -> UserRepo:
    return UserRepo.copy(template_repo, small_disk / "repo")


def edit(repo: UserRepo, name: str, after: str) -> Action:
    place = repo.path / "app.py"
    before = place.read_text()
    place.write_text(after)
    return action(name, place, report=reported(place, before, after))


def test_a_full_disk_is_a_clear_error_and_nothing_is_half_done(
    repo_on_it: UserRepo, small_disk: Path
) -> None:
    repo = repo_on_it
    with Recorder.open(repo.path) as recorder:
        recorder.start()
        first = edit(repo, "t1", "x = 2\n")
        recorder.record_named_paths([first])
        second = edit(repo, "t2", "x = 3\n")
        ballast = small_disk / "ballast"
        fill(ballast)
        with untouched(repo), pytest.raises(CannotWrite, match="No space left on device"):
            recorder.record_named_paths([second])
        # A page more each time, so that it fails a little later each time.
        failed = 1
        while failed < 100 and not recorded(recorder, second):
            os.truncate(ballast, ballast.stat().st_size - 4096)
            failed += 1
        assert failed > 3
        ballast.unlink()
        assert entry_of(recorder, "t2").status == "committed"
        assert_whole(repo, recorder)


def test_a_branch_switch_that_a_full_disk_kept_from_being_recorded_is_not_the_agents(
    repo_on_it: UserRepo, small_disk: Path
) -> None:
    repo = repo_on_it
    repo.git("reset", "-q", "--hard")
    repo.git("checkout", "-qb", "other")
    repo.commit("other", **{f"file{number}.txt": b"other\n" * 5000 for number in range(5)})
    repo.git("checkout", "-q", "main")
    with Recorder.open(repo.path) as recorder:
        recorder.start()
        repo.git("checkout", "-q", "other")
        ballast = small_disk / "ballast"
        fill(ballast)
        with pytest.raises(CannotWrite):
            recorder.record_outside()
        ballast.unlink()
        repo.write("own.txt", b"own\n")
        recorder.record_window(bash("t1"))
        assert entry_of(recorder, "t1").paths == ("own.txt",)
        assert recorder.entries()[0].reason == "checkout: moving from main to other"
        assert_whole(repo, recorder)


def recorded(recorder: Recorder, done: Action) -> bool:
    try:
        recorder.record_named_paths([done])
    except CannotWrite:
        return False
    return True


def fill(place: Path) -> None:
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (2**16, 4096, 1):
            while True:
                try:
                    os.write(descriptor, bytes(size))
                except OSError:
                    break
    finally:
        os.close(descriptor)


def test_a_read_only_disk_is_a_clear_error(repo_on_it: UserRepo, small_disk: Path) -> None:
    repo = repo_on_it
    with Recorder.open(repo.path) as recorder:
        recorder.start()
    done = edit(repo, "t1", "x = 2\n")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with Recorder.open(repo.path) as fresh, pytest.raises(ChorusError, match="Read-only"):
        fresh.record_named_paths([done])
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    with Recorder.open(repo.path) as recorder:
        recorder.record_named_paths([done])
        assert entry_of(recorder, "t1").status == "committed"
        assert_whole(repo, recorder)
