"""Timelines of other versions of Chorus: older ones are read and continued, unknown ones refused."""

from pathlib import Path

import pytest

from chorus.errors import ExitCode
from chorus.history.recorder import Recorder
from chorus.model.commits.commit_message import FORMAT
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.commands.conftest import Shell
from tests.history.agent_at_work import Agent
from tests.history.stored_timelines import STORED, unpack
from tests.repos import snapshot

ARCHIVES = sorted(STORED.glob("format-*.tar.gz"))
TIMELINE = "refs/chorus/timeline/main"


def test_there_is_a_stored_timeline_of_the_current_format() -> None:
    assert f"format-{FORMAT}.tar.gz" in [archive.name for archive in ARCHIVES]


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_a_stored_timeline_is_read_and_continued(archive: Path, tmp_path: Path) -> None:
    repo = unpack(archive, tmp_path)
    chorus = Shell(repo)
    entries = {entry["n"]: entry for entry in chorus("log", "--json").json()}
    assert [entries[n]["paths"] for n in (1, 2, 3)] == [["app.py"], ["new.txt"], ["run.sh"]]
    assert "+x = 9" in chorus("show", "1", "--json").json()["patch"]

    with Recorder.open(repo.path) as recorder:
        Agent(repo, recorder, session="session-b").edit("later.txt", b"later\n")
    done = chorus("revert", "1")
    stop(find_home(repo.path))

    assert done.code == 0, done.err
    assert b"x = 9" not in (repo.path / "app.py").read_bytes()
    assert {"later.txt"} in [set(entry["paths"]) for entry in chorus("log", "--json").json()]
    assert repo.fsck() == ""


def test_an_unknown_format_is_refused_and_not_changed(tmp_path: Path) -> None:
    repo = unpack(STORED / f"format-{FORMAT}.tar.gz", tmp_path)
    message = repo.git("log", "-1", "--format=%B", TIMELINE).replace(
        f"Chorus-Format: {FORMAT}", "Chorus-Format: 99"
    )
    changed = repo.git(
        "commit-tree", "-p", f"{TIMELINE}^", f"{TIMELINE}^{{tree}}", stdin=message.encode()
    ).strip()
    repo.git("update-ref", TIMELINE, changed)
    before = snapshot(repo.path)

    done = Shell(repo)("log")

    assert done.code == ExitCode.SYSTEM_ERROR
    assert "format 99" in done.err
    assert "hint: " in done.err
    after = snapshot(repo.path)
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} <= {
        ".git/chorus/recording.lock"
    }
