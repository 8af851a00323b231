"""`chorus doctor`."""

import os
from pathlib import Path

from tests.commands.conftest import Shell
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
    worked.git(*fix.split("`git ")[1].split("`", maxsplit=1)[0].split())
    assert "history" in checks(chorus, "--deep")
    assert chorus("log").code == 3


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
