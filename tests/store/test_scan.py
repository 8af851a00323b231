"""Scanning: every change is found, the same whether its path is known or not, and nothing is touched."""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chorus.model.ids import Oid, RepoPath
from chorus.store.worktree.file_state import SkipReason
from chorus.store.worktree.scan import ScanResult
from tests.repos import UserRepo
from tests.store.open_store import OpenStore

known_or_not = pytest.mark.parametrize("known", [True, False], ids=["path known", "path not known"])


@pytest.fixture
def tree(opened: OpenStore) -> Oid:
    return opened.scanner.baseline()[0]


def kinds(scan: ScanResult) -> dict[str, str]:
    """A(dded), M(odified) or D(eleted), by path."""
    letters = {(True, False): "D", (False, True): "A", (True, True): "M"}
    return {c.path: letters[c.before is not None, c.after is not None] for c in scan.changes}


def reasons(scan: ScanResult) -> dict[str, SkipReason]:
    return {omitted.path: omitted.why for omitted in scan.omitted}


def test_the_baseline_is_the_work_tree_byte_for_byte(opened: OpenStore) -> None:
    before = opened.repo.fingerprint()

    tree, _ = opened.scanner.baseline()

    assert opened.contents(tree) == opened.on_disk()
    assert opened.repo.fingerprint() == before
    assert opened.repo.fsck() == ""


def test_an_unchanged_work_tree_has_no_changes(opened: OpenStore, tree: Oid) -> None:
    assert opened.scanner.changed(tree) == ScanResult((), ())
    assert opened.scanner.changed(tree, [RepoPath("app.py"), RepoPath("src")]) == ScanResult((), ())


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[Path], object]
    paths: tuple[str, ...]
    found: dict[str, str]


def to_directory(root: Path) -> None:
    (root / "app.py").unlink()
    (root / "app.py").mkdir()
    (root / "app.py/x").write_bytes(b"1")


def to_file(root: Path) -> None:
    shutil.rmtree(root / "src")
    (root / "src").write_bytes(b"1")


def to_link(root: Path) -> None:
    shutil.rmtree(root / "src")
    (root / "src").symlink_to("/etc")


def link_to_file(root: Path) -> None:
    (root / "link").unlink()
    (root / "link").write_bytes(b"app.py")


def make_file(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(b"")


SRC_GONE = {"src/main.py": "D", "src/deep/er/file.txt": "D"}
SCRATCH = "a.py.tmp.123.0123456789ab"
CASES = [
    Case("bytes", lambda r: (r / "app.py").write_bytes(b"z\n"), ("app.py",), {"app.py": "M"}),
    Case("a new file", lambda r: make_file(r, "new/dir/x"), ("new/dir/x",), {"new/dir/x": "A"}),
    Case("deleted", lambda r: (r / "app.py").unlink(), ("app.py",), {"app.py": "D"}),
    Case("mode only", lambda r: (r / "app.py").chmod(0o755), ("app.py",), {"app.py": "M"}),
    Case("a directory deleted", lambda r: shutil.rmtree(r / "src"), ("src",), SRC_GONE),
    Case(
        "renamed in case only",
        lambda r: (r / "app.py").rename(r / "App.py"),
        ("app.py", "App.py"),
        {"app.py": "D", "App.py": "A"},
    ),
    Case("file to directory", to_directory, ("app.py",), {"app.py": "D", "app.py/x": "A"}),
    Case("directory to file", to_file, ("src",), {"src": "A"} | SRC_GONE),
    Case("directory to link", to_link, ("src",), {"src": "A"} | SRC_GONE),
    Case("link to file", link_to_file, ("link",), {"link": "M"}),
    Case("ignored", lambda r: (r / "debug.log").write_bytes(b"m"), ("debug.log",), {}),
    Case("in an ignored directory", lambda r: make_file(r, "build/o"), ("build", "build/o"), {}),
    Case("a scratch file", lambda r: make_file(r, SCRATCH), (SCRATCH,), {}),
    Case("a pipe", lambda r: os.mkfifo(r / "pipe"), ("pipe",), {}),
    Case(
        "a directory copied",
        lambda r: shutil.copytree(r / "src", r / "copy"),
        ("copy",),
        {"copy/main.py": "A", "copy/deep/er/file.txt": "A"},
    ),
]


@known_or_not
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_is_found(opened: OpenStore, tree: Oid, case: Case, known: bool) -> None:
    case.make(opened.repo.path)
    before = opened.repo.fingerprint()

    scan = opened.scanner.changed(tree, map(RepoPath, case.paths) if known else None)

    assert kinds(scan) == case.found
    assert opened.repo.fingerprint() == before


def test_skipped_paths_are_reported_with_their_reason(opened: OpenStore, tree: Oid) -> None:
    os.mkfifo(opened.repo.path / "pipe")
    (opened.repo.path / "elsewhere").symlink_to("/etc")
    names = ["debug.log", "pipe", "elsewhere/passwd", ".git/config", "../x", SCRATCH]

    scan = opened.scanner.changed(tree, map(RepoPath, names))

    assert kinds(scan) == {}
    assert reasons(scan) == {
        "debug.log": SkipReason.IGNORED,
        "pipe": SkipReason.SPECIAL,
        "elsewhere/passwd": SkipReason.BEHIND_LINK,
        ".git/config": SkipReason.GIT_DIR,
        "../x": SkipReason.OUTSIDE,
        SCRATCH: SkipReason.SCRATCH,
    }


@known_or_not
def test_a_nested_repository_is_skipped_and_reported(
    opened: OpenStore, template_repo: Path, tree: Oid, known: bool
) -> None:
    UserRepo.copy(template_repo, opened.repo.path / "inner")

    scan = opened.scanner.changed(tree, [RepoPath("inner/app.py")] if known else None)

    assert kinds(scan) == {}
    assert reasons(scan) == {"inner/app.py" if known else "inner": SkipReason.NESTED}


def test_a_submodule_is_not_entered_and_not_taken_for_deleted(opened: OpenStore) -> None:
    repo = opened.repo
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.path), "sub")
    repo.git("commit", "-qm", "sub")
    tree, first = opened.scanner.baseline()
    repo.write("sub/app.py", b"changed inside\n")

    assert reasons(first) == {"sub": SkipReason.NESTED}
    assert kinds(opened.scanner.changed(tree)) == {}
    assert kinds(opened.scanner.changed(tree, [RepoPath("sub"), RepoPath("sub/app.py")])) == {}
    # The user's own tree has the submodule; that it is no file here does not delete it.
    head = opened.store.read_commit(Oid(repo.git("rev-parse", "HEAD").strip())).tree
    assert "sub" not in kinds(opened.scanner.changed(head))


def test_a_tracked_file_is_recorded_although_ignored(opened: OpenStore, tree: Oid) -> None:
    opened.repo.git("add", "-f", "debug.log")

    assert kinds(opened.scanner.changed(tree)) == {"debug.log": "A"}
    assert kinds(opened.scanner.changed(tree, [RepoPath("debug.log")])) == {"debug.log": "A"}


def test_a_file_is_skipped_once_it_is_ignored(opened: OpenStore, tree: Oid) -> None:
    opened.scanner.changed(tree, [RepoPath("notes.txt")])
    opened.repo.write("notes.txt", b"secret\n")
    opened.repo.write(".gitignore", b"*.log\n.env\nbuild/\nnotes.txt\n")

    assert kinds(opened.scanner.changed(tree)) == {".gitignore": "M"}
    assert kinds(opened.scanner.changed(tree, [RepoPath("notes.txt")])) == {}


def test_a_change_of_equal_size_in_the_same_tick_is_found(opened: OpenStore, tree: Oid) -> None:
    place = opened.repo.path / "app.py"
    for number in range(50):
        place.write_bytes(b"x = %04d\n" % number)
        (change,) = opened.scanner.changed(tree, [RepoPath("app.py")]).changes
        place.write_bytes(b"y = %04d\n" % number)
        (again,) = opened.scanner.changed(tree, [RepoPath("app.py")]).changes
        assert change.after != again.after


def test_a_stamp_is_trusted_only_once_it_has_aged(opened: OpenStore, tree: Oid) -> None:
    path = RepoPath("app.py")
    opened.repo.write(path, b"fresh\n")
    opened.scanner.changed(tree, [path])
    assert opened.scanner._comparer.known(path) is None

    wait_until(opened.repo.path.joinpath(path).stat().st_ctime + 0.2)
    opened.scanner.changed(tree, [path])
    assert opened.scanner._comparer.known(path) is not None


@known_or_not
def test_a_change_that_keeps_size_and_modification_time_is_found(
    opened: OpenStore, tree: Oid, known: bool
) -> None:
    place = opened.repo.path / "src/deep/er/file.txt"
    wait_until(int(place.stat().st_ctime) + 2)
    change_secretly(place)

    scan = opened.scanner.changed(tree, [RepoPath("src/deep/er/file.txt")] if known else None)

    assert kinds(scan) == {"src/deep/er/file.txt": "M"}


def test_a_change_in_the_second_of_the_users_git_add_is_found(opened: OpenStore) -> None:
    """Stamps of whole seconds do not show the change."""
    place = opened.repo.path / "app.py"
    in_one_second(place, lambda: opened.repo.git("add", "app.py"))
    wait_until(int(place.stat().st_ctime) + 1)

    tree, _ = opened.scanner.baseline()

    assert opened.contents(tree) == opened.on_disk()


def test_a_change_between_a_scan_and_its_end_is_found(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The private index is written in another second than the file was, twice."""
    monkeypatch.setattr("chorus.store.worktree.scan.MIN_UPDATE", 0)
    place = opened.repo.path / "app.py"
    update = opened.scanner._update_index

    def change_and_fold(*arguments: Any) -> None:
        change_secretly(place)
        wait_until(int(place.stat().st_ctime) + 1)
        update(*arguments)

    monkeypatch.setattr(opened.scanner, "_update_index", change_and_fold)
    wait_until(int(time.time()) + 1)
    place.write_bytes(b"written\n")
    wait_until(time.time() + 0.2)  # until its stamp is trusted
    tree, _ = opened.scanner.baseline()
    monkeypatch.undo()

    assert opened.contents(tree)["app.py"] == (0o100644, b"written\n")
    assert kinds(opened.scanner.changed(tree)) == {"app.py": "M"}


def in_one_second(place: Path, between: Callable[[], object]) -> None:
    """Write a file, do something, change the file; again until all fell into one second of the clock."""
    for _ in range(20):
        wait_until(int(time.time()) + 1)
        place.write_bytes(b"written\n")
        second = int(place.stat().st_ctime)
        between()
        change_secretly(place)
        if int(place.stat().st_ctime) == second:
            return
    pytest.skip("this machine is too slow to do this within a second")


def change_secretly(place: Path) -> None:
    """Other bytes, as many, and the modification time put back."""
    state = place.stat()
    place.write_bytes(place.read_bytes().swapcase())
    os.utime(place, ns=(state.st_atime_ns, state.st_mtime_ns))


def wait_until(seconds: float) -> None:
    """Stamps differ by the clock, so the test waits for the clock."""
    while time.time() < seconds:
        time.sleep(0.01)


def test_the_private_index_is_updated_after_a_scan(opened: OpenStore, tree: Oid) -> None:
    for number in range(200):
        opened.repo.write(f"many/{number}.txt", b"%d\n" % number)
    scan = opened.scanner.changed(tree)
    after = opened.trees.splice(tree, {change.path: change.after for change in scan.changes})

    assert len(scan.changes) == 200
    assert opened.scanner.changed(after) == ScanResult((), ())
    opened.repo.write("many/7.txt", b"seven\n")
    (opened.repo.path / "many/8.txt").unlink()
    assert kinds(opened.scanner.changed(after)) == {"many/7.txt": "M", "many/8.txt": "D"}
    # Seen from the older tree, everything new is still new.
    assert len(opened.scanner.changed(tree).changes) == 199


def test_a_lost_or_damaged_private_index_is_rebuilt(opened: OpenStore, tree: Oid) -> None:
    opened.repo.write("app.py", b"z = 3\n")
    index = opened.repo.path / ".git/chorus/index"
    for damage in (b"", b"rubbish", index.read_bytes()[:-5]):
        index.write_bytes(damage)
        assert kinds(opened.scanner.changed(tree)) == {"app.py": "M"}
    index.unlink()
    assert kinds(opened.scanner.changed(tree)) == {"app.py": "M"}


@pytest.mark.parametrize(
    "settings",
    [
        ("index.version=4",),
        ("core.splitIndex=true",),
        ("core.untrackedCache=true",),
        ("core.trustctime=false", "core.checkStat=minimal"),
        ("core.fileMode=false",),
    ],
    ids=str,
)
def test_every_format_of_the_users_index_is_supported(opened: OpenStore, settings: tuple[str, ...]) -> None:
    repo = opened.repo
    for setting in settings:
        repo.git("config", *setting.split("="))
    repo.write("third.py", b"3\n")
    repo.git("add", "third.py")
    repo.git("update-index", "--assume-unchanged", "app.py")
    repo.git("add", "-N", "notes.txt")
    repo.write("app.py", b"quietly\n")
    before = repo.fingerprint()

    tree, _ = opened.scanner.baseline()

    assert opened.contents(tree) == opened.on_disk()
    assert repo.fingerprint() == before
    assert repo.fsck() == ""


def test_without_file_modes_the_recorded_mode_stays(repo: UserRepo) -> None:
    repo.git("config", "core.fileMode", "false")
    with OpenStore.open(repo) as opened:
        tree, _ = opened.scanner.baseline()
        (repo.path / "run.sh").chmod(0o644)
        (repo.path / "app.py").chmod(0o755)

        assert kinds(opened.scanner.changed(tree, [RepoPath("run.sh"), RepoPath("app.py")])) == {}


def test_files_in_conflict_are_recorded(opened: OpenStore) -> None:
    repo = opened.repo
    repo.git("reset", "-q", "--hard")
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("theirs", **{"app.py": b"theirs\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("ours", **{"app.py": b"ours\n"})
    with pytest.raises(AssertionError):
        repo.git("merge", "side")

    tree, _ = opened.scanner.baseline()

    assert opened.contents(tree) == opened.on_disk()


def test_a_sparse_checkout_is_recorded_as_far_as_it_is_checked_out(opened: OpenStore) -> None:
    repo = opened.repo
    repo.git("reset", "-q", "--hard")
    repo.commit("more", **{"other/a.txt": b"a\n", "other/b.txt": b"b\n"})
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "src/deep")

    tree, _ = opened.scanner.baseline()
    repo.write("src/deep/er/file.txt", b"inside\n")
    repo.write("other/a.txt", b"outside\n")

    assert not {path for path in opened.contents(tree) if path.startswith("other/")}
    assert kinds(opened.scanner.changed(tree)) == {"other/a.txt": "A", "src/deep/er/file.txt": "M"}


def test_an_empty_repository_has_an_empty_baseline(new_repo: UserRepo) -> None:
    with OpenStore.open(new_repo) as opened:
        tree, _ = opened.scanner.baseline()
        new_repo.write("first.py", b"1\n")

        assert opened.contents(tree) == {}
        assert kinds(opened.scanner.changed(tree)) == {"first.py": "A"}


NAMES = [
    b"two\nlines", b'quo"te', b"-dash", b":colon", b":(top)x", b"not \xff utf-8", b"sp ace/in side", b"*",
    b"tab\t", b"\\", b"100644 x", b"!bang", b"#hash",
]  # fmt: skip


# What git itself refuses to add, each as a file and as a directory's name.
REFUSED = [
    b".git ", b".git.", b".GIT .", b"git~1", b"GIT~1", b".git::$DATA", b".git\\x", "\u200c.git".encode(),
    ".g\u200dit".encode(), ".GI\ufeffT".encode(),
]  # fmt: skip


@known_or_not
def test_names_that_git_refuses_are_skipped_and_reported(opened: OpenStore, tree: Oid, known: bool) -> None:
    names = [RepoPath(os.fsdecode(name)) for name in REFUSED]
    for name in names:
        opened.repo.write(name, b"x")
        with pytest.raises(AssertionError):
            opened.repo.git("-c", "core.protectHFS=true", "--literal-pathspecs", "add", "--", name)
    (opened.repo.path / ".gitmodules").symlink_to("app.py")
    names.append(RepoPath(".gitmodules"))

    scan = opened.scanner.changed(tree, names if known else None)

    assert kinds(scan) == {}
    assert reasons(scan) == dict.fromkeys(names, SkipReason.NAME)


def test_many_files_are_read_in_batches(
    opened: OpenStore, tree: Oid, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chorus.store.worktree.comparison.MAX_BATCH_FILES", 7)
    monkeypatch.setattr("chorus.store.worktree.comparison.MAX_BATCH_BYTES", 100)
    for number in range(50):
        opened.repo.write(f"many/{number}", b"x" * number)

    assert len(opened.scanner.changed(tree).changes) == 50


@known_or_not
def test_any_file_name_is_supported(opened: OpenStore, tree: Oid, known: bool) -> None:
    names = [RepoPath(os.fsdecode(name)) for name in NAMES]
    for name in names:
        opened.repo.write(name, os.fsencode(name))

    scan = opened.scanner.changed(tree, names if known else None)

    assert kinds(scan) == dict.fromkeys(names, "A")
    after = opened.trees.splice(tree, {change.path: change.after for change in scan.changes})
    assert opened.contents(after) == opened.on_disk()
    assert opened.repo.fsck() == ""
