"""The work tree: nothing leads the reader astray, nothing is written by halves."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from chorus.model.ids import RepoPath
from chorus.store.lock_file import CannotWrite
from chorus.store.objects.tree_object import EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE
from chorus.store.worktree.file_state import Absent, File, FileState, Skipped, SkipReason
from chorus.store.worktree.scratch_names import is_scratch
from chorus.store.worktree.spelling import Spelling
from chorus.store.worktree.staged_file import CannotReplace
from chorus.store.worktree.work_tree import READ_ATTEMPTS, WorkTree, read_all
from chorus.system.socket_path import short_path

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    root = tmp_path / "tree"
    root.mkdir()
    return WorkTree(root, cap_bytes=1000)


def read(tree: WorkTree, path: str) -> FileState:
    return tree.read_file(RepoPath(path))


def make(tree: WorkTree, path: str, data: bytes = b"data") -> Path:
    place = tree.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def names(tree: WorkTree) -> set[str]:
    return {str(path.relative_to(tree.root)) for path in tree.root.rglob("*")}


def test_files_and_links_are_read_as_git_sees_them(tree: WorkTree) -> None:
    make(tree, "a/plain")
    make(tree, "a/run").chmod(0o744)
    (tree.root / "a/link").symlink_to("../elsewhere")
    found = [read(tree, f"a/{name}") for name in ("plain", "run", "link", "none")]

    assert [(f.mode, f.data) for f in found if isinstance(f, File)] == [
        (FILE_MODE, b"data"),
        (EXECUTABLE_MODE, b"data"),
        (SYMLINK_MODE, b"../elsewhere"),
    ]
    assert found[3] == Absent()


@pytest.mark.parametrize(
    ("path", "state"),
    [
        ("outside/secret", Absent(SkipReason.BEHIND_LINK)),
        ("inside/file", Absent(SkipReason.BEHIND_LINK)),
        ("dangling/x", Absent(SkipReason.BEHIND_LINK)),
        ("file/x", Absent()),
        ("none/x", Absent()),
        ("real", Absent(SkipReason.DIRECTORY)),
        ("../tree/file", Skipped(SkipReason.OUTSIDE)),
        ("/etc/passwd", Skipped(SkipReason.OUTSIDE)),
        ("real//file", Skipped(SkipReason.OUTSIDE)),
        ("./file", Skipped(SkipReason.OUTSIDE)),
        ("", Skipped(SkipReason.OUTSIDE)),
        ("nul\0byte", Skipped(SkipReason.OUTSIDE)),
        (".git/config", Skipped(SkipReason.GIT_DIR)),
        (".GIT/config", Skipped(SkipReason.GIT_DIR)),
        ("nested/file", Skipped(SkipReason.NESTED)),
        ("nested", Skipped(SkipReason.NESTED)),
        ("nested/deeper/file", Skipped(SkipReason.NESTED)),
        ("pipe", Skipped(SkipReason.SPECIAL)),
        ("socket", Skipped(SkipReason.SPECIAL)),
        ("large", Skipped(SkipReason.TOO_LARGE, "1001 bytes")),
        ("file.tmp.1234.0123456789ab", Skipped(SkipReason.SCRATCH)),
        ("/".join("d" * 500), Skipped(SkipReason.UNREADABLE, "too deep")),
    ],
)
def test_paths_outside_the_work_tree_are_not_read(tree: WorkTree, path: str, state: FileState) -> None:
    make(tree, "file")
    make(tree, "real/file")
    make(tree, "nested/deeper/file")
    make(tree, "nested/.git", b"gitdir: elsewhere\n")
    make(tree, "large", b"x" * 1001)
    (tree.root.parent / "secret").write_bytes(b"secret")
    (tree.root / "outside").symlink_to(tree.root.parent)
    (tree.root / "inside").symlink_to("real")
    (tree.root / "dangling").symlink_to("nowhere")
    os.mkfifo(tree.root / "pipe")
    with socket.socket(socket.AF_UNIX) as server, short_path(tree.root / "socket") as short:
        server.bind(short)

        assert read(tree, path) == state


def test_a_parent_swapped_for_a_link_is_never_followed(tree: WorkTree) -> None:
    """A directory and a link out of the tree trade places while the path is read, over and over."""
    make(tree, "d/file", b"inside")
    outside = tree.root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"outside")
    (tree.root / "l").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for old, new in (("d", "x"), ("l", "d"), ("d", "l"), ("x", "d")):
                (tree.root / old).rename(tree.root / new)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen = {read_bytes(tree, "d/file") for _ in range(3000)}
    finally:
        stop.set()
        swapper.join()

    assert seen <= {b"inside", None}


def read_bytes(tree: WorkTree, path: str) -> bytes | None:
    state = read(tree, path)
    return state.data if isinstance(state, File) else None


@pytest.mark.parametrize("times", [1, 99], ids=["once", "again and again"])
def test_a_file_written_to_while_it_is_read_is_read_again(
    tree: WorkTree, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    place = make(tree, "file", b"before")
    readings: list[bytes] = []

    def read_and_write(descriptor: int, size: int) -> bytes:
        data = read_all(descriptor, size)
        if len(readings) < times:
            place.write_bytes(b"after %d" % len(readings))
        readings.append(data)
        return data

    monkeypatch.setattr("chorus.store.worktree.work_tree.read_all", read_and_write)

    assert read_bytes(tree, "file") == (b"after 0" if times == 1 else None)
    assert len(readings) == (2 if times == 1 else READ_ATTEMPTS)


def test_the_clients_temporary_files_are_recognised_by_name() -> None:
    assert is_scratch(RepoPath("a/b.py.tmp.31337.0123456789ab"))
    assert is_scratch(RepoPath(".chorus-12-3.tmp"))
    assert not is_scratch(RepoPath("a/b.tmp"))
    assert not is_scratch(RepoPath("b.py.tmp.31337.0123456789AB"))
    assert not is_scratch(RepoPath("x.tmp.1.0123456789ab/inside"))


def test_an_unreadable_file_is_reported() -> None:
    """As a user without rights: root may read anything."""
    code = (
        "import os, sys; from pathlib import Path; from chorus.store.worktree.work_tree import WorkTree\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "tree = WorkTree(Path(sys.argv[1]))\n"
        "print(tree.read_file('file').why.name, tree.read_file('closed/x').why.name)"
    )
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        (Path(place) / "file").touch(mode=0)
        (Path(place) / "closed").mkdir(mode=0)
        done = subprocess.run([sys.executable, "-c", code, place], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["UNREADABLE", "UNREADABLE"], done.stderr


def test_on_a_case_insensitive_file_system_the_stored_name_counts(tree: WorkTree) -> None:
    """As far as a case-sensitive file system can show it."""
    loose = WorkTree(tree.root, spelling=Spelling(ignores_case=True))
    make(tree, "d/File")

    assert read_bytes(loose, "d/File") == b"data"
    assert read(loose, "d/none") == Absent()


def test_a_path_is_resolved_like_the_system_does(tree: WorkTree) -> None:
    make(tree, "real/file")
    (tree.root / "alias").symlink_to("real")
    (tree.root / "out").symlink_to(tree.root.parent)
    (tree.root.parent / "door").symlink_to(tree.root)

    located = {
        "real/file": "real/file",
        str(tree.root / "real/file"): "real/file",
        str(tree.root / "real/../real/none"): "real/none",
        str(tree.root.parent / "door/real/file"): "real/file",
        "alias/file": "real/file",
        "alias": "alias",
        "out/other": None,
        "/etc/passwd": None,
        str(tree.root): None,
        "..": None,
    }
    assert {path: tree.locate(path) for path in located} == located


def test_writing_keeps_permissions_and_replaces_whole_files(tree: WorkTree) -> None:
    place = make(tree, "file", b"old")
    place.chmod(0o640)
    inode = place.stat().st_ino

    tree.write_file(RepoPath("file"), FILE_MODE, b"new", read(tree, "file"))
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (b"new", 0o640)
    assert place.stat().st_ino != inode

    tree.write_file(RepoPath("file"), EXECUTABLE_MODE, b"new", read(tree, "file"))
    assert place.stat().st_mode & 0o777 == 0o750

    tree.write_file(RepoPath("file"), FILE_MODE, b"new", read(tree, "file"))
    assert place.stat().st_mode & 0o777 == 0o640


def test_links_files_and_directories_are_created_and_removed(tree: WorkTree) -> None:
    path = RepoPath("a/b/c/file")
    tree.write_file(path, FILE_MODE, b"x", Absent())
    tree.write_file(path, SYMLINK_MODE, b"target", read(tree, path))
    assert (tree.root / path).readlink() == Path("target")

    make(tree, "a/stays")
    tree.delete_file(path, read(tree, path))
    assert names(tree) == {"a", "a/stays"}

    tree.write_file(RepoPath("a/stays"), FILE_MODE, b"", read(tree, "a/stays"))
    tree.delete_file(RepoPath("a/stays"), read(tree, "a/stays"))
    assert names(tree) == set()


def test_a_file_replaces_an_empty_directory_but_not_a_full_one(tree: WorkTree) -> None:
    (tree.root / "empty").mkdir()
    make(tree, "full/file")

    tree.write_file(RepoPath("empty"), FILE_MODE, b"x", Absent())
    with pytest.raises(CannotReplace, match="not empty"):
        tree.write_file(RepoPath("full"), FILE_MODE, b"x", Absent())

    assert names(tree) == {"empty", "full", "full/file"}


def test_a_file_that_changed_meanwhile_is_not_overwritten(tree: WorkTree) -> None:
    place = make(tree, "file", b"seen")
    seen = read(tree, "file")
    place.write_bytes(b"else")

    for path, expected in (("file", seen), ("file", Absent()), ("none", seen), ("new/dir/file", seen)):
        with pytest.raises(CannotReplace):
            tree.write_file(RepoPath(path), FILE_MODE, b"x", expected)
        with pytest.raises(CannotReplace):
            tree.delete_file(RepoPath(path), expected)

    assert place.read_bytes() == b"else"
    assert names(tree) == {"file"}


def test_nothing_is_written_behind_a_link_or_into_a_git_directory(tree: WorkTree) -> None:
    outside = tree.root.parent / "outside"
    outside.mkdir()
    (tree.root / "l").symlink_to(outside)

    for path in ("l/file", ".git/hooks/x", "../x", "l/new/file"):
        with pytest.raises(CannotReplace):
            tree.write_file(RepoPath(path), FILE_MODE, b"x", Absent())

    assert list(outside.iterdir()) == []
    assert names(tree) == {"l"}


def test_a_full_disk_leaves_no_scratch_file(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tree, "file", b"old")
    seen = read(tree, "file")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(CannotWrite, match="No space left"):
        tree.write_file(RepoPath("file"), FILE_MODE, b"x", seen)
    with pytest.raises(CannotWrite, match="No space left"):
        tree.write_file(RepoPath("new/file"), FILE_MODE, b"x", Absent())
    monkeypatch.undo()

    assert names(tree) == {"file"}
    assert (tree.root / "file").read_bytes() == b"old"
