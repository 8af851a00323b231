"""The file that names an unfinished write, and what the next writer makes of it."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from chorus.history.crash_recovery import CrashRecovery, LaneMove, PendingWrite, PendingWriteFile
from chorus.history.timeline.timeline import Timeline
from chorus.history.workspace import Workspace
from chorus.model.ids import Oid

MOVE = LaneMove("refs/heads/chorus/x", Oid("new"), Oid("old"))


@pytest.fixture
def file(tmp_path: Path) -> PendingWriteFile:
    return PendingWriteFile(tmp_path / "pending")


@pytest.mark.parametrize("move", [MOVE, LaneMove("refs/heads/a", Oid("new"), None), None])
def test_a_pending_write_is_read_until_it_has_ended(file: PendingWriteFile, move: LaneMove | None) -> None:
    assert file.read() is None
    file.begin(move)
    assert file.read() == PendingWrite(move)
    file.end()
    assert file.read() is None
    file.begin(None)  # shorter than what the file still holds
    assert file.read() == PendingWrite(None)
    file.close()
    file.close()


@pytest.mark.parametrize("line", [b"+", b'+["refs/heads/a", "ne', b"+null\nrest"])
def test_a_truncated_line_names_no_lane(tmp_path: Path, file: PendingWriteFile, line: bytes) -> None:
    (tmp_path / "pending").write_bytes(line)
    assert file.read() == PendingWrite(None)


def test_only_its_owner_can_read_the_file_and_it_is_opened_once(
    tmp_path: Path, file: PendingWriteFile
) -> None:
    file.begin(None)
    opened = file._descriptor
    assert opened is not None
    assert (tmp_path / "pending").stat().st_mode & 0o777 == 0o600
    file.end()
    assert file._descriptor == opened
    file.close()
    assert file._descriptor is None


@dataclass
class Refs:
    values: dict[str, str] = field(default_factory=dict)
    updates: list[tuple[object, ...]] = field(default_factory=list)

    def read(self, ref: str) -> str | None:
        return self.values.get(ref)

    def update(self, *update: object) -> None:
        self.updates.append(update)


class Crashed:
    """A repository in which a writer died. `recorded`: the timeline has the record whose lane was to move."""

    def __init__(self, root: Path, *, recorded: bool, records: bool = True) -> None:
        self.root, self.refs = root, Refs()
        (root / "own").mkdir()
        for name in ("own/index.lock", "own/index-2.lock", "own/other.lock", "time.lock", "user.lock"):
            (root / name).touch()
        (root / "objects/info").mkdir(parents=True)
        (root / "objects/info/alternates.lock").touch()
        (root / "refs/heads/chorus").mkdir(parents=True)
        (root / "refs/heads/chorus/x.lock").touch()
        record = SimpleNamespace(record=SimpleNamespace(action="toolu_1"))
        timeline = SimpleNamespace(
            ref="time",
            records=[record] if records else [],
            find_commit=lambda commit: record if recorded and commit == "new" else None,
        )
        repository = SimpleNamespace(own_dir=root / "own", common_dir=root)
        workspace: Any = SimpleNamespace(repository=repository, refs=self.refs)
        self.recovery = CrashRecovery(cast(Workspace, workspace), cast(Timeline, timeline))
        self.file = PendingWriteFile(root / "own/pending")

    def locks(self) -> set[str]:
        return {str(lock.relative_to(self.root)) for lock in self.root.rglob("*.lock")}

    def close(self) -> None:
        self.recovery.close()
        self.file.close()


def test_a_lane_whose_record_was_written_is_moved(tmp_path: Path) -> None:
    crashed = Crashed(tmp_path, recorded=True)
    crashed.refs.values = {MOVE.ref: "old"}
    crashed.file.begin(MOVE)
    assert crashed.recovery.is_needed
    crashed.recovery.recover()
    assert crashed.refs.updates == [(MOVE.ref, "new", "old", "finish toolu_1")]
    assert crashed.locks() == {"own/other.lock", "user.lock", "objects/info/alternates.lock"}
    assert crashed.file.read() is None
    assert not crashed.recovery.is_needed
    crashed.close()


@pytest.mark.parametrize(
    ("recorded", "value"), [(False, "old"), (True, None), (True, "new"), (True, "another")]
)
def test_a_lane_is_left_alone_if_its_record_is_missing_or_it_has_moved(
    tmp_path: Path, recorded: bool, value: str | None
) -> None:
    crashed = Crashed(tmp_path, recorded=recorded)
    crashed.refs.values = {MOVE.ref: value} if value else {}
    crashed.file.begin(MOVE)
    crashed.recovery.recover()
    assert crashed.refs.updates == []
    assert crashed.file.read() is None
    crashed.close()


def test_without_a_pending_write_only_the_locks_of_the_index_are_removed(tmp_path: Path) -> None:
    crashed = Crashed(tmp_path, recorded=True)
    before = crashed.locks()
    crashed.recovery.recover()
    assert crashed.locks() == before - {"own/index.lock", "own/index-2.lock"}
    assert not crashed.recovery.is_needed
    crashed.close()


def test_a_timeline_that_was_being_started_leaves_a_lock_on_the_alternates(tmp_path: Path) -> None:
    crashed = Crashed(tmp_path, recorded=False, records=False)
    crashed.file.begin(None)
    crashed.recovery.recover()
    assert crashed.locks() == {"own/other.lock", "user.lock", "refs/heads/chorus/x.lock"}
    assert crashed.refs.updates == []
    crashed.close()


def test_a_guarded_write_that_fails_has_to_be_recovered(tmp_path: Path) -> None:
    crashed = Crashed(tmp_path, recorded=True)
    with pytest.raises(KeyboardInterrupt), crashed.recovery.guard(MOVE):
        raise KeyboardInterrupt
    assert crashed.recovery.is_needed
    assert crashed.file.read() == PendingWrite(MOVE)
    with crashed.recovery.guard():
        assert crashed.file.read() == PendingWrite(None)
        assert crashed.recovery.is_needed
    assert crashed.file.read() is None
    assert not crashed.recovery.is_needed
    crashed.close()
