"""`chorus doctor`."""

import os
import platform
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from chorus.commands.doctor import check_coverage, check_sessions
from chorus.history.recorder import Recorder
from tests.commands.conftest import Shell
from tests.history.agent_at_work import action
from tests.repos import UserRepo


def checks(chorus: Shell, *options: str, first: Path | None = None) -> dict[str, dict[str, object]]:
    """Return the checks by name. `first` is searched for programs before PATH."""
    path = os.environ["PATH"] if first is None else f"{first}{os.pathsep}{os.environ['PATH']}"
    found = chorus("doctor", "--json", *options, PATH=path).json()
    assert set(found) >= {"ok", "checks"}
    assert all(set(check) == {"name", "ok", "detail", "fix"} for check in found["checks"])
    return {check["name"]: check for check in found["checks"]}


def test_deep_checks_pass_in_a_healthy_repository(worked: UserRepo, chorus: Shell) -> None:
    found = checks(chorus, "--deep")
    assert all(
        found[name]["ok"] for name in ("git", "tmux", "repository", "watcher", "hooks", "history", "objects")
    )
    assert "every file that git does not ignore" in str(found["coverage"]["detail"])


def test_files_that_are_not_recorded_are_listed(repo: UserRepo) -> None:
    repo.write(".git/info/exclude", b"*.secret\n")
    with Recorder.open(repo.path) as recorder:
        recorder.start()
        repo.write("a.secret", b"x\n")
        repo.write("b.secret", b"x\n")
        repo.write("c.txt", b"x\n")
        recorder.record_named_paths([action("t1", repo.path / "a.secret")])
        recorder.record_named_paths([action("t2", repo.path / "b.secret", repo.path / "c.txt")])
        assert check_coverage(recorder).detail == (
            "not recorded: a.secret is ignored by git; b.secret is ignored by git"
        )


def test_doctor_changes_nothing_in_an_unused_repository(repo: UserRepo, chorus: Shell) -> None:
    before = repo.fingerprint()
    assert "history" not in checks(chorus, "--deep")
    assert repo.fingerprint() == before
    assert not (repo.git_dir / "chorus").exists()


def test_a_lane_changed_by_hand_is_detected(worked: UserRepo, chorus: Shell) -> None:
    (lane,) = chorus("lanes", "--json").json()
    worked.git("update-ref", str(lane["ref"]), f"{lane['tip']}~1")
    found = checks(chorus, "--deep")
    assert found["history"]["ok"] is False


def test_a_missing_object_is_reported_with_a_fix_that_works(worked: UserRepo, chorus: Shell) -> None:
    oid = str(chorus("show", "1", "--json").json()["timeline"])
    (worked.git_dir / "chorus" / "objects" / oid[:2] / oid[2:]).unlink()
    found = checks(chorus, "--deep")
    assert (found["history"]["ok"], found["objects"]["ok"]) == (False, False)
    assert oid in str(found["history"]["detail"])
    fix = str(found["history"]["fix"])
    Path(fix.split("remove `")[1].split("`", maxsplit=1)[0]).unlink()
    assert "history" in checks(chorus, "--deep")
    assert chorus("log").code == 3


def test_a_file_in_place_of_choruss_directory_is_a_problem_with_a_fix(repo: UserRepo, chorus: Shell) -> None:
    in_the_way = repo.git_dir / "chorus"
    in_the_way.write_text("somebody else's")
    watcher = checks(chorus)["watcher"]
    in_the_way.unlink()
    assert watcher["ok"] is False
    assert "Not a directory" in str(watcher["detail"])
    assert "move it away" in str(watcher["fix"])


def test_a_running_watcher_and_its_version_are_named(worked: UserRepo, chorus: Shell) -> None:
    chorus("keep", "1")
    detail = str(checks(chorus)["watcher"]["detail"])
    assert "process" in detail


def test_settings_that_do_not_parse_are_reported(repo: UserRepo, chorus: Shell) -> None:
    repo.write(".claude/settings.local.json", b"{ // not json")
    hooks = checks(chorus)["hooks"]
    assert hooks["ok"] is False
    assert "settings.local.json" in str(hooks["detail"])


def test_outside_a_repository_doctor_reports_it(chorus: Shell, tmp_path: Path) -> None:
    done = chorus("doctor", cwd=tmp_path)
    assert done.code == 4
    assert "bad  repository" in done.out


def test_a_tmux_that_is_too_old_is_reported(repo: UserRepo, chorus: Shell, tmp_path: Path) -> None:
    put_program(tmp_path / "tmux", "#!/bin/sh\necho tmux 3.1c\n")
    tmux = checks(chorus, first=tmp_path)["tmux"]
    assert (tmux["ok"], tmux["detail"]) == (False, "tmux 3.1c")
    assert "3.2 or newer" in str(tmux["fix"])


def test_a_program_that_cannot_be_started_is_reported(repo: UserRepo, chorus: Shell, tmp_path: Path) -> None:
    put_program(tmp_path / "claude", "\x7fELF for another machine")
    client = checks(chorus, first=tmp_path)["client"]
    assert (client["ok"], client["detail"]) == (False, "claude cannot be started: Exec format error")


def put_program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def test_python_git_and_the_disk_are_named(repo: UserRepo, chorus: Shell) -> None:
    found = checks(chorus)
    assert str(found["python"]["detail"]).startswith(f"Python {platform.python_version()} on ")
    assert found["disk"]["ok"]


@pytest.mark.parametrize(
    ("version", "ok"), [("2.33.8", False), ("2.34.1", True), ("2.100.0", True), ("3.0.rc1", True)]
)
def test_a_git_that_is_too_old_is_named(
    repo: UserRepo, chorus: Shell, tmp_path: Path, version: str, ok: bool
) -> None:
    (tmp_path / "old").mkdir()
    git = tmp_path / "old/git"
    real = which("git")
    git.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec echo git version {version}\nexec {real} "$@"\n')
    git.chmod(0o755)
    check = checks(chorus, first=git.parent)["git"]
    assert check["ok"] is ok
    assert version in str(check["detail"])
    assert ok or "2.34" in str(check["fix"])


def test_a_work_tree_that_is_polled_and_names_without_case_are_said(repo: UserRepo, chorus: Shell) -> None:
    repo.git("config", "chorus.fileWatch", "poll")
    repo.git("config", "core.ignoreCase", "true")
    detail = str(checks(chorus)["disk"]["detail"])
    assert "found by scanning" in detail
    assert "not case-sensitive" in detail


def test_a_session_in_no_pane_is_listed_with_what_it_lacks() -> None:
    session: Any = {"id": "0123456789", "state": "working", "sources": ["hook"], "pane": None}
    status: Any = {"sessions": [session, {**session, "id": "other-session", "pane": "%1"}]}
    detail = check_sessions(status).detail
    assert (
        "No tmux pane for 01234567: Chorus sees only the prompts that the hook or the mod reports" in detail
    )
    assert "other-se" in detail.partition("No tmux pane for")[0]
