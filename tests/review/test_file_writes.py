"""Writing the files of a revert: all or none, also with concurrent writes and after a crash."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chorus.errors import ChorusError
from chorus.history.recorder import Recorder
from chorus.model.ids import RepoPath
from chorus.review.operations import Selection, revert
from chorus.review.revert import file_writes
from chorus.review.revert.apply import recover_revert
from chorus.store.worktree.staged_file import CannotReplace, StagedFile
from chorus.store.worktree.work_tree import WorkTree
from chorus.system.files.durable_writes import find_journaled_device
from tests.history.agent_at_work import Agent, bash, on_disk
from tests.history.crash_child import run_and_die
from tests.history.invariants import assert_whole
from tests.history.test_crash import POINTS
from tests.imitation.disk import unmount
from tests.repos import UserRepo
from tests.review.test_revert import select

# How many of its calls are tried, evenly spread; `make bench` tries every one.
REVERT_POINTS = POINTS // 2
BASH = "toolu_everything"
NAMES = [f"many/{number}.txt" for number in range(7)]


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make batches so small that a few files need several."""
    monkeypatch.setattr(file_writes, "BATCH_SIZE", 3)


def change_everything(repo: UserRepo) -> None:
    """Make every kind of change: contents, modes, links, created, deleted and replaced files."""
    for name in NAMES:
        repo.write(name, b"changed\n")
    (repo.path / NAMES[0]).chmod(0o755)
    repo.write("made/deep/new.txt", b"new\n")
    (repo.path / "run.sh").unlink()
    (repo.path / "README.md").unlink()
    (repo.path / "README.md").symlink_to("app.py")
    (repo.path / "app.py").unlink()
    repo.write("app.py/inner.txt", b"in\n")
    shutil.rmtree(repo.path / "src")
    repo.write("src", b"a file now\n")


def changed_repo(template: Path, place: Path) -> UserRepo:
    """A repository with one action that made every kind of change."""
    repo = UserRepo.copy(template, place)
    for name in NAMES:
        repo.write(name, b"as it was\n")
    with Recorder.open(repo.path) as recorder:
        recorder.start()
        change_everything(repo)
        recorder.record_window(bash(BASH))
    return repo


def scratch_files(repo: UserRepo) -> list[Path]:
    return list(repo.path.rglob(".chorus-*"))


def revert_all(repo: UserRepo) -> None:
    with Recorder.open(repo.path) as recorder:
        revert(recorder, Selection(["1"]))


@pytest.mark.usefixtures("batches")
def test_a_revert_killed_at_any_write_is_recovered_completely_or_not_started(
    template_repo: Path, memory_path: Path
) -> None:
    start = changed_repo(template_repo, memory_path / "start")
    changed = on_disk(start)
    repo = UserRepo.copy(start.path, memory_path / "count")
    calls = run_and_die(lambda: revert_all(repo))
    reverted = on_disk(repo)
    assert calls > 60
    assert reverted != changed
    waiting = set()
    for number in range(0, calls, max(1, calls // REVERT_POINTS)):
        repo = UserRepo.copy(start.path, memory_path / f"at-{number}")
        run_and_die(partial(revert_all, repo), at_call=number)
        waiting.add(bool(scratch_files(repo)))
        with Recorder.open(repo.path) as recorder:
            recover_revert(recorder)
            assert on_disk(repo) in (changed, reverted)
            assert scratch_files(repo) == []
            if on_disk(repo) == changed:
                revert(recorder, Selection(["1"]))
            assert on_disk(repo) == reverted
            assert [entry.reverts for entry in recorder.entries() if entry.reverts] == [(BASH,)]
            assert_whole(repo, recorder)
        shutil.rmtree(repo.path)
    assert waiting == {True, False}  # some of them died with files staged


def interfere(monkeypatch: pytest.MonkeyPatch, at: int, act: Callable[[], object]) -> None:
    """Call `act` when all files of a batch are staged and `at` of them have replaced the original."""
    put, done = StagedFile.put, [0]

    def counting(self: StagedFile, expected: Any) -> None:
        if done[0] == at:
            act()
        done[0] += 1
        put(self, expected)

    monkeypatch.setattr(StagedFile, "put", counting)


@pytest.fixture
def many(repo: UserRepo, agent: Agent) -> Iterator[UserRepo]:
    for name in NAMES:
        repo.write(name, b"as it was\n")
    agent.recorder.start()
    agent.bash(lambda: [repo.write(name, b"changed\n") for name in NAMES])
    yield repo
    assert scratch_files(repo) == []


def test_a_file_that_the_system_refuses_to_replace_leaves_all_as_they_were(
    repo: UserRepo, agent: Agent, tmp_path: Path
) -> None:
    for name in NAMES:
        repo.write(name, b"as it was\n")
    agent.recorder.start()
    agent.bash(lambda: [repo.write(name, b"changed\n") for name in NAMES])
    (tmp_path / "mounted").write_bytes(b"changed\n")
    place = str(repo.path / NAMES[5])
    if subprocess.run(["mount", "--bind", tmp_path / "mounted", place], capture_output=True).returncode:
        pytest.skip("mounting a file is not allowed here")
    try:
        with pytest.raises(CannotReplace, match=f"{NAMES[5]}: Device or resource busy"):
            revert(agent.recorder, Selection(["1"]))
        assert {(repo.path / name).read_bytes() for name in NAMES} == {b"changed\n"}
        assert recover_revert(agent.recorder) == []
        assert scratch_files(repo) == []
    finally:
        unmount(place)


@pytest.mark.parametrize("at", [0, 1, 4])
@pytest.mark.usefixtures("batches")
def test_a_file_written_while_others_are_staged_wins_and_is_named(
    many: UserRepo, agent: Agent, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    interfere(monkeypatch, at, lambda: many.write(NAMES[5], b"mine\n"))
    with pytest.raises(CannotReplace, match=NAMES[5]):
        revert(agent.recorder, Selection(["1"]))
    found = {name: (many.path / name).read_bytes() for name in NAMES}
    assert found == dict.fromkeys(NAMES, b"changed\n") | {NAMES[5]: b"mine\n"}
    assert recover_revert(agent.recorder) == []


@pytest.mark.usefixtures("batches")
def test_a_directory_removed_while_files_are_staged_in_it_is_named(
    many: UserRepo, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = many.path.parent / "aside"
    interfere(monkeypatch, 1, lambda: (many.path / "many").rename(aside))
    with pytest.raises(ChorusError, match="many/"):
        revert(agent.recorder, Selection(["1"]))
    assert [path.name for path in aside.rglob(".chorus-*")] == []
    assert not (many.path / "many").exists()


def test_a_file_that_was_only_touched_meanwhile_is_reverted(
    many: UserRepo, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    interfere(monkeypatch, 0, lambda: os.utime(many.path / NAMES[2], (1, 1)))
    revert(agent.recorder, Selection(["1"]))
    assert {(many.path / name).read_bytes() for name in NAMES} == {b"as it was\n"}


def test_hard_links_staged_together_are_all_reverted(repo: UserRepo, agent: Agent) -> None:
    names = ("app.py", "b.py", "c.py")
    for name in names[1:]:
        os.link(repo.path / "app.py", repo.path / name)
    before = (repo.path / "app.py").read_bytes()
    made = agent.bash(lambda: (repo.path / "app.py").write_bytes(b"x = 5\n"))
    assert made.paths == names
    revert(agent.recorder, select(made.n))
    assert {(repo.path / name).read_bytes() for name in names} == {before}

    def remove() -> None:
        for name in names:
            (repo.path / name).unlink()

    gone = agent.bash(remove)
    revert(agent.recorder, select(gone.n))
    assert {(repo.path / name).read_bytes() for name in names} == {before}


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each fsync."""
    calls: list[int] = []
    fsync = os.fsync

    def counting(descriptor: int) -> None:
        calls.append(descriptor)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", counting)
    return calls


def write_together(tree: WorkTree, count: int) -> None:
    prepared = [tree.stage(RepoPath(f"{number}"), 0o100644, b"bytes\n") for number in range(count)]
    try:
        tree.sync_staged(prepared)
        for number, each in enumerate(prepared):
            each.put(tree.read_file(RepoPath(f"{number}")))
    finally:
        for each in prepared:
            each.close()


def test_many_files_are_synced_once_with_a_journal_and_each_without(
    tmp_path: Path, synced: list[int]
) -> None:
    write_together(WorkTree(tmp_path), 20)
    assert len(synced) == (20 if find_journaled_device(tmp_path) is None else 1)
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"bytes\n"}


def test_nothing_is_synced_when_durability_is_off(tmp_path: Path, synced: list[int]) -> None:
    write_together(WorkTree(tmp_path, durable=False), 20)
    assert synced == []


def test_a_file_system_in_memory_has_no_journal(memory_path: Path) -> None:
    if not memory_path.is_relative_to("/dev/shm"):
        pytest.skip("there is none")
    assert find_journaled_device(memory_path) is None


def test_a_staged_file_with_a_write_error_does_not_replace_the_original(tmp_path: Path) -> None:
    tree = WorkTree(tmp_path)
    (tmp_path / "file").write_bytes(b"old")
    waiting = tree.stage(RepoPath("file"), 0o100644, b"new")
    waiting.fail(OSError(28, "No space left on device"))
    with pytest.raises(ChorusError, match="No space left"):
        waiting.put(tree.read_file(RepoPath("file")))
    waiting.close()
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
