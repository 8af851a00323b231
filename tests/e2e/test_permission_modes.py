"""The same work in each permission mode: what is recorded does not depend on what was asked."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.e2e.asked_session import answer_prompt, next_prompt, send_script
from tests.e2e.scenarios import bash, edit, write
from tests.e2e.watched_session import WatchedSession, expect_actions, run_git
from tests.lab.script import Text

pytestmark = pytest.mark.client

LINES = "".join(f"l{number}\n" for number in range(1, 11))
MINE = LINES.replace("l2\n", "my 2\n").replace("l4\n", "my 4\n").replace("l9\n", "my 9\n")
TURNS: Sequence[Sequence[Any]] = [
    # Between two lines of the user; then its own next line, in the same message as a command.
    [edit("a.txt", "l3\n", "E3\n")],
    [bash("sed -i 's/^l5$/B5/' {p}/a.txt"), edit("a.txt", "l6\n", "E6\n")],
    [write("new.txt", "new\n"), edit("new.txt", "new", "newer")],
    [Text("All done.")],
]
ASKED = {"default": 5, "acceptEdits": 1, "bypassPermissions": 0}
EXPECTED = [
    ("Edit", ["-l3", "+E3"]),
    ("Bash", ["-l5", "+B5"]),
    ("Edit", ["-l6", "+E6"]),
    ("Write", ["+new"]),
    ("Edit", ["-new", "+newer"]),
]


@pytest.mark.parametrize("mode", ASKED)
@pytest.mark.parametrize("way", ["modded", "hooked"])
def test_the_same_is_recorded_landed_and_reverted(watched: WatchedSession, way: str, mode: str) -> None:
    work_and_check(watched, way, mode)


@pytest.mark.parametrize("way", ["modded", "hooked"])
def test_nothing_of_it_depends_on_a_file_watch(watched: WatchedSession, way: str) -> None:
    """As on a network mount: nothing shows which files a command wrote."""
    run_git(watched.project, "config", "chorus.fileWatch", "poll")
    work_and_check(watched, way, "default")


def work_and_check(watched: WatchedSession, way: str, mode: str) -> None:
    a = watched.project / "a.txt"
    a.write_text(LINES)
    run_git(watched.project, "add", "a.txt")
    run_git(watched.project, "commit", "-qm", "Lines")
    a.write_text(MINE)
    start = {"modded": watched.start_modded, "hooked": watched.start_hooked}[way]
    start("--permission-mode", mode)
    send_script(watched, "work", TURNS)
    answered: Mapping[str, Any] = {"id": ""}
    for _ in range(ASKED[mode]):
        answered = next_prompt(watched, but=answered["id"])
        answer_prompt(watched, "approve", answered)
    watched.wait_for_answer("All done.")
    expect_actions(watched, EXPECTED)
    entries = watched.actions()

    lane = entries[0]["lane"]
    theirs = LINES.replace("l3\n", "E3\n").replace("l5\n", "B5\n").replace("l6\n", "E6\n")
    assert run_git(watched.project, "show", f"{lane}:a.txt").stdout == theirs
    watched.chorus("revert", str(entries[1]["n"]))
    on_disk = MINE.replace("l3\n", "E3\n").replace("l6\n", "E6\n")
    assert a.read_text() == on_disk
    watched.chorus("land", lane)
    assert run_git(watched.project, "show", "HEAD:a.txt").stdout == theirs.replace("B5\n", "l5\n")
    assert run_git(watched.project, "show", "HEAD:new.txt").stdout == "newer\n"
    assert a.read_text() == on_disk
