"""What is said, and left alone, where a session cannot be started or watched."""

from pathlib import Path

import pytest

from tests.commands.conftest import Shell
from tests.repos import UserRepo


@pytest.mark.parametrize("words", [["claude", "--client", "/bin/true"], ["attach", "%0"], ["run", "hello"]])
def test_a_repository_that_cannot_be_recorded_is_refused_at_once(
    tmp_path: Path, chorus: Shell, words: list[str]
) -> None:
    place = tmp_path / "new"
    place.mkdir()
    UserRepo(place).git("init", "-q", "--object-format=sha256")

    said = chorus(*words, cwd=place)

    assert said.code == 4
    assert "sha256" in said.err
    assert "hint: " in said.err
    assert not (place / ".git/chorus").exists()


def test_a_session_is_not_started_where_nobody_could_see_it(chorus: Shell, tmp_path: Path) -> None:
    said = chorus("claude", "--client", "/bin/true", "-S", str(tmp_path / "socket"))

    assert said.code == 2
    assert "stdout is not a terminal" in said.err
    assert "chorus run" in said.err
    assert not (tmp_path / "socket").exists()
    assert not (chorus.repo.path / ".git/chorus").exists()
