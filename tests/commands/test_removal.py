"""Chorus used and removed again: repository and settings are as before, byte for byte."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.history.recorder import Recorder
from chorus.wire.registry import registry_directory
from tests.commands.conftest import ROOT, Shell
from tests.history.agent_at_work import bash
from tests.repos import UserRepo, snapshot
from tests.waiting import wait_for

# Written by hand: another indentation, a line end of its own, no newline at the end.
SETTINGS = (
    b'{\r\n   "theme":"dark",  "hooks": { "Stop": [ {"hooks":[{"type":"command","command":"true"}]} ] }\r\n}'
)
EDIT = {"file_path": "{cwd}/app.py", "old_string": "x = 1", "new_string": "x = 2"}
SCRIPT = {
    "scripts": {
        "go": [
            [{"tool": "Edit", "input": EDIT}],
            [{"tool": "Bash", "input": {"command": "echo new > made.txt", "description": "Make it"}}],
            [{"say": "Done."}],
        ]
    }
}


def play_session(repo: UserRepo, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    command = [sys.executable, "-m", "tests.client_double", "-p", "go", "--script", str(script), "--verbose"]
    command += ["--output-format", "stream-json", "--dangerously-skip-permissions"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=repo.path, env=environment, check=True, capture_output=True, timeout=120)


def state_of(place: Path) -> tuple[dict[str, tuple[int, bytes]], set[str]]:
    """Modes and bytes of all files, and the directories. git gives an object it finds again a new date."""
    files = {name: (state[0], state[2]) for name, state in snapshot(place).items()}
    return files, {str(path.relative_to(place)) for path in place.rglob("*") if path.is_dir()}


@pytest.mark.parametrize("given", [SETTINGS, None], ids=["settings of one's own", "no settings"])
def test_removing_chorus_leaves_nothing_behind(
    given: bytes | None, repo: UserRepo, chorus: Shell, sealed_environment: Path, tmp_path: Path
) -> None:
    claude = sealed_environment / ".claude"
    claude.mkdir()
    if given is not None:
        (claude / "settings.json").write_bytes(given)
    before, settings_before = state_of(repo.path / ".git"), state_of(claude)
    own = (repo.path / "app.py").read_bytes()
    assert chorus("hooks", "install").code == 0
    assert chorus("hooks", "wake", str(repo.path / ".git")).code == 0
    wait_for(lambda: chorus("status").code == 0, what="a watcher that answers", seconds=60)
    play_session(repo, tmp_path)
    wait_for(lambda: len(chorus("log", "--json").json()) == 2, what="both actions", seconds=60)
    assert chorus("revert", "1").code == 0
    assert chorus("gc").code == 0

    assert chorus("hooks", "uninstall").code == 0
    assert chorus("drop", "--all").code == 0
    assert list(registry_directory().iterdir())
    assert chorus("gc", "--all").code == 0
    assert list(registry_directory().iterdir()) == []

    files, directories = state_of(repo.path / ".git")
    assert {n for n in files.keys() | before[0].keys() if files.get(n) != before[0].get(n)} == set()
    assert directories ^ before[1] == set()
    files, _ = state_of(claude)
    assert {name: state for name, state in files.items() if "settings" in name} == settings_before[0]
    assert (repo.path / "app.py").read_bytes() == own
    assert repo.fsck() == ""


def test_refs_left_after_the_store_was_deleted_are_reported_and_removed(
    repo: UserRepo, chorus: Shell
) -> None:
    before, own = repo.git("for-each-ref"), (repo.path / "app.py").read_bytes()
    with Recorder.open(repo.path) as recorder:
        recorder.start()
        repo.write("made.txt", b"new\n")
        recorder.record_window(bash("t1"))
    shutil.rmtree(repo.path / ".git/chorus")
    assert chorus("gc").code == 4
    checks = {check["name"]: check for check in chorus("doctor", "--json").json()["checks"]}
    assert not checks["history"]["ok"]
    assert "`chorus gc --all`" in checks["history"]["fix"]

    assert chorus("gc", "--all").code == 0
    assert (repo.git("for-each-ref"), (repo.path / "app.py").read_bytes()) == (before, own)
    assert repo.fsck() == ""
    assert chorus("gc", "--all").code == 3


def test_a_fetched_lane_is_a_plain_branch(repo: UserRepo, chorus: Shell) -> None:
    repo.git("branch", "chorus/fetched", "HEAD")

    for words in (["gc"], ["gc", "--all"]):
        assert chorus(*words).code == 3
    assert repo.git("rev-parse", "chorus/fetched") == repo.git("rev-parse", "HEAD")


def test_a_lane_that_is_complete_without_the_store_survives_its_removal(
    repo: UserRepo, chorus: Shell
) -> None:
    with Recorder.open(repo.path) as recorder:
        recorder.start()
        repo.write("made.txt", b"new\n")
        recorder.record_window(bash("t1"))
    repo.git("branch", "chorus/whole", "HEAD")
    shutil.rmtree(repo.path / ".git/chorus")

    assert chorus("gc", "--all").code == 0
    assert repo.git("for-each-ref", "--format=%(refname)", "refs/chorus", "refs/heads/chorus") == (
        "refs/heads/chorus/whole\n"
    )
    assert repo.git("rev-parse", "chorus/whole") == repo.git("rev-parse", "HEAD")
    assert repo.fsck() == ""
