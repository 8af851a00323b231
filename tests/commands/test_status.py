"""What the watcher is watching, in words, and the suggested next step."""

from pathlib import Path

import pytest

from chorus.agents import load_agent
from chorus.agents.claude_code.hooks.program import (
    HOOK_PROGRAM,
    find_chorus_program,
    find_plugin_directory,
    render_hook_groups,
)
from chorus.agents.claude_code.settings.files import install_hooks, locate_settings
from chorus.agents.interface import SettingsScope
from chorus.commands.doctor import check_hooks, check_sessions
from chorus.commands.status import count_prompts, render, suggest_next
from chorus.model.api.json_api import PromptJson, SessionJson, SessionState, StatusJson
from chorus.store.repository import Repository
from tests.repos import UserRepo


def session(name: str, state: SessionState, *sources: str) -> SessionJson:
    return {
        "id": name * 8,
        "state": state,
        "cwd": "/r",
        "title": f"job {name}",
        "transcript": None,
        "pane": None,
        "server": None,
        "client": None,
        "parent": None,
        "sources": list(sources),
        "since": "now",
        "last": "now",
    }


STATUS: StatusJson = {
    "watcher": {"pid": 7, "version": "1.0", "protocol": 1, "repository": "/r", "since": "now"},
    "ok": False,
    "work_trees": ["/r"],
    "lanes": 1,
    "open": 2,
    "prompts": 0,
    "problems": ["inotify watch limit reached: changes are found by scanning"],
    "sessions": [session("a", "idle", "transcript"), session("b", "gone", "hook")],
}


def prompt(session: str | None) -> PromptJson:
    return {
        "id": "p1",
        "session": session,
        "pane": None,
        "kind": "bash",
        "tool": None,
        "title": "",
        "question": "",
        "options": [],
        "fingerprint": "",
        "since": None,
    }


def test_only_the_prompts_of_sessions_in_another_work_tree_are_left_out() -> None:
    own, other, unplaced = session("a", "idle"), session("b", "idle"), session("c", "idle")
    own["worktree"], other["worktree"], unplaced["worktree"] = "main", "feature", None
    sessions = [own, other, unplaced]
    pending = [*(prompt(one["id"]) for one in sessions), prompt(None), prompt("never seen")]
    assert count_prompts(pending, sessions, "main") == 4
    assert count_prompts(pending, sessions, "feature") == 4
    assert count_prompts([prompt(other["id"])], sessions, "main") == 0


def test_ended_sessions_are_counted_and_listed_with_all() -> None:
    short, whole = "\n".join(render(STATUS, ended=False)), "\n".join(render(STATUS, ended=True))
    assert "job a" in short
    assert "job b" not in short
    assert "1 ended" in short
    assert "job b" in whole
    assert "ended    bbbbbbbb" in whole
    assert "1 ended" not in whole


def test_a_failing_file_watch_is_shown_as_a_problem() -> None:
    assert render(STATUS, ended=False)[-1].startswith("problem: inotify watch limit reached")


def test_a_session_without_hooks_is_named_with_the_command_that_adds_them() -> None:
    check = check_sessions(STATUS)
    assert check.ok
    assert "aaaaaaaa" in check.detail
    assert "bbbbbbbb" not in check.detail
    assert "attach --hooks" in check.detail


def test_what_a_headless_client_can_use_is_shown() -> None:
    known: SessionJson = {
        **session("a", "idle", "stream"),
        "commands": ["compact"],
        "models": ["opus", "haiku"],
        "account": {"email": "ada@example.com", "apiKeySource": "none", "tokenSource": "x"},
    }
    lines = render({**STATUS, "sessions": [known]}, ended=False)
    assert "           account ada@example.com · models opus, haiku · 1 command" in lines
    unknown: SessionJson = {**known, "commands": [], "models": [], "account": {}}
    assert len(render({**STATUS, "sessions": [unknown]}, ended=False)) == len(lines) - 1


def test_counts_use_singular_and_plural() -> None:
    assert render({**STATUS, "open": 1, "prompts": 1}, ended=False)[-2] == ("1 open action, 1 prompt waiting")
    assert "0 open actions, 2 prompts waiting" in render(STATUS | {"open": 0, "prompts": 2}, ended=False)


def test_lent_hooks_that_have_not_run_yet_are_not_suggested_again() -> None:
    check = check_sessions(STATUS, temporary=True)
    assert "aaaaaaaa have not run yet" in check.detail
    assert "attach --hooks" not in check.detail


def test_lent_hooks_are_distinguished_from_installed_ones(
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
    assert check_hooks(repository).detail == "installed in these settings: local"
    assert check_hooks(repository, {str(settings)}).detail.endswith(
        "installed in these settings: local (added while a client is running)"
    )
    settings.write_text(settings.read_text().replace("PostToolUse", "AnotherEvent"))
    assert check_hooks(repository).detail == (
        "installed in these settings: local (out of date: run `chorus hooks install --local` again)"
    )


@pytest.mark.parametrize(
    ("version", "older"),
    [("2.1.191", True), ("2.1.257", False), ("2.1.325", False), ("3.0", False), ("2.1.x", False)],
)
def test_an_older_client_that_ignores_a_new_settings_directory_is_recognized(
    version: str, older: bool
) -> None:
    assert load_agent().setup.reads_new_settings(version) is not older


NO_WATCHER: StatusJson = {**STATUS, "watcher": None, "sessions": [], "open": 0, "problems": []}
QUIET: StatusJson = {**STATUS, "open": 0, "problems": []}


@pytest.mark.parametrize(
    ("status", "used", "commands"),
    [
        (NO_WATCHER, False, ["chorus claude", "chorus attach", "chorus demo"]),
        (NO_WATCHER, True, ["chorus claude", "chorus attach", "chorus log"]),
        (QUIET, True, ["chorus panel"]),
        ({**QUIET, "prompts": 1}, True, ["chorus prompts"]),
        ({**QUIET, "open": 2}, True, ["chorus panel", "chorus log --open"]),
        ({**QUIET, "problems": ["x"]}, True, ["chorus doctor"]),
        ({**QUIET, "sessions": []}, True, ["chorus claude", "chorus attach"]),
        (
            {**STATUS, "prompts": 1, "sessions": []},
            True,
            [
                "chorus doctor", "chorus prompts", "chorus panel", "chorus log --open", "chorus claude",
                "chorus attach",
            ],
        ),
    ],
)  # fmt: skip
def test_the_next_step_fits_the_status(status: StatusJson, used: bool, commands: list[str]) -> None:
    first, *lines, last = suggest_next(status, used=used)
    assert (first, last) == ("next:", "")
    assert [line.strip().split("  ")[0] for line in lines] == commands
