import subprocess
from pathlib import Path

import pytest

from chorus.wire.home import NotARepository, find_home, find_work_tree


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, check=True, capture_output=True)


def test_the_home_is_found_from_any_directory_below(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "a/b").mkdir(parents=True)
    assert find_home(tmp_path / "a/b").common_dir == tmp_path / ".git"


def test_a_linked_work_tree_shares_its_repositorys_home(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init")
    git(main, "commit", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "../linked")
    assert find_home(tmp_path / "linked").common_dir == main / ".git"


def test_outside_a_repository_the_error_names_the_place(tmp_path: Path) -> None:
    with pytest.raises(NotARepository, match=str(tmp_path)):
        find_home(tmp_path)


@pytest.mark.parametrize("odd", ["a\0b", "x" * 5000, "\ud800"])
def test_a_directory_that_cannot_be_read_is_in_no_repository(tmp_path: Path, odd: str) -> None:
    # Python 3.14 takes what it cannot look at for nothing.
    with pytest.raises(NotARepository, match=r"cannot read|is not inside a git work tree"):
        find_work_tree(tmp_path / odd)
