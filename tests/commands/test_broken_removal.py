"""`drop --all` and `gc --all` come to an end from every half-broken state, and say what they did."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from chorus import cli
from chorus.history.recorder import Recorder
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo


def lose_timeline(repo: UserRepo) -> None:
    for path in (repo.git_dir / "chorus").glob("timeline*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in repo.git("for-each-ref", "--format=%(refname)", "refs/chorus").split():
        repo.git("update-ref", "-d", name)


def lose_lanes(repo: UserRepo) -> None:
    for name in repo.git("branch", "--list", "chorus/*", "--format=%(refname:short)").split():
        repo.git("branch", "-q", "-D", name)


def lose_objects(repo: UserRepo) -> None:
    shutil.rmtree(repo.git_dir / "chorus" / "objects")


def lose_some_objects(repo: UserRepo) -> None:
    for folder in sorted((repo.git_dir / "chorus" / "objects").iterdir())[::2]:
        shutil.rmtree(folder) if folder.is_dir() else folder.unlink()


def lose_everything_but_alternates(repo: UserRepo) -> None:
    shutil.rmtree(repo.git_dir / "chorus")


def lose_alternates(repo: UserRepo) -> None:
    (repo.git_dir / "objects" / "info" / "alternates").unlink()


def lose_everything_but_lanes(repo: UserRepo) -> None:
    lose_alternates(repo)
    lose_timeline(repo)
    lose_everything_but_alternates(repo)


def break_marks(repo: UserRepo) -> None:
    (repo.git_dir / "chorus" / "notes.jsonl").write_bytes(b"\xff\x00{\n")
    (repo.git_dir / "chorus" / "pending").write_bytes(b"rubbish")
    (repo.git_dir / "chorus" / "index").write_bytes(b"rubbish")


def break_lane(repo: UserRepo) -> None:
    lane = next((repo.git_dir / "refs" / "heads" / "chorus").iterdir())
    lane.write_text("0123456789" * 4 + "\n")


def replace_objects_by_a_file(repo: UserRepo) -> None:
    lose_objects(repo)
    (repo.git_dir / "chorus" / "objects").write_text("x")


def replace_everything_by_a_file(repo: UserRepo) -> None:
    lose_everything_but_alternates(repo)
    (repo.git_dir / "chorus").write_text("x")


def empty_lane(repo: UserRepo) -> None:
    next((repo.git_dir / "refs" / "heads" / "chorus").iterdir()).write_text("")


def replace_alternates_by_a_directory(repo: UserRepo) -> None:
    lose_alternates(repo)
    (repo.git_dir / "objects" / "info" / "alternates").mkdir()


def replace_files_by_directories(repo: UserRepo) -> None:
    for name in ("recording.lock", "pending", "last-number"):
        (repo.git_dir / "chorus" / name).unlink(missing_ok=True)
        (repo.git_dir / "chorus" / name).mkdir()


def replace_objects_by_a_link_to_itself(repo: UserRepo) -> None:
    lose_objects(repo)
    (repo.git_dir / "chorus" / "objects").symlink_to("objects")


def replace_alternates_by_a_link_to_nothing(repo: UserRepo) -> None:
    lose_alternates(repo)
    (repo.git_dir / "objects" / "info" / "alternates").symlink_to("nowhere")


def replace_directories_by_files(repo: UserRepo) -> None:
    for name in ("spool", "objects/pack", "objects/info"):
        place = repo.git_dir / "chorus" / name
        shutil.rmtree(place, ignore_errors=True)
        place.write_text("x")


def replace_reflogs_by_a_file(repo: UserRepo) -> None:
    for name in ("refs/heads/chorus", "refs/chorus"):
        shutil.rmtree(repo.git_dir / "logs" / name, ignore_errors=True)
        (repo.git_dir / "logs" / name).parent.mkdir(exist_ok=True)
        (repo.git_dir / "logs" / name).write_text("x")


def cut_every_file(repo: UserRepo) -> None:
    for path in (repo.git_dir / "chorus").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            os.truncate(path, path.stat().st_size // 2)


def replace_everything_by_a_link(repo: UserRepo) -> None:
    (repo.git_dir / "chorus").rename(repo.path.parent / "moved")
    (repo.git_dir / "chorus").symlink_to(repo.path.parent / "moved")


def replace_everything_by_a_link_to_nothing(repo: UserRepo) -> None:
    lose_everything_but_alternates(repo)
    (repo.git_dir / "chorus").symlink_to("nowhere")


def replace_everything_by_a_link_to_itself(repo: UserRepo) -> None:
    lose_everything_but_alternates(repo)
    (repo.git_dir / "chorus").symlink_to("chorus")


BREAKS: list[Callable[[UserRepo], None]] = [
    lose_timeline, lose_lanes, lose_objects, lose_some_objects, lose_everything_but_alternates,
    lose_alternates, lose_everything_but_lanes, break_marks, break_lane,
    replace_objects_by_a_file, replace_everything_by_a_file, empty_lane, replace_alternates_by_a_directory,
    replace_files_by_directories, replace_everything_by_a_link, replace_everything_by_a_link_to_nothing,
    replace_everything_by_a_link_to_itself, replace_objects_by_a_link_to_itself,
    replace_alternates_by_a_link_to_nothing, replace_directories_by_files, replace_reflogs_by_a_file,
    cut_every_file,
]  # fmt: skip


def remove(capsys: pytest.CaptureFixture[str]) -> str:
    """Do as a user does: drop, remove, and follow the hints, three times at most."""
    said = ""
    for _ in range(3):
        cli.main(["drop", "--all"])
        code = cli.main(["gc", "--all"])
        said += "".join(capsys.readouterr())
        assert "Traceback" not in said
        assert "This is a bug" not in said
        if code in (0, 3):
            return said
    raise AssertionError(said)


def assert_removed(repo: UserRepo) -> None:
    assert not os.path.lexists(repo.git_dir / "chorus")
    assert not (repo.git_dir / "objects" / "info" / "alternates").exists()
    assert repo.git("for-each-ref", "refs/chorus") == ""
    assert repo.fsck() == ""


@pytest.mark.parametrize("damage", BREAKS, ids=lambda damage: damage.__name__)
def test_removal_ends_from_every_half_broken_state(
    worked: UserRepo,
    damage: Callable[[UserRepo], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(worked.path)
    before = worked.git("rev-parse", "HEAD", "v1", "stash"), (worked.path / "app.py").read_bytes()
    damage(worked)
    said = remove(capsys)
    stop(find_home(worked.path))
    if damage is not lose_everything_but_lanes:
        assert "removed from this repository" in said
        assert_removed(worked)
    assert (worked.git("rev-parse", "HEAD", "v1", "stash"), (worked.path / "app.py").read_bytes()) == before


def test_a_lane_that_no_timeline_knows_becomes_a_plain_branch(
    worked: UserRepo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(worked.path)
    lose_timeline(worked)
    (name,) = worked.git("branch", "--list", "chorus/*", "--format=%(refname:short)").split()
    files = worked.read_files(name)
    said = remove(capsys)
    stop(find_home(worked.path))
    assert f"kept as a plain branch: {name}" in said
    assert worked.read_files(name) == files
    assert_removed(worked)


def test_lanes_of_a_removed_work_tree_do_not_stop_the_removal(
    worked: UserRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    worked.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = UserRepo(tmp_path / "side")
    with Recorder.open(side.path) as recorder:
        Agent(side, recorder, session="session-b").edit("new.txt", b"x\n", message="Elsewhere")
    monkeypatch.chdir(worked.path)
    assert cli.main(["drop", "--all"]) == 0
    assert cli.main(["gc", "--all"]) == 6  # the other work tree has a lane
    assert f"in {side.path}" in capsys.readouterr().err
    stop(find_home(worked.path))
    worked.git("worktree", "remove", "--force", str(side.path))
    said = remove(capsys)
    assert "kept as a plain branch: chorus/elsewhere-sess" in said
    assert_removed(worked)
