"""Copies and clones of a repository with lanes are complete."""

import shutil
import subprocess
from pathlib import Path

import pytest

from chorus.store.maintenance.side_store import pack
from chorus.store.repository import Repository
from tests.repos import UserRepo
from tests.store.open_store import OpenStore
from tests.store.recorder import LANE, TIMELINE, Recorder

BRANCH = LANE.removeprefix("refs/heads/")


@pytest.fixture(params=["loose", "packed"])
def recorded(repo: UserRepo, request: pytest.FixtureRequest) -> UserRepo:
    """A lane of five commits on HEAD, and a timeline."""
    with OpenStore.open(repo) as opened:
        head = opened.repository.head().oid
        assert head is not None
        for ref in (TIMELINE, LANE):
            recorder = Recorder(opened.repository, opened.store, opened.trees, ref)
            recorder.tip = recorder.tip or (head if ref == LANE else None)
            if ref == LANE:
                opened.repository.refs.update(LANE, head, None, "lane starts")
            for number in range(5):
                recorder.record("src/lane.txt", b"%d\n" % number)
        if request.param == "packed":
            pack(opened.repository.git, opened.store, young_seconds=-1)
    return repo


def assert_whole(copy: UserRepo, branch: str, side: Path | None) -> None:
    """Also without what it was copied from."""
    if side is not None:
        side.rename(side.with_name("gone"))
    assert copy.fsck() == ""
    assert copy.read_file(branch, "src/lane.txt") == b"4\n"
    assert len(copy.read_commits(f"main..{branch}")) == 5


def test_a_repository_copied_with_cp_is_complete(recorded: UserRepo, tmp_path: Path) -> None:
    subprocess.run(["cp", "-a", str(recorded.path), str(tmp_path / "copy")], check=True)

    copy = UserRepo(tmp_path / "copy")
    shutil.rmtree(recorded.path)
    assert_whole(copy, BRANCH, None)
    with OpenStore.open(copy) as opened:
        Recorder(opened.repository, opened.store, opened.trees, LANE).record("src/lane.txt", b"goes on\n")
    assert copy.fsck() == ""


@pytest.mark.parametrize(
    "options",
    [["--no-local"], ["--no-hardlinks", "--no-local"], ["--bare", "--no-local"], ["--mirror", "--no-local"]],
    ids=" ".join,
)
def test_a_clone_over_a_transport_is_independent(
    recorded: UserRepo, tmp_path: Path, options: list[str]
) -> None:
    recorded.git("clone", "-q", *options, str(recorded.path), str(tmp_path / "clone"))

    copy = UserRepo(tmp_path / "clone")
    bare = "--bare" in options or "--mirror" in options
    assert_whole(copy, BRANCH if bare else f"origin/{BRANCH}", recorded.path)
    assert not (copy.git_dir / "objects/info/alternates").exists()


def test_a_local_clone_is_complete_and_can_be_made_independent(recorded: UserRepo, tmp_path: Path) -> None:
    """git copies objects but not what lies behind alternates: it borrows that, until it is repacked."""
    recorded.git("clone", "-q", str(recorded.path), str(tmp_path / "clone"))

    copy = UserRepo(tmp_path / "clone")
    assert copy.fsck() == ""
    assert copy.read_file(f"origin/{BRANCH}", "src/lane.txt") == b"4\n"
    borrowed = (tmp_path / "clone/.git/objects/info/alternates").read_text().strip()
    assert Path(borrowed) == recorded.path / ".git/chorus/objects"

    copy.git("repack", "-q", "-a", "-d")
    (tmp_path / "clone/.git/objects/info/alternates").unlink()
    assert_whole(copy, f"origin/{BRANCH}", recorded.path)


def test_a_dissociated_clone_is_independent(recorded: UserRepo, tmp_path: Path) -> None:
    arguments = ("--dissociate", "--reference", str(recorded.path))
    recorded.git("clone", "-q", *arguments, f"file://{recorded.path}", str(tmp_path / "clone"))

    assert_whole(UserRepo(tmp_path / "clone"), f"origin/{BRANCH}", recorded.path)


def test_a_pushed_lane_is_complete_in_the_remote(recorded: UserRepo, tmp_path: Path) -> None:
    recorded.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    recorded.git("push", "-q", str(tmp_path / "remote.git"), "main", BRANCH)

    remote = UserRepo(tmp_path / "remote.git")
    assert_whole(remote, BRANCH, recorded.path)


def test_a_fetched_lane_and_a_bundle_are_complete(recorded: UserRepo, tmp_path: Path) -> None:
    recorded.git("bundle", "create", "-q", str(tmp_path / "all.bundle"), "--all")
    recorded.git("clone", "-q", str(tmp_path / "all.bundle"), str(tmp_path / "clone"))

    assert_whole(UserRepo(tmp_path / "clone"), f"origin/{BRANCH}", recorded.path)


def test_a_linked_work_tree_records_into_the_same_store(recorded: UserRepo, tmp_path: Path) -> None:
    recorded.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    with OpenStore.open(UserRepo(tmp_path / "linked")) as opened:
        tree, _ = opened.scanner.baseline()
        assert opened.contents(tree) == opened.on_disk()
        Recorder(opened.repository, opened.store, opened.trees, LANE).record("src/lane.txt", b"linked\n")
        assert opened.store.directory == recorded.path / ".git/chorus/objects"
        assert opened.repository.own_dir == recorded.path / ".git/worktrees/linked/chorus"

    assert recorded.read_file(BRANCH, "src/lane.txt") == b"linked\n"
    assert recorded.fsck() == ""
    assert Repository.open(recorded.path).checked_out() == {
        "refs/heads/main": recorded.path,
        "refs/heads/other": tmp_path / "linked",
    }
