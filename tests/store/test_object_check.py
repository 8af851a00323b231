"""GitPython, an independent reader, reads what Chorus writes and finds damage."""

import pytest

from chorus.store.maintenance.object_check import find_damaged_objects
from chorus.store.maintenance.side_store import list_loose, pack
from tests.store.open_store import OpenStore
from tests.store.recorder import LANE, Recorder


@pytest.fixture(params=["loose", "packed"])
def recorded(opened: OpenStore, request: pytest.FixtureRequest) -> OpenStore:
    recorder = Recorder(opened.repository, opened.store, opened.trees, LANE)
    for number in range(10):
        recorder.record(f"src/{number % 3}.txt", b"%d\n" % number * 3000)
    if request.param == "packed":
        pack(opened.repository.git, opened.store, young_seconds=-1)
    return opened


def test_every_recorded_object_matches_its_id(recorded: OpenStore) -> None:
    assert find_damaged_objects(recorded.store.directory) == []


def test_damaged_objects_are_found(opened: OpenStore) -> None:
    Recorder(opened.repository, opened.store, opened.trees).record("a", b"x" * 9000)
    first, second, third, *_ = [found.path for found in list_loose(opened.store.directory)]
    with open(first, "rb") as file:  # noqa: PTH123  names that are no text
        whole = file.read()
    for path, data in ((first, whole[:-6]), (second, b""), (third, whole)):
        opened.repo.path.joinpath(path).unlink()
        opened.repo.path.joinpath(path).write_bytes(data)

    assert len(find_damaged_objects(opened.store.directory)) == 3


def test_a_lane_is_a_branch_for_gitpython_too(recorded: OpenStore) -> None:
    commits = recorded.repo.read_commits(LANE)

    assert len(commits) == 10
    assert commits[0].summary == "edit src/0.txt"
    assert commits[0].committer == "Ada User"
    assert recorded.repo.read_file(LANE, "src/0.txt") == b"9\n" * 3000
    assert recorded.repo.read_refs("refs/heads/chorus/") == {LANE: commits[0].oid}
