"""A repository in which Chorus was never used: no command leaves anything behind."""

import pytest

from chorus.cli import main
from chorus.errors import ExitCode
from tests.repos import UserRepo

WORDS = [
    "log", "lanes", "show 3", "diff 3", "status", "prompts", "revert 3", "revert --lane x", "redo 3",
    "keep 3", "keep --turn t", "land x", "drop x", "drop --all", "drop x --restore", "approve x",
    "deny x", "answer x y", "gc --all", "stop",
]  # fmt: skip


@pytest.mark.parametrize("words", WORDS)
def test_no_command_creates_anything_in_an_unused_repository(
    repo: UserRepo, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.path)
    before = repo.fingerprint()
    assert main(words.split()) == ExitCode.NOT_FOUND
    printed = capsys.readouterr()
    assert "chorus: " in printed.err or "no watcher" in printed.out
    assert not (repo.path / ".git" / "chorus").exists()
    assert repo.fingerprint() == before
