"""What the watcher watches, in words."""

from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.hooks.program import (
    HOOK_PROGRAM,
    find_chorus_program,
    find_plugin_directory,
    render_hook_groups,
)
from chorus.agents.claude_code.settings.files import install_hooks, locate_settings
from chorus.agents.interface import SettingsScope
from chorus.commands.attach import SEES_NEW_SETTINGS, is_older
from chorus.commands.doctor import check_hooks, check_sessions
from chorus.commands.status import render
from chorus.store.repository import Repository
from tests.repos import UserRepo


def session(name: str, state: str, *sources: str) -> dict[str, Any]:
    return {"id": name * 8, "state": state, "pane": None, "title": f"job {name}", "sources": list(sources)}


STATUS: Any = {
    "watcher": {"pid": 7, "version": "1", "protocol": 1, "repository": "/r", "since": "now"},
    "open": 2,
    "prompts": 0,
    "problems": ["inotify watch limit reached: changes are found by scanning"],
    "sessions": [session("a", "idle", "transcript"), session("b", "gone", "hook")],
}


def test_sessions_that_have_ended_are_counted_and_listed_on_request() -> None:
    short, whole = render(STATUS, ended=False), render(STATUS, ended=True)
    assert "job a" in short
    assert "job b" not in short
    assert "1 ended" in short
    assert "job b" in whole
    assert "ended" not in whole


def test_a_watch_that_cannot_be_had_is_a_problem_that_is_named() -> None:
    assert "problem: inotify watch limit reached" in render(STATUS, ended=False)


def test_a_session_without_hooks_is_named_with_the_way_to_lend_some() -> None:
    check = check_sessions(STATUS)
    assert check.ok
    assert "aaaaaaaa" in check.detail
    assert "bbbbbbbb" not in check.detail
    assert "attach --hooks" in check.detail


def test_one_of_a_thing_is_not_spoken_of_as_several() -> None:
    assert render(STATUS | {"open": 1, "prompts": 1}, ended=False).splitlines()[-2] == (
        "1 action to review, 1 prompt waiting"
    )
    assert "0 actions to review, 2 prompts waiting" in render(STATUS | {"open": 0, "prompts": 2}, ended=False)


def test_hooks_that_were_lent_and_not_heard_yet_are_not_asked_for_again() -> None:
    check = check_sessions(STATUS, lent=True)
    assert "aaaaaaaa have told nothing yet" in check.detail
    assert "attach --hooks" not in check.detail


def test_hooks_lent_for_a_while_are_told_from_those_a_person_installed(
    repo: UserRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.path)
    settings = locate_settings(SettingsScope.LOCAL, {}, repo.path)
    install_hooks(
        settings,
        render_hook_groups(find_plugin_directory() / HOOK_PROGRAM, find_chorus_program()),
        backups=tmp_path,
    )
    repository = Repository.open(repo.path)
    assert check_hooks(repository).detail == "installed in local settings"
    assert check_hooks(repository, {str(settings)}).detail.endswith(
        "local (lent while a client runs) settings"
    )


@pytest.mark.parametrize(
    ("version", "older"),
    [("2.1.191", True), ("2.1.257", False), ("2.1.325", False), ("3.0", False), ("2.1.x", False)],
)
def test_a_client_that_may_not_see_hooks_in_a_new_directory_is_known_by_its_version(
    version: str, older: bool
) -> None:
    assert is_older(version, SEES_NEW_SETTINGS) is older
