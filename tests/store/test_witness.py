"""Other readers: GitPython reads what Chorus writes, and sees it when it is damaged."""

import git
import pytest

from chorus.store.maintenance.object_check import find_damaged_objects
from chorus.store.maintenance.side_store import list_loose, pack
from tests.store.layer import Layer
from tests.store.recorder import LANE, Recorder


@pytest.fixture(params=["loose", "packed"])
def recorded(layer: Layer, request: pytest.FixtureRequest) -> Layer:
    recorder = Recorder(layer.repository, layer.store, layer.trees, LANE)
    for number in range(10):
        recorder.record(f"src/{number % 3}.txt", b"%d\n" % number * 3000)
    if request.param == "packed":
        pack(layer.repository.git, layer.store, young_seconds=-1)
    return layer


def test_every_recorded_object_is_what_its_name_says(recorded: Layer) -> None:
    assert find_damaged_objects(recorded.store.directory) == []


def test_damage_is_found(layer: Layer) -> None:
    Recorder(layer.repository, layer.store, layer.trees).record("a", b"x" * 9000)
    first, second, third, *_ = [found.path for found in list_loose(layer.store.directory)]
    with open(first, "rb") as file:  # noqa: PTH123
        whole = file.read()
    for path, data in ((first, whole[:-6]), (second, b""), (third, whole)):
        layer.repo.path.joinpath(path).unlink()
        layer.repo.path.joinpath(path).write_bytes(data)

    assert len(find_damaged_objects(layer.store.directory)) == 3


def test_a_lane_is_a_branch_for_gitpython_too(recorded: Layer) -> None:
    with git.Repo(recorded.repo.path) as repo:
        commits = list(repo.iter_commits(LANE))

        assert len(commits) == 10
        assert commits[0].summary == "edit src/0.txt"
        assert commits[0].committer.name == "Ada User"
        assert (commits[0].tree / "src/0.txt").data_stream.read() == b"9\n" * 3000
