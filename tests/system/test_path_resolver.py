"""Paths that another process names, resolved: links, `/proc`, and a second name of the work tree."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.system.files.path_resolver import PathResolver


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "repo"
    (root / "src").mkdir(parents=True)
    (root / "secret").write_text("x", encoding="utf-8")
    return root


def resolve(root: Path, path: str, working: str = "") -> str | None:
    return PathResolver(str(root / working), str(root)).resolve(path)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("secret", "secret"),
        ("./src//../secret", "secret"),
        ("in/secret", "secret"),
        ("in/src/up/secret", "secret"),
        ("src/new/file", "src/new/file"),
        ("chain", "secret"),
        (".", ""),
        ("up/x", "src/x"),
    ],
)
def test_links_are_followed_as_the_system_does(root: Path, path: str, expected: str) -> None:
    (root / "in").symlink_to(".")
    (root / "up").symlink_to(root / "src")
    (root / "src" / "up").symlink_to("..")
    (root / "chain").symlink_to("chain2")
    (root / "chain2").symlink_to("src/up/secret")
    assert resolve(root, path) == str(root / expected) == str((root / path).resolve())


def test_a_relative_path_is_seen_from_the_working_directory(root: Path) -> None:
    assert resolve(root, "../secret", working="src") == str(root / "secret")
    assert resolve(root, "/etc/x", working="src") == "/etc/x"


@pytest.mark.parametrize("path", ["a\0b", "loop", "a/" * 3000, "/.vol/1/2", "/.nofollow/etc"])
def test_what_cannot_be_resolved_has_no_answer(root: Path, path: str) -> None:
    (root / "loop").symlink_to("loop")
    assert resolve(root, path) is None


def test_a_name_that_its_directory_does_not_list_has_no_answer(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk of Windows has `.git` under the name `GIT~1` as well."""
    (root / "GIT~1").mkdir()
    (root / "old~1").write_text("x", encoding="utf-8")
    monkeypatch.setattr(os, "listdir", lambda _: [".git", "old~1"])
    assert resolve(root, "GIT~1/config") is None
    assert resolve(root, "old~1") == str(root / "old~1")
    assert resolve(root, "new~1/x") == str(root / "new~1/x")


@pytest.mark.skipif(not Path("/proc/self").is_symlink(), reason="this system has no /proc")
@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/cwd/secret",
        "/proc/thread-self/cwd/secret",
        "/dev/fd/../cwd/secret",
        "/dev/stdin",
        "own/secret",
    ],
)
def test_a_link_of_each_process_has_no_answer(root: Path, path: str) -> None:
    (root / "own").symlink_to("/proc/self/cwd")
    assert resolve(root, path) is None
    assert resolve(root, f"/proc/{os.getpid()}/cwd/secret") is None
    assert resolve(root, "/proc/cpuinfo") == "/proc/cpuinfo"


def test_a_second_mount_of_the_work_tree_is_the_work_tree(root: Path, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    second = str(tmp_path.resolve() / "second")
    check = (
        "import sys; from chorus.system.files.path_resolver import PathResolver as P;"
        "p = P('/', sys.argv[1]); print(p.resolve(sys.argv[2] + '/src/x'), p.resolve(sys.argv[2]))"
    )
    script = 'mount --bind "$1" "$2" && exec "$3" -c "$4" "$1" "$2"'
    try:
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", script, "sh", str(root), second, sys.executable, check],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"nothing can be mounted here: {problem}")
    assert done.stdout.split() == [str(root / "src" / "x"), str(root)]
