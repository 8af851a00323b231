"""Records that are packed are the same as before."""

import pytest

from chorus.history.records import Edit, LaneCommit, Record, RecordKind
from chorus.history.timeline.record_list import CHUNK, MIN_UNPACKED, RecordList
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.ids import LaneName, Oid, RepoPath, ToolUseId
from chorus.store.objects.tree_object import TreeEntry

COUNT = MIN_UNPACKED + 5 * CHUNK + 3


def recorded(number: int) -> TimelineCommit:
    oid = Oid(f"{number:040x}")
    edit = Edit(RepoPath(f"directory/f{number % 7}.py"), None, TreeEntry(0o100644, oid))
    lane = LaneCommit(LaneName("chorus/main"), "refs/heads/main", None, oid)
    record = Record(
        RecordKind.ACTION,
        f"edit {number}",
        (edit,),
        number=number,
        action=ToolUseId(f"t{number}"),
        lane_commit=lane,
    )
    return TimelineCommit(oid, oid, number, record)


@pytest.fixture(scope="module")
def both() -> tuple[RecordList, list[TimelineCommit]]:
    plain, packed = [recorded(number) for number in range(COUNT)], RecordList()
    for one in plain:
        packed.append(one)
    assert packed._chunks
    return packed, plain


def test_all_are_there_in_order(both: tuple[RecordList, list[TimelineCommit]]) -> None:
    packed, plain = both
    assert len(packed) == len(plain)
    assert list(packed) == plain
    assert list(reversed(packed)) == plain[::-1]


@pytest.mark.parametrize("index", [0, 1, CHUNK - 1, CHUNK, COUNT // 2, COUNT - 1, -1, -COUNT])
def test_each_is_found_by_its_position(both: tuple[RecordList, list[TimelineCommit]], index: int) -> None:
    packed, plain = both
    assert packed[index] == plain[index]


@pytest.mark.parametrize(
    "part", [slice(None, -1), slice(CHUNK - 2, CHUNK + 2), slice(COUNT, None), slice(-5, None)]
)
def test_a_part_is_a_list(both: tuple[RecordList, list[TimelineCommit]], part: slice) -> None:
    packed, plain = both
    assert packed[part] == plain[part]


@pytest.mark.parametrize("index", [COUNT, -COUNT - 1])
def test_an_index_out_of_range_is_an_error(both: tuple[RecordList, list[TimelineCommit]], index: int) -> None:
    with pytest.raises(IndexError):
        both[0][index]


def test_an_empty_list_is_false() -> None:
    assert not RecordList()
