"""The registry names the user's repositories; nobody else can put one in."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from chorus.wire.home import Home
from chorus.wire.registry import UnsafeRegistry, forget, list_registered, register, registry_directory


def make_home(directory: Path) -> Home:
    home = Home(directory / ".git")
    home.root.mkdir(parents=True)
    return home


def test_registered_repositories_are_listed_once_each_by_path(tmp_path: Path) -> None:
    homes = [make_home(tmp_path / name) for name in ("b", "a", "with \n newline", os.fsdecode(b"\xff"))]
    for home in [*homes, homes[0]]:
        register(home)
    assert list_registered() == sorted(homes, key=lambda home: home.common_dir)


def test_without_a_registry_nothing_is_listed() -> None:
    assert list_registered() == []


def test_a_removed_repository_is_forgotten(tmp_path: Path) -> None:
    gone, kept = make_home(tmp_path / "gone"), make_home(tmp_path / "kept")
    register(gone)
    register(kept)
    shutil.rmtree(tmp_path / "gone")
    assert list_registered() == [kept]
    assert len(list(registry_directory().iterdir())) == 1


def test_a_repository_can_be_forgotten_more_than_once(tmp_path: Path) -> None:
    home = make_home(tmp_path / "r")
    register(home)
    forget(home)
    forget(home)
    assert list(registry_directory().iterdir()) == []


def test_directory_and_files_are_the_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    old = os.umask(0)
    try:
        register(make_home(tmp_path / "repo"))
    finally:
        os.umask(old)
    directory = tmp_path / "state" / "chorus" / "watchers"
    (file,) = directory.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (directory, file)] == [0o700, 0o600]


def test_a_registry_that_others_can_write_is_not_read(tmp_path: Path) -> None:
    register(make_home(tmp_path / "repo"))
    registry_directory().chmod(0o777)
    with pytest.raises(UnsafeRegistry, match="another user"):
        list_registered()
    register(make_home(tmp_path / "other"))  # a watcher that starts takes it back from others
    assert len(list_registered()) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to act as another user")
def test_files_and_directories_of_another_user_are_not_read(tmp_path: Path) -> None:
    nobody = 65534
    homes = [make_home(tmp_path / name) for name in ("a", "b")]
    for home in homes:
        register(home)
    first = sorted(registry_directory().iterdir())[0]
    os.chown(first, nobody, nobody)
    assert len(list_registered()) == 1
    os.chown(registry_directory(), nobody, nobody)
    with pytest.raises(UnsafeRegistry):
        list_registered()


def test_files_that_are_not_of_the_registry_are_left_out(tmp_path: Path) -> None:
    home = make_home(tmp_path / "repo")
    register(home)
    directory = registry_directory()
    (file,) = directory.iterdir()
    (directory / "named-otherwise").write_bytes(file.read_bytes())
    (directory / "relative").write_bytes(b"repo/.git")
    (directory / "link").symlink_to(file)
    (directory / "directory").mkdir()
    os.mkfifo(directory / "pipe")
    assert list_registered() == [home]
