"""The change of a lane's tree: modes, whole files, and files that are in the way."""

from collections.abc import Callable

import pytest

from chorus.history.lanes.lane_change import (
    LaneChange,
    in_the_way,
    lane_entry,
    merge_tree_entries,
    plan_lane_change,
)
from chorus.history.recorder import Recorder
from chorus.history.records import Edit
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.trees import TreeEntry
from tests.repos import UserRepo

FILE, PROGRAM, LINK = 0o100644, 0o100755, 0o120000
BASE, OURS, THEIRS, BOTH = b"a\nb\nc\n", b"A\nb\nc\n", b"a\nb\nC\n", b"A\nb\nC\n"

MakeEntry = Callable[[int, bytes], TreeEntry]


@pytest.fixture
def entry(recorder: Recorder) -> MakeEntry:
    return lambda mode, data: TreeEntry(mode, recorder.workspace.store.write_blob(data))


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ((FILE, BASE), (FILE, OURS), (FILE, THEIRS), (FILE, BOTH)),
        ((FILE, BASE), (FILE, OURS), (PROGRAM, THEIRS), (PROGRAM, BOTH)),
        ((FILE, BASE), (PROGRAM, OURS), (FILE, THEIRS), (PROGRAM, BOTH)),
        ((PROGRAM, BASE), (FILE, OURS), (PROGRAM, THEIRS), (FILE, BOTH)),
        ((FILE, BASE), (FILE, OURS), (PROGRAM, BASE), (PROGRAM, OURS)),
        ((FILE, BASE), (PROGRAM, OURS), (FILE, BASE), (PROGRAM, OURS)),
        ((FILE, BASE), (PROGRAM, BASE), (FILE, THEIRS), (PROGRAM, THEIRS)),
        ((FILE, BASE), (FILE, THEIRS), (PROGRAM, THEIRS), (PROGRAM, THEIRS)),
        ((FILE, b"\0a"), (FILE, b"\0a"), (FILE, b"\0b"), (FILE, b"\0b")),
        ((FILE, BASE), (FILE, b"x\nb\nc\n"), (FILE, b"y\nb\nc\n"), None),
        ((LINK, b"a"), (LINK, b"b"), (LINK, b"a"), None),
        ((FILE, BASE), (FILE, OURS), (LINK, b"a"), None),
        ((FILE, BASE), (LINK, b"a"), (FILE, THEIRS), None),
        (None, (FILE, OURS), (FILE, THEIRS), None),
        ((FILE, BASE), None, (FILE, THEIRS), None),
        ((FILE, BASE), (FILE, OURS), None, None),
    ],
)
def test_content_and_mode_are_merged_apart(
    recorder: Recorder,
    entry: MakeEntry,
    *,
    base: tuple[int, bytes] | None,
    ours: tuple[int, bytes] | None,
    theirs: tuple[int, bytes] | None,
    merged: tuple[int, bytes] | None,
) -> None:
    old, mine, new = (None if side is None else entry(*side) for side in (base, ours, theirs))
    found = merge_tree_entries(recorder.workspace, old, mine, new)
    assert found == (None if merged is None else entry(*merged))


@pytest.mark.parametrize(
    ("order", "merged"),
    [
        (None, b"a\nours\ntheirs\nb\n"),
        ((FILE, b"a\nours\ntheirs\nb\n"), b"a\nours\ntheirs\nb\n"),
        ((PROGRAM, b"a\ntheirs\nours\nb\n"), b"a\ntheirs\nours\nb\n"),
        ((LINK, b"a"), b"a\nours\ntheirs\nb\n"),
    ],
)
def test_lines_inserted_at_one_point_get_the_order_of_a_given_version(
    recorder: Recorder, entry: MakeEntry, order: tuple[int, bytes] | None, merged: bytes
) -> None:
    base, ours, theirs = (entry(FILE, data) for data in (b"a\nb\n", b"a\nours\nb\n", b"a\ntheirs\nb\n"))
    shown = None if order is None else entry(*order)
    assert merge_tree_entries(recorder.workspace, base, ours, theirs, order=shown) == entry(FILE, merged)


def plan(recorder: Recorder, tree: Oid | None, *edits: Edit) -> LaneChange:
    return plan_lane_change(recorder.workspace, tree, edits, lambda _: dict)


@pytest.fixture
def tree(recorder: Recorder, entry: MakeEntry) -> Oid:
    """The lane's tree: a file, a link, binary content, and two directories."""
    entries = {
        RepoPath("n.txt"): entry(FILE, BASE),
        RepoPath("link"): entry(LINK, b"there"),
        RepoPath("image"): entry(FILE, b"\0one"),
        RepoPath("dir/a"): entry(FILE, b"a\n"),
        RepoPath("dir/sub/b"): entry(FILE, b"b\n"),
    }
    return recorder.workspace.splice(None, entries)


def test_an_edit_that_changes_nothing_is_left_out(recorder: Recorder, entry: MakeEntry, tree: Oid) -> None:
    same = entry(FILE, THEIRS)
    assert plan(recorder, tree, Edit(RepoPath("n.txt"), same, same)) == LaneChange()


def test_a_mode_that_the_lane_changed_stays(recorder: Recorder, entry: MakeEntry, tree: Oid) -> None:
    path = RepoPath("n.txt")
    executable = recorder.workspace.splice(tree, {path: entry(PROGRAM, OURS)})
    found = plan(recorder, executable, Edit(path, entry(FILE, BASE), entry(FILE, THEIRS)))
    assert found.changes == {path: entry(PROGRAM, BOTH)}
    ours = recorder.workspace.splice(tree, {path: entry(FILE, OURS)})
    found = plan(recorder, ours, Edit(path, entry(FILE, BASE), entry(PROGRAM, THEIRS)))
    assert found.changes == {path: entry(PROGRAM, BOTH)}
    assert found.context == {}


def test_the_lines_of_others_that_an_edit_changes_are_context_with_their_numbers(
    recorder: Recorder, entry: MakeEntry, tree: Oid
) -> None:
    path = RepoPath("n.txt")
    edit = Edit(path, entry(FILE, b"a\nmine\nalso\n"), entry(FILE, b"a\ntheirs\nother\n"))
    found = plan(recorder, tree, edit)
    assert found.context == {path: entry(FILE, b"a\nmine\nalso\n")}
    assert found.changes == {path: entry(FILE, b"a\ntheirs\nother\n")}
    assert found.lines == {path: (2, 3)}


@pytest.mark.parametrize(
    ("path", "before", "after", "context", "changes"),
    [
        ("image", (FILE, b"\0two"), (FILE, b"\0three"), True, True),
        ("image", (FILE, b"\0two"), (FILE, b"\0one"), False, False),
        ("link", (LINK, b"other"), (LINK, b"third"), True, True),
        ("link", (LINK, b"other"), (LINK, b"there"), False, False),
        ("new", (FILE, b"mine\n"), (FILE, b"theirs\n"), True, True),
        ("new", (FILE, b"mine\n"), None, True, True),
        ("image", (FILE, b"\0two"), None, True, True),
    ],
)
def test_a_file_without_common_lines_is_placed_whole(
    recorder: Recorder,
    entry: MakeEntry,
    tree: Oid,
    *,
    path: str,
    before: tuple[int, bytes],
    after: tuple[int, bytes] | None,
    context: bool,
    changes: bool,
) -> None:
    name = RepoPath(path)
    old, new = entry(*before), None if after is None else entry(*after)
    found = plan(recorder, tree, Edit(name, old, new))
    assert found.context == ({name: old} if context else {})
    assert found.changes == ({name: new} if changes else {})
    assert found.lines == {}


@pytest.mark.parametrize(
    ("path", "removed", "found"),
    [
        ("n.txt/x", (), ["n.txt"]),
        ("n.txt/deep/x", (), ["n.txt"]),
        ("n.txt/x", ("n.txt",), []),
        ("dir", (), ["dir/a", "dir/sub/b"]),
        ("dir", ("dir/a",), ["dir/sub/b"]),
        ("dir/sub", (), ["dir/sub/b"]),
        ("dir/c", (), []),
        ("other/x", (), []),
        ("n.txt", (), []),
    ],
)
def test_files_that_block_a_path_are_found_above_and_below_it(
    recorder: Recorder, tree: Oid, path: str, removed: tuple[str, ...], found: list[str]
) -> None:
    change = LaneChange(changes=dict.fromkeys(map(RepoPath, removed), None))
    assert sorted(in_the_way(recorder.workspace, tree, RepoPath(path), change)) == found


def test_a_new_file_removes_what_blocks_it_first(recorder: Recorder, entry: MakeEntry, tree: Oid) -> None:
    path = RepoPath("dir")
    found = plan(recorder, tree, Edit(path, None, entry(FILE, b"x\n")))
    assert found.context == {"dir/a": None, "dir/sub/b": None}
    assert found.changes == {path: entry(FILE, b"x\n")}


def test_a_directory_is_no_file(recorder: Recorder, entry: MakeEntry, tree: Oid, repo: UserRepo) -> None:
    assert lane_entry(recorder.workspace, tree, RepoPath("dir")) is None
    assert lane_entry(recorder.workspace, tree, RepoPath("dir/a")) == entry(FILE, b"a\n")
    assert lane_entry(recorder.workspace, None, RepoPath("dir/a")) is None
