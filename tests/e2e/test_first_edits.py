"""The real client edits at once after its start, in a large repository that was never watched."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.e2e.scenarios import bash, edit
from tests.e2e.watched_session import MODES, WatchedSession, expect_actions, run_git
from tests.lab.client import Client
from tests.lab.script import Text
from tests.lab.terminal import Terminal

pytestmark = pytest.mark.client

# `python -m tests.bench first_minute` plays them in larger ones too.
FILES = int(os.environ.get("TEST_REPOSITORY_FILES", "5000"))
FILES_PER_DIRECTORY = 200
EDITS = 9
OLD = "one\ntwo\nthree\n"


@pytest.fixture
def watched(client: Client, terminal: Terminal) -> Iterator[WatchedSession]:
    for number in range(FILES):
        directory = client.project / f"d{number // FILES_PER_DIRECTORY}"
        if number % FILES_PER_DIRECTORY == 0:
            directory.mkdir()
        (directory / f"f{number}.txt").write_text(OLD)
    run_git(client.project, "add", ".")
    run_git(client.project, "commit", "-qm", "Many files")
    yield WatchedSession(client, terminal)
    stop(find_home(client.project))


@pytest.mark.parametrize("mode", ["modded", "hooked", "headless"])
def test_each_of_the_first_edits_has_its_own_change(watched: WatchedSession, mode: str) -> None:
    """Of files that nobody had read before, of one file in turn, and of a command among them."""
    MODES[mode](watched)
    last = FILES - 1
    other = f"d{last // FILES_PER_DIRECTORY}/f{last}.txt"
    turns: list[list[Any]] = [[edit("d0/f0.txt", "one", "1"), edit("d0/f0.txt", "two", "2")]]
    turns += [
        [edit(f"d{number}/f{number * FILES_PER_DIRECTORY}.txt", "two", "2")] for number in range(1, EDITS)
    ]
    turns += [[bash(f"sed -i s/three/3/ {{p}}/{other}"), edit(other, "one", "1")], [Text("All done.")]]
    watched.play("begin", *turns)
    expected = [("Edit", ["-one", "+1"])]
    expected += [("Edit", ["-two", "+2"])] * EDITS
    expected += [("Bash", ["-three", "+3"]), ("Edit", ["-one", "+1"])]
    expect_actions(watched, expected)
    outside = [entry["paths"] for entry in watched.log("--outside") if entry["status"] == "outside"]
    # On a very busy machine the mod is silent for so long that Chorus adds hooks.
    assert [paths for paths in outside if paths != [".claude/settings.local.json"]] == []
