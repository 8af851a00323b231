"""Recording and reverting on disks with other rules, each mounted for real: names, times, links and locks."""

import json
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from chorus.errors import ChorusError
from chorus.history.marks.landings import read_branch_stamp
from chorus.history.workspace import Workspace
from chorus.store.repository import Repository
from chorus.store.worktree import spelling
from chorus.store.worktree.file_state import File
from chorus.system.files.file_lock import NoLocks
from chorus.wire.client import connect
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.imitation.disk import can_mount, mounted
from tests.repos import UserRepo
from tests.waiting import wait_for
from tests.watcher.hook_events import SECONDS, HookEvents, Session

pytestmark = pytest.mark.skipif(not can_mount(), reason="mounting needs root and /dev/fuse")
NFC = "Été.txt"
NFD = unicodedata.normalize("NFD", NFC)


class Disk:
    """A repository on a disk of its own, its watcher, and a session that reports by hooks."""

    def __init__(self, repo: UserRepo) -> None:
        self.path = repo.path
        self.repo = repo
        self.home: Home = find_home(repo.path)

    def start(self) -> Session:
        connect_or_start(self.home).close()
        return Session("s", self.home, self.path)

    def write(self, name: str, path: str, text: str) -> None:
        """A Write call: named as the tool names the file, and written there."""
        place = self.path / path
        event: dict[str, Any] = {
            "session_id": "s",
            "transcript_path": str(self.path.parent / "s.jsonl"),
            "cwd": str(self.path),
            "tool_name": "Write",
            "tool_use_id": name,
            "tool_input": {"file_path": str(place), "content": text},
        }
        hooks = HookEvents(self.home)
        before = place.read_text() if place.exists() else None
        hooks.tell(event | {"hook_event_name": "PreToolUse"})
        place.write_text(text)
        done = {"type": "update", "filePath": str(place), "content": text, "originalFile": before}
        hooks.tell(event | {"hook_event_name": "PostToolUse", "tool_response": done})

    def chorus(self, *arguments: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "chorus", *arguments]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout

    def listed(self) -> list[str]:
        found = [str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.is_file()]
        return sorted(name for name in found if not name.startswith(".git/"))


@pytest.fixture
def on_disk(template_repo: Path, tmp_path: Path) -> Iterator[Callable[..., Disk]]:
    with ExitStack() as ended:

        def create(*options: str) -> Disk:
            place = ended.enter_context(mounted(tmp_path / "disk", *options))
            disk = Disk(UserRepo.copy(template_repo, place / "repo"))
            disk.repo.git("config", "core.ignoreCase", str("folds" in options).lower())
            # The kernel takes another spelling of a directory on this disk for another directory, and inotify
            # reports nothing there. FSEvents reports names as they are on disk.
            disk.repo.git("config", "chorus.fileWatch", "poll")
            ended.callback(stop, disk.home)
            return disk

        yield create


def test_a_file_named_in_other_case_is_recorded_as_it_is_on_disk(on_disk: Callable[..., Disk]) -> None:
    disk = on_disk("folds")
    session = disk.start()
    before = (disk.path / "app.py").read_text()
    disk.write("t1", "APP.py", "x = 2\n")
    disk.write("t2", "SRC/Main.py", "def main():\n    return 7\n")
    disk.write("t3", "Src/new.py", "new\n")
    disk.write("t4", "src/NEW.py", "newer\n")
    assert session.recorded() == [
        ("committed", ["app.py"]),
        ("committed", ["src/main.py"]),
        ("committed", ["src/new.py"]),
        ("committed", ["src/new.py"]),
    ]
    disk.chorus("revert", "1", "2", "4")
    assert (disk.path / "app.py").read_text() == before
    assert (disk.path / "src/new.py").read_text() == "new\n"
    assert "APP.py" not in disk.listed()


def test_a_command_that_writes_two_spellings_changed_one_file(on_disk: Callable[..., Disk]) -> None:
    disk = on_disk("folds")
    session = disk.start()
    before = (disk.path / "src/main.py").read_text()
    session.bash("t1", "echo 1 > Made.txt; echo 2 >> MADE.txt; echo 3 > SRC/main.py; echo 4 > Src/Two.py")
    assert session.recorded() == [("committed", ["Made.txt", "src/Two.py", "src/main.py"])]
    disk.chorus("revert", "1")
    assert not (disk.path / "made.txt").exists()
    assert (disk.path / "src/main.py").read_text() == before


def test_a_rename_that_changes_only_the_case_is_a_change_and_is_reverted(
    on_disk: Callable[..., Disk],
) -> None:
    disk = on_disk("folds")
    session = disk.start()
    before, text = disk.listed(), (disk.path / "app.py").read_text()
    session.bash("t1", 'python3 -c \'import os; os.rename("app.py", "App.py")\'')
    assert session.recorded() == [("committed", ["App.py", "app.py"])]
    assert "App.py" in disk.listed()
    disk.chorus("revert", "1")
    assert disk.listed() == before
    disk.chorus("redo", "1")
    assert "App.py" in disk.listed()
    assert (disk.path / "App.py").read_text() == text


def test_a_directory_renamed_to_another_case_has_one_name_afterwards(on_disk: Callable[..., Disk]) -> None:
    disk = on_disk("folds")
    session = disk.start()
    disk.write("t1", "src/main.py", "one\n")
    (disk.path / "src").rename(disk.path / "SRC")
    disk.write("t2", "SRC/main.py", "two\n")
    assert session.recorded() == [
        ("committed", ["src/main.py"]),
        ("outside", ["SRC/main.py", "src/main.py"]),
        ("committed", ["SRC/main.py"]),
    ]


def test_a_change_of_the_users_in_another_spelling_is_one_outside_change(
    on_disk: Callable[..., Disk],
) -> None:
    disk = on_disk("folds")
    session = disk.start()
    session.bash("t1", "true")
    (disk.path / "SRC/MAIN.py").write_text("by hand\n")
    wait_for(lambda: len(session.recorded()) > 1, what="it is seen", seconds=SECONDS, every=0.05)
    disk.write("t2", "app.py", "x = 3\n")
    recorded = [each for each in session.recorded() if each[0] != "noop"]
    assert recorded == [("outside", ["src/main.py"]), ("committed", ["app.py"])]


def test_names_in_nfd_are_recorded_in_nfc_where_git_composes_them(
    on_disk: Callable[..., Disk], monkeypatch: pytest.MonkeyPatch
) -> None:
    """git composes names on macOS alone, so only what Chorus reads and writes by itself is tried here."""
    monkeypatch.setattr(spelling, "COMPOSES_NAMES", True)
    disk = on_disk("folds", "decomposes")
    disk.repo.git("config", "core.precomposeUnicode", "true")
    (disk.path / NFC).write_text("one\n")
    assert (disk.path / NFD) in disk.path.iterdir()
    workspace = Workspace(Repository.open(disk.path))
    for named in (NFC, NFD, NFC.upper(), NFD.lower()):
        assert workspace.locate(str(disk.path / named)) == NFC
    path = workspace.locate(NFD)
    assert path is not None
    found = workspace.work_tree.read_file(path)
    assert isinstance(found, File)
    workspace.work_tree.write_file(path, 0o100644, b"two\n", found)
    assert (disk.path / NFC).read_text() == "two\n"
    assert [path.name for path in disk.path.iterdir() if not path.name.isascii()] == [NFD]


def test_edits_of_one_size_in_one_second_are_all_recorded_where_times_are_whole_seconds(
    on_disk: Callable[..., Disk],
) -> None:
    disk = on_disk("seconds", "no-links")
    session = disk.start()
    for number in range(4):
        session.bash(f"t{number}", f"printf 'x = {number + 2}\\n' > app.py")
    assert session.recorded() == [("committed", ["app.py"])] * 4
    disk.chorus("revert", "4")
    assert (disk.path / "app.py").read_text() == "x = 4\n"
    disk.chorus("gc")
    checks = json.loads(disk.chorus("doctor", "--deep", "--json", code=4))["checks"]
    assert {check["name"]: check["ok"] for check in checks}.items() >= {
        "history": True,
        "objects": True,
    }.items()


def test_a_branch_that_moves_twice_in_one_second_is_looked_at_twice(on_disk: Callable[..., Disk]) -> None:
    disk = on_disk("seconds")
    git_dir = str(disk.path / ".git")
    seen = set()
    for _ in range(3):
        disk.repo.git("update-ref", "refs/heads/other", "HEAD")
        seen.add(read_branch_stamp(git_dir, git_dir))
        disk.repo.git("update-ref", "-d", "refs/heads/other")
    assert len(seen) == 3


def test_a_disk_without_locks_is_refused_with_a_way_out(on_disk: Callable[..., Disk]) -> None:
    disk = on_disk("no-locks")
    with pytest.raises(ChorusError, match="No locks available") as caught:
        connect_or_start(disk.home).close()
    assert isinstance(caught.value, NoLocks)
    assert "local disk" in str(caught.value.hint)


def test_a_repository_below_a_link_is_one_repository(template_repo: Path, tmp_path: Path) -> None:
    """/tmp is a link on macOS: tools name files through it, and the system by where it leads."""
    (tmp_path / "private").mkdir()
    (tmp_path / "tmp").symlink_to("private")
    repo = UserRepo.copy(template_repo, tmp_path / "tmp/repo")
    linked, real = find_home(repo.path), find_home(tmp_path / "private/repo")
    try:
        connect_or_start(linked).close()
        for name, home, place in (("t1", linked, repo.path), ("t2", real, tmp_path / "private/repo")):
            Session("s", home, place).bash(name, f"echo {name} > app.py")
        with connect(real) as watcher:
            entries = watcher.ask("log", cwd=str(repo.path), here=True, outside=True)
            assert len(watcher.ask("status")["work_trees"]) == 1
        assert [entry["paths"] for entry in entries] == [["app.py"], ["app.py"]]
    finally:
        stop(linked)
