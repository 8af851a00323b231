"""`chorus hooks`, run as a command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.errors import ExitCode

ROOT = Path(__file__).parent.parent.parent


def chorus(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chorus", "hooks", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "proj" / ".git").mkdir(parents=True)
    return tmp_path / "proj"


def states(cwd: Path) -> dict[str, str]:
    return {entry["scope"]: entry["state"] for entry in json.loads(chorus(cwd, "status", "--json").stdout)}


def test_hooks_are_installed_for_the_user_by_default(project: Path, sealed_environment: Path) -> None:
    done = chorus(project, "install")

    assert (done.returncode, done.stderr) == (0, "")
    assert str(sealed_environment / ".claude/settings.json") in done.stdout
    assert states(project) == {"user": "installed", "project": "not installed", "local": "not installed"}
    assert chorus(project, "uninstall").returncode == 0
    assert not (sealed_environment / ".claude").exists()


def test_hooks_for_one_repository_go_into_its_local_settings_from_anywhere_inside(project: Path) -> None:
    below = project / "a" / "b"
    below.mkdir(parents=True)

    answer = json.loads(chorus(below, "install", "--local", "--json").stdout)

    assert answer == {"path": str(project / ".claude/settings.local.json"), "changed": True, "backup": None}
    assert states(below)["local"] == "installed"
    assert "nothing to do" in chorus(project, "install", "--local").stdout


def test_a_backup_of_the_settings_file_is_made_and_named(project: Path) -> None:
    settings = project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "opus"}')

    backup = json.loads(chorus(project, "install", "--project", "--json").stdout)["backup"]

    assert Path(backup).read_text() == '{"model": "opus"}'
    assert "the previous version" in chorus(project, "uninstall", "--project").stderr
    assert settings.read_text() == '{"model": "opus"}'


def test_hooks_of_another_version_are_shown_with_the_command_that_renews_them(project: Path) -> None:
    chorus(project, "install", "--project")
    settings = project / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("PostToolUse", "AnotherEvent"))
    assert states(project)["project"] == "out of date"
    assert chorus(project, "status").stderr == "  run `chorus hooks install --project` again\n"
    chorus(project, "install", "--project")
    assert states(project)["project"] == "installed"


def test_a_settings_file_that_does_not_parse_is_reported_and_not_changed(project: Path) -> None:
    settings = project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("// mine\n{}")

    done = chorus(project, "install", "--project")

    assert done.returncode == ExitCode.SYSTEM_ERROR
    assert "not JSON" in done.stderr
    assert str(settings) in done.stderr
    assert "hint:" in done.stderr
    assert settings.read_text() == "// mine\n{}"
    assert states(project)["project"] == "unreadable"


def test_outside_a_repository_only_the_users_settings_exist(tmp_path: Path) -> None:
    assert states(tmp_path) == {"user": "not installed"}
    assert "not in a git repository" in chorus(tmp_path, "install", "--local").stderr
