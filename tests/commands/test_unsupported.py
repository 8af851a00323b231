"""Refusals before a session is started or watched."""

from pathlib import Path

import pytest

from tests.commands.conftest import Shell
from tests.repos import UserRepo


@pytest.mark.parametrize("words", [["claude", "--client", "/bin/sh"], ["attach", "%0"], ["run", "hello"]])
def test_an_unsupported_repository_is_refused_before_anything_starts(
    tmp_path: Path, chorus: Shell, words: list[str]
) -> None:
    place = tmp_path / "new"
    place.mkdir()
    UserRepo(place).git("init", "-q", "--object-format=sha256")

    result = chorus(*words, cwd=place)

    assert result.code == 4
    assert "sha256" in result.err
    assert "hint: " in result.err
    assert not (place / ".git/chorus").exists()


def test_no_session_is_started_without_a_terminal(chorus: Shell, tmp_path: Path) -> None:
    result = chorus("claude", "--client", "/bin/sh", "-S", str(tmp_path / "socket"))

    assert result.code == 2
    assert "stdout is not a terminal" in result.err
    assert "chorus run" in result.err
    assert not (tmp_path / "socket").exists()
    assert not (chorus.repo.path / ".git/chorus").exists()
